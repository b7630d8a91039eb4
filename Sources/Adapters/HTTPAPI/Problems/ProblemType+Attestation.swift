import Administration
import HTTPTypes
import Notifications

extension ProblemType {
    /// What App Attest says of who asks.
    static let attestation = [
        attestationRequired, attestationInvalid, attestationRefused, counterNotGreater, instanceOfOtherKey,
        tooManyInstances, monitoredTooLittle, attestationNotConfigured,
    ]

    static let attestationRequired = ProblemType(
        "attestation_required", .forbidden, title: "The request must be attested",
        cause: """
            The App Clip that the URL launches asks for requests of its genuine build: with a token in \
            `Doorstep-Attestation`, or, as `detail` says, signed by itself in `Doorstep-Assertion`.
            """,
        remedy: """
            Attest a key by `POST /v1/attestation/keys`, or ask for a token by \
            `POST /v1/attestation/tokens`, and send the request again with it. `doorstep clip attest` \
            changes what the clip asks for.
            """)
    static let attestationInvalid = ProblemType(
        "attestation_invalid", .forbidden, title: "What attests the request does not hold",
        cause: """
            The token or the signature is expired, of another app or environment, or not what was given \
            or signed. Which of these is counted in the server's metrics and not told.
            """,
        remedy: """
            Ask for a new token, or sign the request anew, exactly as it is sent. Where that fails too, \
            attest a new key.
            """)
    static let attestationRefused = ProblemType(
        "attestation_refused", .forbidden, title: "The attestation is not accepted",
        cause: """
            What App Attest gave could not be verified for this App Clip, the challenge is too old or \
            of another clip, the key is not known, or the clip asks for no attestation.
            """,
        remedy: """
            Begin again with a new challenge; where the key itself is refused, with a new key. Team, App ID \
            prefix and environments of the clip are shown by `doorstep clip show`.
            """)
    static let counterNotGreater = ProblemType(
        "counter_not_greater", .conflict, title: "The assertion was used before",
        cause: """
            Each assertion of a key counts one further, and is good once: this one, or one that was made \
            after it, was taken already.
            """,
        remedy: "Sign the request anew, and let one be answered before the next is signed.")
    static let instanceOfOtherKey = ProblemType(
        "instance_of_other_key", .conflict, title: "The instance is another key's",
        cause: """
            The App Clip asks for attested instances, and this one was registered by another key of App Attest: \
            the app was restored on another device, say, where its container is and its key is not.
            """,
        remedy: "Take a new instance ID and register the launch by that.")
    static let tooManyInstances = ProblemType(
        "too_many_instances", .conflict, title: "The key has too many instances",
        cause: """
            A key of App Attest is one installation's, and has \(Instance.maximumOfKey) instances at most: as many are \
            registered by this one.
            """,
        remedy:
            "Keep one instance ID for each installation, or delete an instance that is not in use any more."
    )
    static let monitoredTooLittle = ProblemType(
        "monitored_too_little", .conflict, title: "Too little was monitored",
        cause: """
            The App Clip is to require what fewer than \(MonitoredAttestations.required) requests of the last \
            \(MonitoredAttestations.days) days brought: `operation` says which, and `seen` how many did. Many people could \
            be refused.
            """,
        remedy: """
            Set the operation to `monitor`, and require it when enough was seen; or say that it is meant all the same, \
            with `?unmonitored=true`, or with `--yes` of `doorstep clip attest`.
            """)
    static let attestationNotConfigured = ProblemType(
        "attestation_not_configured", .serviceUnavailable, title: "Attestation is not set up here",
        cause: "The App Clip asks for attested requests, and the server has no secret for them.",
        remedy: "Whoever runs the server sets `DOORSTEP_SIGNING_SECRET`, the same on every server.")
}
