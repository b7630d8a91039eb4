public import Foundation
public import Invocation
public import Tenancy

/// Manages the keys of any tenant, for operators. Unlike in ``KeyStore``, no key limits their rights.
public protocol TenantKeys: Sendable {
    /// All keys, oldest first.
    func keys(of tenant: TenantID) async throws -> [KeyRecord]

    /// At most `limit` keys: active keys before inactive ones, each newest first.
    func newestKeys(of tenant: TenantID, limit: Int) async throws -> [KeyRecord]

    /// - Throws: `AdministrationError.unknownKey`.
    func key(_ id: KeyID, of tenant: TenantID) async throws -> KeyRecord

    /// - Parameters:
    ///   - scopes: The key's scopes; nil for the default of its kind.
    ///   - locations: The locations to which the key is restricted; nil for all.
    /// - Throws: `AdministrationError.unknownLocation`.
    func createKey(
        _ key: APIKey, scopes: Scopes?, locations: Set<LocationIdentifier>?, expiresAt: Date?,
        of tenant: TenantID
    ) async throws -> KeyRecord

    /// Adds the successor, and changes the expiry of the old key, in one step.
    /// - Throws: `AdministrationError.unknownKey`; `keyNotActive`; `keyRotated` with the existing successor.
    func rotateKey(
        _ id: KeyID, to successor: @Sendable (KeyKind) -> APIKey, oldExpiresAt: Date, of tenant: TenantID
    ) async throws -> (key: APIKey, record: KeyRecord)

    /// - Throws: `AdministrationError.unknownKey`.
    func revokeKey(_ id: KeyID, of tenant: TenantID) async throws -> KeyRecord
}

extension APIKey {
    /// The default overlap of a key and its successor, in hours. [ours]
    public static let usualOverlap = 24.0
    /// The possible overlaps, in hours. [ours]
    public static let overlaps = 0.0...8_760
    /// The possible lifetimes of keys that expire, in days. [ours]
    public static let lifetimes = 0.0...36_500
}
