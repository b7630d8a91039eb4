public import Foundation

/// The identifier of a tenant, a UUID that never changes.
public struct TenantID: Sendable, Hashable, CustomStringConvertible {
    public let uuid: UUID

    public init(_ uuid: UUID) {
        self.uuid = uuid
    }

    public var description: String { uuid.uuidString.lowercased() }
}

extension TenantID: Comparable {
    /// In the order of the IDs' bytes, which is PostgreSQL's.
    public static func < (one: TenantID, other: TenantID) -> Bool {
        withUnsafeBytes(of: one.uuid.uuid) { mine in
            withUnsafeBytes(of: other.uuid.uuid) { theirs in mine.lexicographicallyPrecedes(theirs) }
        }
    }
}
