public import Foundation
public import Tenancy

/// Where tenants' keys are kept, for keys that manage keys. None makes another that may do more than itself, or for longer.
public protocol KeyStore: Sendable {
    /// By ID, after one, up to `limit`.
    func keys(of tenant: TenantID, after: KeyID?, limit: Int) async throws -> [KeyRecord]

    func key(_ id: KeyID, of tenant: TenantID) async throws -> KeyRecord?

    /// - Parameters:
    ///   - maker: the key that asks for it.
    ///   - scopes: nil for what a key of the kind has where nothing is named, of what the maker has.
    ///   - expiresAt: nil for when the maker does.
    /// - Throws: `AdministrationError.widerKey`.
    func create(
        _ key: APIKey, scopes: Scopes?, expiresAt: Date?, by maker: KeyID, of tenant: TenantID
    ) async throws -> KeyRecord

    /// Adds the successor, and lets the old key expire at a time.
    /// - Throws: `AdministrationError.unknownKey`; `keyNotActive`; `keyRotated`; `widerKey`.
    func rotate(
        _ id: KeyID, to successor: @Sendable (KeyKind) -> APIKey, oldExpiresAt: Date, by maker: KeyID,
        of tenant: TenantID
    ) async throws -> (key: APIKey, record: KeyRecord)

    /// - Returns: Whether this server refuses the key.
    /// - Throws: `AdministrationError.unknownKey`.
    func revoke(_ id: KeyID, by maker: KeyID, of tenant: TenantID) async throws -> Bool
}

extension KeyID {
    /// What the audit log calls who has the key.
    public var actor: String { "key:\(self)" }
}

extension KeyRecord {
    /// Whether a key may make one that can do this until then; nil for one that does not expire.
    public func covers(_ scopes: Scopes, until end: Date?) -> Bool {
        guard self.scopes.isSuperset(of: scopes) else { return false }
        guard let expiresAt else { return true }
        return end.map { $0 <= expiresAt } ?? false
    }

    /// What a key that this one makes may do, and until when.
    /// - Throws: `AdministrationError.widerKey`.
    public func grant(
        to kind: KeyKind, scopes: Scopes?, expiresAt: Date?
    ) throws(AdministrationError) -> (scopes: Scopes, expiresAt: Date?) {
        let granted = scopes ?? kind.usualScopes.intersection(self.scopes)
        let end = expiresAt ?? self.expiresAt
        guard !granted.isEmpty, covers(granted, until: end) else { throw .widerKey }
        return (granted, end)
    }
}
