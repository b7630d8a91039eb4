import HTTPTypes

extension ProblemType {
    /// What an invocation URL stands for.
    static let locations = [
        doesNotMatch, noIdentifier, unknownIdentifier, unknownClip, otherClip, unknownInstance,
        unknownActivity, invalidReceipt,
    ]

    static let doesNotMatch = ProblemType(
        "does_not_match", .notFound, title: "No experience matches the URL",
        cause: """
            The tenant has no experience whose URL is a prefix of this one, or, for a notification, \
            none that is advanced where the clip serves many businesses.
            """,
        remedy: """
            Register an experience (`doorstep experience create`), or correct the URL. `doorstep \
            diagnose URL` says what was compared with what.
            """)
    static let noIdentifier = ProblemType(
        "no_identifier", .notFound, title: "The URL names no location",
        cause: """
            An experience matches, but its rule finds no location's identifier in this URL, and it is \
            bound to none; `experience` tells which one.
            """,
        remedy: """
            Bind the experience to a location, or correct its identifier rule or the printed URL. \
            `doorstep diagnose URL` shows the way from the one to the other.
            """)
    static let unknownIdentifier = ProblemType(
        "unknown_identifier", .notFound, title: "The URL names an unknown location",
        cause: "The URL holds an identifier, and the tenant has no location of it.",
        remedy: """
            Add the location (`doorstep location create`), or correct the URL that was printed.
            """)
    static let unknownClip = ProblemType(
        "unknown_clip", .notFound, title: "The App Clip is unknown",
        cause: "The tenant has no App Clip of this bundle ID.",
        remedy: """
            Register it with `doorstep clip create`, or correct the bundle ID: it ends in the clip's \
            own component, such as `com.example.MyApp.Clip`.
            """)
    static let otherClip = ProblemType(
        "other_clip", .unprocessableContent, title: "The URL is another App Clip's",
        cause: """
            The URL leads to an experience of another App Clip than the one that says it was launched \
            by it.
            """,
        remedy: "Send the bundle ID of the clip that runs, and the URL that it was launched by.")
    static let unknownInstance = ProblemType(
        "unknown_instance", .unprocessableContent, title: "The instance is unknown",
        cause: """
            The request needs an instance that the tenant does not have: as the audience of a notification, or to know the \
            clip of a launch. Or the key is restricted to locations, and the instance was not launched there. An unknown \
            instance in a path is `not_found`.
            """,
        remedy: """
            Register the instance first (`PUT /v1/instances/{id}`), with `url` or `clip`. Instances \
            that have not been heard of for long are removed.
            """)
    static let unknownActivity = ProblemType(
        "unknown_activity", .notFound, title: "The Live Activity is unknown",
        cause: "The instance has no Live Activity of this ID, or it has ended.",
        remedy: "Register its token with `PUT /v1/instances/{id}/activities/{activity}`.")
    static let invalidReceipt = ProblemType(
        "invalid_receipt", .unprocessableContent, title: "The receipt is not accepted",
        cause: """
            The receipt is not signed by this server, is not of this tenant, or is too old, or proves \
            another place; `reason` says which.
            """,
        remedy: "Send the receipt of the last confirmation, within ten minutes, and as it came.")
}
