public import Foundation

/// The identifier of an API key, which reveals nothing of the key itself and may be logged.
public struct KeyID: Sendable, Hashable, CustomStringConvertible {
    public let uuid: UUID

    public init(_ uuid: UUID) {
        self.uuid = uuid
    }

    public var description: String { uuid.uuidString.lowercased() }
}
