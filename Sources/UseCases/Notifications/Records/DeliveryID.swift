public import Foundation

/// The identity of a notification's delivery to one receiver, and its `apns-id` in every attempt.
///
/// Those of one notification sort as they were made.
public struct DeliveryID: Sendable, Hashable, CustomStringConvertible {
    public let uuid: UUID

    public init(_ uuid: UUID) {
        self.uuid = uuid
    }

    public var description: String { uuid.uuidString.lowercased() }
}
