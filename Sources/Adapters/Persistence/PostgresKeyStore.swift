import Administration
import Foundation
import Invocation
import PostgreSQL
import Tenancy

/// The keys of one tenant at a time, for keys and for operators.
struct PostgresKeyStore: KeyStore {
    let store: PostgresAdministrationStore

    func keys(of tenant: TenantID, after: KeyID?, limit: Int) async throws -> [KeyRecord] {
        try await store.read(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT \(unsafeSQL: KeyRecord.columns) FROM doorstep.api_keys
                WHERE tenant_id = \(tenant.uuid) AND (\(after?.uuid)::uuid IS NULL OR key_id > \(after?.uuid))
                ORDER BY key_id LIMIT \(limit)
                """
            ).map { try KeyRecord(row: $0) }
        }
    }

    func key(_ id: KeyID, of tenant: TenantID) async throws -> KeyRecord? {
        try await store.read(tenant) { try await $0.key(id) }
    }

    func create(
        _ kind: KeyKind, by generate: APIKey.Generator, named name: DisplayName?, scopes: Scopes?,
        locations: Set<LocationIdentifier>?,
        expiresAt: Date?, by maker: Actor, of tenant: TenantID
    ) async throws -> (key: APIKey, record: KeyRecord) {
        try await store.writeUntilVisible(tenant, by: maker.name) { transaction in
            let granted =
                switch maker {
                case .key(let id):
                    try await transaction.caller(id)
                        .grant(to: kind, scopes: scopes, locations: locations, expiresAt: expiresAt)
                case .administrator:
                    (scopes ?? kind.usualScopes(isRestricted: locations != nil), locations, expiresAt)
                }
            return try await transaction.createKey(
                kind, by: generate, named: name, scopes: granted.0, locations: granted.1, expiresAt: granted.2
            )
        }.result
    }

    func rotate(
        _ id: KeyID, by generate: APIKey.Generator, oldExpiresAt: Date, by maker: Actor,
        of tenant: TenantID
    ) async throws -> (key: APIKey, record: KeyRecord) {
        try await store.writeUntilVisible(tenant, by: maker.name) { transaction in
            try await transaction.requireKey(id, noWiderThan: maker)
            return try await transaction.rotateKey(id, by: generate, oldExpiresAt: oldExpiresAt)
        }.result
    }

    func update(
        _ id: KeyID, _ change: KeyChange, by maker: Actor, of tenant: TenantID
    ) async throws -> (record: KeyRecord, isVisible: Bool) {
        let written = try await store.writeUntilVisible(tenant, by: maker.name) { transaction in
            try await transaction.requireKey(id, noWiderThan: maker, until: change.expiresAt)
            return try await transaction.updateKey(id, change)
        }
        return (written.result, written.isVisible)
    }

    func revoke(_ id: KeyID, by maker: Actor, of tenant: TenantID) async throws -> Bool {
        try await store.writeUntilVisible(tenant, by: maker.name) { transaction in
            try await transaction.requireKey(id, noWiderThan: maker)
            return try await transaction.revokeKey(id)
        }.isVisible
    }
}

extension TenantTransaction {
    /// The requesting key in its current state, because it may have been revoked since its admission.
    ///
    /// Does not lock the key, because two keys that rotate each other would wait for each other.
    /// - Throws: `AdministrationError.keyNotActive`; `tenantSuspended`; `tenantDeleted`.
    func caller(_ id: KeyID) async throws -> KeyRecord {
        guard let tenant = try await tenant() else { throw AdministrationError.tenantDeleted }
        guard let caller = try await key(id), caller.status(at: Date()) == .active else {
            throw AdministrationError.keyNotActive
        }
        guard tenant.suspendedAt == nil else { throw AdministrationError.tenantSuspended }
        return caller
    }

    /// Locks a key that another key will change. An operator may change every key.
    ///
    /// - Parameter expiresAt: The key's new expiry, nil for none. If left out, the key keeps its expiry.
    /// - Throws: `AdministrationError.unknownKey`; `widerKey` if the key has scopes, locations or an expiry beyond those of the maker, before or
    ///   after the change; and the errors of ``caller(_:)``.
    func requireKey(_ id: KeyID, noWiderThan maker: Actor, until expiresAt: Date?? = .none) async throws {
        guard case .key(let maker) = maker else { return }
        let caller = try await caller(maker)
        guard let old = try await key(id, lock: "FOR UPDATE") else { throw AdministrationError.unknownKey }
        // Checks the key before the change, too. Otherwise a key could end a wider key, which it cannot revoke, with a new expiry.
        guard caller.mayChange(old),
            caller.covers(old.scopes, at: old.locations, until: expiresAt ?? old.expiresAt)
        else { throw AdministrationError.widerKey }
    }
}
