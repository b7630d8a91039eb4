public import Foundation

/// The identity of a notification's delivery to one receiver, and its `apns-id` in every attempt.
///
/// The IDs of one notification's deliveries sort in the order of their creation.
public struct DeliveryID: Sendable, Hashable, CustomStringConvertible {
    public let uuid: UUID

    public init(_ uuid: UUID) {
        self.uuid = uuid
    }

    public var description: String { uuid.uuidString.lowercased() }
}
