public import Foundation
public import Invocation
public import Tenancy

/// Stores tenants' keys. A key can create, change and revoke only keys without more rights and without a later expiry than its own.
public protocol KeyStore: Sendable {
    /// At most `limit` keys, sorted by ID, after a given one.
    func keys(of tenant: TenantID, after: KeyID?, limit: Int) async throws -> [KeyRecord]

    func key(_ id: KeyID, of tenant: TenantID) async throws -> KeyRecord?

    /// - Parameters:
    ///   - generate: Creates the key.
    ///   - maker: the creator: a key or an operator.
    ///   - scopes: Nil for the default scopes of the kind, as far as the creator has them.
    ///   - locations: The locations to which the key is restricted; nil for the creator's own restriction.
    ///   - expiresAt: nil for the creator's own expiry.
    /// - Throws: `AdministrationError.widerKey`; `unknownLocation`.
    func create(
        _ kind: KeyKind, by generate: APIKey.Generator, named name: DisplayName?, scopes: Scopes?,
        locations: Set<LocationIdentifier>?,
        expiresAt: Date?,
        by maker: Actor, of tenant: TenantID
    ) async throws -> (key: APIKey, record: KeyRecord)

    /// Adds the successor, which has the same name, and changes the expiry of the old key.
    /// - Throws: `AdministrationError.unknownKey`; `keyNotActive`; `keyRotated`; `widerKey`.
    func rotate(
        _ id: KeyID, by generate: APIKey.Generator, oldExpiresAt: Date, by maker: Actor,
        of tenant: TenantID
    ) async throws -> (key: APIKey, record: KeyRecord)

    /// Changes the name or the expiry of a key.
    /// - Returns: The key, and whether this server already uses the new expiry.
    /// - Throws: `AdministrationError.unknownKey`; `keyNotActive`; `keyRotated`; `widerKey`.
    func update(
        _ id: KeyID, _ change: KeyChange, by maker: Actor, of tenant: TenantID
    ) async throws -> (record: KeyRecord, isVisible: Bool)

    /// - Returns: Whether this server already refuses the key.
    /// - Throws: `AdministrationError.unknownKey`; `widerKey`.
    func revoke(_ id: KeyID, by maker: Actor, of tenant: TenantID) async throws -> Bool
}

extension KeyID {
    /// The name of the key's holder in the audit log.
    public var actor: String { "key:\(self)" }
}

extension KeyRecord {
    /// Whether this key may create a key with these scopes, locations and expiry. Nil locations stand for all, and a nil expiry for
    /// never.
    public func covers(
        _ scopes: Scopes, at locations: Set<LocationIdentifier>?, until end: Date?
    ) -> Bool {
        guard self.scopes.isSuperset(of: scopes) else { return false }
        if let own = self.locations, locations?.isSubset(of: own) != true { return false }
        guard let expiresAt else { return true }
        return end.map { $0 <= expiresAt } ?? false
    }

    /// Whether this key may rotate, change or revoke another key, as that key is before the change.
    ///
    /// A key may always shorten its own expiry.
    public func mayChange(_ key: KeyRecord) -> Bool {
        covers(key.scopes, at: key.locations, until: key.expiresAt)
    }

    /// The scopes, locations and latest expiry of keys that this key can create.
    /// - Throws: `AdministrationError.widerKey`.
    public func grant(
        to kind: KeyKind, scopes: Scopes?, locations: Set<LocationIdentifier>?, expiresAt: Date?
    ) throws(AdministrationError) -> (
        scopes: Scopes, locations: Set<LocationIdentifier>?, expiresAt: Date?
    ) {
        let places = locations ?? self.locations
        let granted = scopes ?? kind.usualScopes(isRestricted: places != nil).intersection(self.scopes)
        let end = expiresAt ?? self.expiresAt
        guard !granted.isEmpty, covers(granted, at: places, until: end) else { throw .widerKey }
        return (granted, places, end)
    }
}

extension APIKey {
    /// The default overlap of a key and its successor, in hours. [ours]
    public static let usualOverlap = 24.0
    /// The possible overlaps, in hours. [ours]
    public static let overlaps = 0.0...8_760
    /// The possible lifetimes of keys that expire, in days. [ours]
    public static let lifetimes = 0.0...36_500
}
