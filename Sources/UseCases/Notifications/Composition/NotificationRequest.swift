public import Formats
public import Invocation

/// A notification to compose: its target and its content.
public struct NotificationRequest: Sendable, Hashable {
    /// Leads to the business, as an invocation would.
    public let url: InvocationURL
    /// The `aps` dictionary without `target-content-id`.
    public let aps: JSONObject
    /// Members beside `aps`, for the clip.
    public let custom: JSONObject
    /// `pushType`, `id`, `expiration`, `priority`, `collapseID`; all optional.
    public let headers: JSONObject

    public init(
        url: InvocationURL, aps: JSONObject, custom: JSONObject = [:], headers: JSONObject = [:]
    ) {
        self.url = url
        self.aps = aps
        self.custom = custom
        self.headers = headers
    }
}
