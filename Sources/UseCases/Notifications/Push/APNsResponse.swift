public import APNsPayload
public import Foundation

/// An answer of APNs. Source: Apple, "Handling notification responses from APNs".
public struct APNsResponse: Sendable, Hashable {
    public let status: Int
    /// Nil for what was taken, and for an answer that gave none.
    public let reason: APNsReason?
    /// `apns-unique-id`, which the sandbox adds.
    public let uniqueID: String?
    /// Of a 410: since when the token is known to be invalid.
    public let invalidSince: Date?

    public init(status: Int, reason: APNsReason? = nil, uniqueID: String? = nil, invalidSince: Date? = nil) {
        self.status = status
        self.reason = reason
        self.uniqueID = uniqueID
        self.invalidSince = invalidSince
    }
}
