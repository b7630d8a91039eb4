public import Foundation
public import Invocation
public import Tenancy

/// Where tenants' keys are kept. A key can make, change and revoke only keys that may do no more than itself, for no longer.
public protocol KeyStore: Sendable {
    /// By ID, after one, up to `limit`.
    func keys(of tenant: TenantID, after: KeyID?, limit: Int) async throws -> [KeyRecord]

    func key(_ id: KeyID, of tenant: TenantID) async throws -> KeyRecord?

    /// - Parameters:
    ///   - maker: the key or the operator who creates it.
    ///   - scopes: Nil for the default scopes of the kind that the creator has too.
    ///   - locations: The locations to which the key is restricted; nil for the creator's own restriction.
    ///   - expiresAt: nil for when the maker does.
    /// - Throws: `AdministrationError.widerKey`; `unknownLocation`.
    func create(
        _ key: APIKey, scopes: Scopes?, locations: Set<LocationIdentifier>?, expiresAt: Date?,
        by maker: Actor, of tenant: TenantID
    ) async throws -> KeyRecord

    /// Adds the successor, and lets the old key expire at a time.
    /// - Throws: `AdministrationError.unknownKey`; `keyNotActive`; `keyRotated`; `widerKey`.
    func rotate(
        _ id: KeyID, to successor: @Sendable (KeyKind) -> APIKey, oldExpiresAt: Date, by maker: Actor,
        of tenant: TenantID
    ) async throws -> (key: APIKey, record: KeyRecord)

    /// Lets a key expire at another time, or never.
    /// - Returns: The key, and whether this server knows of it.
    /// - Throws: `AdministrationError.unknownKey`; `keyNotActive`; `keyRotated`; `widerKey`.
    func update(
        _ id: KeyID, expiresAt: Date?, by maker: Actor, of tenant: TenantID
    ) async throws -> (record: KeyRecord, isVisible: Bool)

    /// - Returns: Whether this server refuses the key.
    /// - Throws: `AdministrationError.unknownKey`; `widerKey`.
    func revoke(_ id: KeyID, by maker: Actor, of tenant: TenantID) async throws -> Bool
}

extension KeyID {
    /// The name of the key's holder in the audit log.
    public var actor: String { "key:\(self)" }
}

extension KeyRecord {
    /// Whether a key may make one that can do this at these locations until then; nil for all of them, and for one that
    /// does not expire.
    public func covers(
        _ scopes: Scopes, at locations: Set<LocationIdentifier>?, until end: Date?
    ) -> Bool {
        guard self.scopes.isSuperset(of: scopes) else { return false }
        if let own = self.locations, locations?.isSubset(of: own) != true { return false }
        guard let expiresAt else { return true }
        return end.map { $0 <= expiresAt } ?? false
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
