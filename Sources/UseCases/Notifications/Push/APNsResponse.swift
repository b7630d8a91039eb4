public import APNsPayload
public import Foundation

/// A response of APNs. Source: Apple, "Handling notification responses from APNs".
public struct APNsResponse: Sendable, Hashable {
    public let status: Int
    /// Nil for an accepted request, and for a response without a reason.
    public let reason: APNsReason?
    /// `apns-unique-id`, which the sandbox adds.
    public let uniqueID: String?
    /// In a 410 response: the time since when the token has been invalid.
    public let invalidSince: Date?

    public init(status: Int, reason: APNsReason? = nil, uniqueID: String? = nil, invalidSince: Date? = nil) {
        self.status = status
        self.reason = reason
        self.uniqueID = uniqueID
        self.invalidSince = invalidSince
    }
}
