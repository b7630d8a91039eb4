public import Foundation

/// The identity of a notification: a UUID of version 7 whose time is when the notification was made.
public struct NotificationID: Sendable, Hashable, CustomStringConvertible {
    public let uuid: UUID

    public init(_ uuid: UUID) {
        self.uuid = uuid
    }

    public var description: String { uuid.uuidString.lowercased() }
}
