public import Foundation
public import Invocation
public import Tenancy

/// The stored properties of an API key, without the key itself.
public struct KeyRecord: Sendable, Hashable {
    public let id: KeyID
    public let kind: KeyKind
    public let scopes: Scopes
    /// The locations that the key is restricted to; nil for an unrestricted key.
    public let locations: Set<LocationIdentifier>?
    /// The first characters of the key.
    public let hint: String
    public let createdAt: Date
    public let expiresAt: Date?
    public let revokedAt: Date?
    /// The day, in UTC, as `YYYY-MM-DD`; nil for a key that was never used.
    public let lastUsedOn: String?

    public init(
        id: KeyID, kind: KeyKind, scopes: Scopes, locations: Set<LocationIdentifier>? = nil, hint: String,
        createdAt: Date, expiresAt: Date?, revokedAt: Date?, lastUsedOn: String?
    ) {
        self.id = id
        self.kind = kind
        self.scopes = scopes
        self.locations = locations
        self.hint = hint
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.lastUsedOn = lastUsedOn
    }

    /// The possible numbers of locations of a restricted key. [ours]
    public static let locationCounts = 1...100

    public enum Status: String, Sendable {
        case active
        case expired
        case revoked
    }

    public func status(at now: Date) -> Status {
        if revokedAt != nil { return .revoked }
        if let expiresAt, expiresAt <= now { return .expired }
        return .active
    }
}
