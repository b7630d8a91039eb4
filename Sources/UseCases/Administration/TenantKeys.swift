public import Foundation
public import Invocation
public import Tenancy

/// Manages the keys of any tenant, for operators. Unlike in ``KeyStore``, no key limits their rights.
public protocol TenantKeys: Sendable {
    /// The oldest first.
    func keys(of tenant: TenantID) async throws -> [KeyRecord]

    /// Active keys before inactive ones, and newest first, up to `limit`.
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

    /// Adds the successor, and lets the old key expire at a time, in one step.
    /// - Throws: `AdministrationError.unknownKey`; `keyNotActive`; `keyRotated` with the successor that there is.
    func rotateKey(
        _ id: KeyID, to successor: @Sendable (KeyKind) -> APIKey, oldExpiresAt: Date, of tenant: TenantID
    ) async throws -> (key: APIKey, record: KeyRecord)

    /// - Throws: `AdministrationError.unknownKey`.
    func revokeKey(_ id: KeyID, of tenant: TenantID) async throws -> KeyRecord
}

extension APIKey {
    /// The default overlap of a key and its successor, in hours. [ours]
    public static let usualOverlap = 24.0
    /// For how long they may be, in hours. [ours]
    public static let overlaps = 0.0...8_760
    /// After how many days a key may be refused, where it does expire. [ours]
    public static let lifetimes = 0.0...36_500
}
