public import Foundation
public import Invocation
public import Tenancy

/// The keys of any tenant, for those who run the installation: unlike those of a ``KeyStore``, no key of their own holds them to
/// what it may do.
public protocol TenantKeys: Sendable {
    /// The oldest first.
    func keys(of tenant: TenantID) async throws -> [KeyRecord]

    /// Those that are good before those that are not, and of each the newest first, up to `limit`.
    func newestKeys(of tenant: TenantID, limit: Int) async throws -> [KeyRecord]

    /// - Throws: `AdministrationError.unknownKey`.
    func key(_ id: KeyID, of tenant: TenantID) async throws -> KeyRecord

    /// - Parameters:
    ///   - scopes: what the key may do, of what its kind may; nil for what that has where nothing is named.
    ///   - locations: what it is restricted to; nil for nothing.
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
    /// For how long a key and its successor are both good where nobody says, in hours. [ours]
    public static let usualOverlap = 24.0
    /// For how long they may be, in hours. [ours]
    public static let overlaps = 0.0...8_760
    /// After how many days a key may be refused, where it does expire. [ours]
    public static let lifetimes = 0.0...36_500
}
