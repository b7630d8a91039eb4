public import Foundation
public import Invocation
public import JSON

/// A notification to compose: where it leads, and what it says.
public struct NotificationRequest: Sendable, Hashable {
    /// Leads to the business, as an invocation would.
    public let url: InvocationURL
    /// The `aps` dictionary without `target-content-id`.
    public let aps: JSONObject
    /// Members beside `aps`, for the clip.
    public let custom: JSONObject
    /// `pushType`, `id`, `expiration`, `priority`, `collapseID`; all optional.
    public let headers: JSONObject
    /// When the clip was last launched, if that is known.
    public let launchedAt: Date?
    /// Whether it goes to a channel, which allows more bytes.
    public let isBroadcast: Bool

    public init(
        url: InvocationURL, aps: JSONObject, custom: JSONObject = [:], headers: JSONObject = [:],
        launchedAt: Date? = nil, isBroadcast: Bool = false
    ) {
        self.url = url
        self.aps = aps
        self.custom = custom
        self.headers = headers
        self.launchedAt = launchedAt
        self.isBroadcast = isBroadcast
    }
}
