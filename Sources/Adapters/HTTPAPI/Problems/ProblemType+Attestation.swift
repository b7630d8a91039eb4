import Administration
import HTTPTypes
import Notifications

extension ProblemType {
    /// Attestation of requests with App Attest.
    static let attestation = [
        attestationRequired, attestationInvalid, attestationRefused, counterNotGreater, instanceOfOtherKey,
        tooManyInstances, monitoredTooLittle, attestationNotConfigured,
    ]

    static let attestationRequired = ProblemType(
        "attestation_required", .forbidden,
        title: "The request must be attested",
        cause: """
            The App Clip that the URL launches requires requests from its genuine build. They need a token in \
            `Doorstep-Attestation` or, if `detail` says so, a signature in `Doorstep-Assertion`.
            """,
        remedy: """
            Attest a key with `POST /v1/attestation/keys`, or get a token with `POST /v1/attestation/tokens`, and \
            send the request again with it. `doorstep clip attest` changes the clip's requirements.
            """)
    static let attestationInvalid = ProblemType(
        "attestation_invalid", .forbidden,
        title: "The attestation of the request is not valid",
        cause: """
            The token or signature is expired, belongs to another app or environment, or does not match. The \
            response does not say which; the server's metrics count each case.
            """,
        remedy: """
            Get a new token, or sign the request again exactly as you send it. If that fails too, attest a new key.
            """)
    static let attestationRefused = ProblemType(
        "attestation_refused", .forbidden,
        title: "The attestation is not accepted",
        cause: """
            The server could not verify the attestation or assertion for this App Clip, the challenge is too old or \
            of another clip, the key is unknown, or the clip does not use attestation.
            """,
        remedy: """
            Start again with a new challenge. If the key itself is rejected, create a new key. `doorstep clip show` \
            shows the clip's team, App ID prefix and environments.
            """)
    static let counterNotGreater = ProblemType(
        "counter_not_greater", .conflict,
        title: "The assertion was used before",
        cause: """
            Each assertion of a key has a higher counter and is accepted once. The server has accepted this \
            assertion, or a later one, already.
            """,
        remedy: "Sign the request again. Wait for each response before you sign the next request.")
    static let instanceOfOtherKey = ProblemType(
        "instance_of_other_key", .conflict,
        title: "The instance belongs to another key",
        cause: """
            The App Clip requires attested instances, and another App Attest key registered this one. This happens \
            if the app was restored on another device, which has the app's data but not its key.
            """,
        remedy: "Create a new instance ID and register the launch with it.")
    static let tooManyInstances = ProblemType(
        "too_many_instances", .conflict,
        title: "The key has too many instances",
        cause: """
            An App Attest key belongs to one installation and has at most \(Instance.maximumOfKey) instances. This \
            key has registered as many.
            """,
        remedy: "Use one instance ID for each installation, or delete an unused instance.")
    static let monitoredTooLittle = ProblemType(
        "monitored_too_little", .conflict,
        title: "Monitoring has seen too few attested requests",
        cause: """
            The change would require attestation although fewer than \(MonitoredAttestations.required) requests of \
            the last \(MonitoredAttestations.days) days were attested. `operation` names the requirement, and `seen` \
            the number of requests. Many people could be rejected.
            """,
        remedy: """
            Set the operation to `monitor`, and require attestation later. To require it now all the same, use \
            `?unmonitored=true`, or `--yes` with `doorstep clip attest`.
            """)
    static let attestationNotConfigured = ProblemType(
        "attestation_not_configured", .serviceUnavailable,
        title: "Attestation is not configured",
        cause: "The App Clip requires attested requests, but the server has no secret for them.",
        remedy: """
            The operator of the server sets `DOORSTEP_SIGNING_SECRET`, with the same value on every server.
            """)
}
