public import Foundation
public import Invocation
public import Tenancy

/// The stored properties of an API key, without the key itself.
public struct KeyRecord: Sendable, Hashable {
    public let id: KeyID
    /// The purpose of the key; nil for a key without a name.
    public let name: DisplayName?
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
        id: KeyID, name: DisplayName? = nil, kind: KeyKind, scopes: Scopes,
        locations: Set<LocationIdentifier>? = nil, hint: String,
        createdAt: Date, expiresAt: Date?, revokedAt: Date?, lastUsedOn: String?
    ) {
        self.id = id
        self.name = name
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

/// What a change of a key changes; a member that is nil stays as it is.
public struct KeyChange: Sendable, Hashable {
    /// The new name, nil for none.
    public var name: DisplayName??
    /// The new expiry, nil for none.
    public var expiresAt: Date??

    public init(name: DisplayName?? = .none, expiresAt: Date?? = .none) {
        self.name = name
        self.expiresAt = expiresAt
    }
}
