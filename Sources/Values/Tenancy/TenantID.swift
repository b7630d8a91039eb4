public import Foundation

/// The identity of a tenant, a UUID that never changes.
public struct TenantID: Sendable, Hashable, CustomStringConvertible {
    public let uuid: UUID

    public init(_ uuid: UUID) {
        self.uuid = uuid
    }

    public var description: String { uuid.uuidString.lowercased() }
}
