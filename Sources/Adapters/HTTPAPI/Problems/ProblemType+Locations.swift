import HTTPTypes

extension ProblemType {
    /// Lookups, launches and receipts.
    static let locations = [
        doesNotMatch, noIdentifier, unknownIdentifier, unknownClip, otherClip, unknownInstance,
        unknownActivity, invalidReceipt,
    ]

    static let doesNotMatch = ProblemType(
        "does_not_match", .notFound,
        title: "No experience matches the URL",
        cause: """
            The tenant has no experience whose URL is a prefix of this one. For a notification of a clip that serves \
            many businesses, only advanced experiences count.
            """,
        remedy: """
            Create an experience (`doorstep experience create`), or correct the URL. `doorstep diagnose URL` shows \
            which experiences were compared.
            """)
    static let noIdentifier = ProblemType(
        "no_identifier", .notFound,
        title: "The URL names no location",
        cause: """
            An experience matches, but its rule finds no location identifier in this URL, and it is not bound to a \
            location. `experience` shows which one.
            """,
        remedy: """
            Bind the experience to a location, or correct its identifier rule or the printed URL. `doorstep diagnose \
            URL` shows how the rule reads the URL.
            """)
    static let unknownIdentifier = ProblemType(
        "unknown_identifier", .notFound,
        title: "The URL names an unknown location",
        cause: "The URL contains an identifier, but the tenant has no location with it.",
        remedy: "Create the location (`doorstep location create`), or correct the printed URL.")
    static let unknownClip = ProblemType(
        "unknown_clip", .notFound,
        title: "The App Clip does not exist",
        cause: "The tenant has no App Clip with this bundle ID.",
        remedy: """
            Register it with `doorstep clip create`, or correct the bundle ID. It ends in the clip's own component, \
            such as `com.example.MyApp.Clip`.
            """)
    static let otherClip = ProblemType(
        "other_clip", .unprocessableContent,
        title: "The URL belongs to another App Clip",
        cause: "The URL leads to an experience of another App Clip than the clip in the request.",
        remedy: "Send the bundle ID of the running clip, and the URL that launched it.")
    static let unknownInstance = ProblemType(
        "unknown_instance", .unprocessableContent,
        title: "The instance does not exist",
        cause: """
            The tenant has no such instance. It is the audience of a notification, or the request needs it to find \
            the clip of a launch. Or the key is restricted to locations, and the instance was not launched there. An \
            unknown instance in a path is `not_found`.
            """,
        remedy: """
            Register the instance first (`PUT /v1/instances/{id}`), with `url` or `clip`. Instances without a launch \
            for a long time are deleted.
            """)
    static let unknownActivity = ProblemType(
        "unknown_activity", .notFound,
        title: "The Live Activity does not exist",
        cause: "The instance has no Live Activity with this ID, or it has ended.",
        remedy: "Register its token with `PUT /v1/instances/{id}/activities/{activity}`.")
    static let invalidReceipt = ProblemType(
        "invalid_receipt", .unprocessableContent,
        title: "The receipt is not accepted",
        cause: """
            The receipt was not signed by this server, belongs to another tenant, is too old, or proves another \
            location. `reason` says which.
            """,
        remedy: "Send the receipt of the last confirmation unchanged within ten minutes.")
}
