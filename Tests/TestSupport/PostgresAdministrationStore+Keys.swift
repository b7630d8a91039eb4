public import Administration
public import Foundation
public import Invocation
public import Persistence
public import Tenancy

/// Keys, managed by an operator.
extension PostgresAdministrationStore {
    private var asOperator: Actor { .administrator(actor) }

    public func createKey(
        _ key: APIKey, named name: DisplayName? = nil, scopes: Scopes?,
        locations: Set<LocationIdentifier>? = nil, expiresAt: Date?, of tenant: TenantID
    ) async throws -> KeyRecord {
        try await keys.create(
            key, named: name, scopes: scopes, locations: locations, expiresAt: expiresAt, by: asOperator,
            of: tenant)
    }

    /// All keys, oldest first.
    public func keys(of tenant: TenantID) async throws -> [KeyRecord] {
        try await keys.keys(of: tenant, after: nil, limit: .max).sorted {
            ($0.createdAt, "\($0.id)") < ($1.createdAt, "\($1.id)")
        }
    }

    public func key(_ id: KeyID, of tenant: TenantID) async throws -> KeyRecord {
        guard let key = try await keys.key(id, of: tenant) else { throw AdministrationError.unknownKey }
        return key
    }

    public func updateKey(_ id: KeyID, expiresAt: Date?, of tenant: TenantID) async throws -> KeyRecord {
        try await keys.update(id, KeyChange(expiresAt: .some(expiresAt)), by: asOperator, of: tenant).record
    }

    public func revokeKey(_ id: KeyID, of tenant: TenantID) async throws -> KeyRecord {
        _ = try await keys.revoke(id, by: asOperator, of: tenant)
        return try await key(id, of: tenant)
    }

    public func rotateKey(
        _ id: KeyID, by generate: APIKey.Generator, oldExpiresAt: Date, of tenant: TenantID
    ) async throws -> (key: APIKey, record: KeyRecord) {
        try await keys.rotate(
            id, by: generate, oldExpiresAt: oldExpiresAt, by: asOperator, of: tenant)
    }
}

extension KeyStore {
    /// Creates this key.
    public func create(
        _ key: APIKey, named name: DisplayName?, scopes: Scopes?, locations: Set<LocationIdentifier>?,
        expiresAt: Date?, by maker: Actor, of tenant: TenantID
    ) async throws -> KeyRecord {
        try await create(
            key.kind, by: { _, _ in key }, named: name, scopes: scopes, locations: locations,
            expiresAt: expiresAt, by: maker, of: tenant
        ).record
    }
}
