public import Foundation

/// The identity of one installation of a clip, which the clip chooses when it is first launched.
public struct InstanceID: Sendable, Hashable, CustomStringConvertible {
    public let uuid: UUID

    public init(_ uuid: UUID) {
        self.uuid = uuid
    }

    public var description: String { uuid.uuidString.lowercased() }
}
