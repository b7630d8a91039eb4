public import Foundation

/// The identity of an API key, which says nothing about the key itself and may be logged.
public struct KeyID: Sendable, Hashable, CustomStringConvertible {
    public let uuid: UUID

    public init(_ uuid: UUID) {
        self.uuid = uuid
    }

    public var description: String { uuid.uuidString.lowercased() }
}
