public import Administration
import Foundation
import Invocation
import PostgreSQL
public import Tenancy

extension PostgresAdministrationStore {
    /// Up to `limit` keys: active keys before inactive ones, each group with the newest first.
    /// - Parameter hint: Only keys with exactly this ``KeyRecord/hint``; nil for all keys.
    public func newestKeys(
        of tenant: TenantID, withHint hint: String? = nil, limit: Int
    ) async throws -> [KeyRecord] {
        try await read(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT \(unsafeSQL: KeyRecord.columns) FROM doorstep.api_keys
                WHERE tenant_id = \(tenant.uuid) AND (\(hint)::text IS NULL OR hint = \(hint))
                ORDER BY (revoked_at IS NULL AND coalesce(expires_at > now(), true)) DESC, created_at DESC, key_id DESC
                LIMIT \(limit)
                """
            ).map { try KeyRecord(row: $0) }
        }
    }
}

extension TenantTransaction {
    func key(_ id: KeyID, lock: String = "") async throws -> KeyRecord? {
        try await execute(
            """
            SELECT \(unsafeSQL: KeyRecord.columns) FROM doorstep.api_keys
            WHERE tenant_id = \(tenant.uuid) AND key_id = \(id.uuid) \(unsafeSQL: lock)
            """
        ).first.map { try KeyRecord(row: $0) }
    }

    func updateKey(_ id: KeyID, _ change: KeyChange) async throws -> KeyRecord {
        let rows = try await execute(
            """
            UPDATE doorstep.api_keys
            SET name = CASE WHEN \(change.name != nil) THEN \((change.name ?? nil)?.text) ELSE name END,
                expires_at = CASE WHEN \(change.expiresAt != nil) THEN \(change.expiresAt ?? nil) ELSE expires_at END
            WHERE tenant_id = \(tenant.uuid) AND key_id = \(id.uuid)
                AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
            RETURNING \(unsafeSQL: KeyRecord.columns)
            """)
        guard let row = rows.first else { throw try await refusal(of: id) }
        return try KeyRecord(row: row)
    }

    func revokeKey(_ id: KeyID) async throws -> KeyRecord {
        let rows = try await execute(
            """
            UPDATE doorstep.api_keys SET revoked_at = coalesce(revoked_at, now())
            WHERE tenant_id = \(tenant.uuid) AND key_id = \(id.uuid)
            RETURNING \(unsafeSQL: KeyRecord.columns)
            """)
        guard let row = rows.first else { throw AdministrationError.unknownKey }
        return try KeyRecord(row: row)
    }

    /// A key can be rotated once. Afterwards its expiry is the end of the overlap, and no longer limits the expiry of a successor.
    func rotateKey(
        _ id: KeyID, by generate: APIKey.Generator, oldExpiresAt: Date
    ) async throws -> (key: APIKey, record: KeyRecord) {
        // An old key that expires before the end of the overlap keeps its expiry; its successor has the same.
        let successorID = UUID()
        let rows = try await execute(
            """
            UPDATE doorstep.api_keys k
            SET expires_at = least(k.expires_at, \(oldExpiresAt)), successor_id = \(successorID)
            FROM (SELECT key_id, expires_at FROM doorstep.api_keys
                  WHERE tenant_id = \(tenant.uuid) AND key_id = \(id.uuid) FOR UPDATE) AS old
            WHERE k.tenant_id = \(tenant.uuid) AND k.key_id = old.key_id
                AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
                AND k.successor_id IS NULL
            RETURNING k.kind, k.scopes, k.locations, old.expires_at, k.name
            """)
        guard let row = rows.first else { throw try await refusal(of: id) }
        let (kindText, scopes, locations, expiry, name) = try row.decode(
            String.self, [String].self, [String]?.self, Date?.self, String?.self)
        guard let kind = KeyKind(rawValue: kindText) else { throw PersistenceError.unreadable("api_keys") }
        return try await insert(
            kind, by: generate, id: successorID, named: name, scopes: scopes, locations: locations,
            expiresAt: expiry)
    }

    /// - Throws: `AdministrationError.unknownLocation` if the tenant does not have a location. If the tenant deletes a location later,
    ///   the key keeps its identifier, without effect.
    func createKey(
        _ kind: KeyKind, by generate: APIKey.Generator, named name: DisplayName?, scopes: Scopes,
        locations: Set<LocationIdentifier>?, expiresAt: Date?
    ) async throws -> (key: APIKey, record: KeyRecord) {
        let locations = locations.map { $0.map(\.text).sorted() }
        if let locations {
            let unknown = try await execute(
                """
                SELECT identifier FROM unnest(\(locations)::text[]) AS k (identifier)
                WHERE NOT EXISTS (
                    SELECT FROM doorstep.locations AS l
                    WHERE l.tenant_id = \(tenant.uuid) AND l.identifier = k.identifier)
                LIMIT 1
                """)
            if let row = unknown.first {
                throw AdministrationError.unknownLocation(try LocationIdentifier(try row.decode(at: 0)))
            }
        }
        return try await insert(
            kind, by: generate, named: name?.text, scopes: scopes.list.map(\.rawValue), locations: locations,
            expiresAt: expiresAt)
    }

    /// The reason why a key is not active.
    fileprivate func refusal(of id: KeyID) async throws -> AdministrationError {
        let known = try await execute(
            """
            SELECT CASE WHEN revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) THEN successor_id END
            FROM doorstep.api_keys WHERE tenant_id = \(tenant.uuid) AND key_id = \(id.uuid)
            """)
        guard let row = known.first else { return .unknownKey }
        return try row.decode(at: 0, as: UUID?.self).map { .keyRotated(KeyID($0)) } ?? .keyNotActive
    }

    private func insert(
        _ kind: KeyKind, by generate: APIKey.Generator, id: UUID = UUID(), named name: String?,
        scopes: [String], locations: [String]?, expiresAt: Date?
    ) async throws -> (key: APIKey, record: KeyRecord) {
        guard let owner = try await tenant() else { throw AdministrationError.tenantDeleted }
        let key = generate(kind, owner.isTest)
        let record = try KeyRecord(
            row: try await execute(
                """
                INSERT INTO doorstep.api_keys
                    (tenant_id, key_id, name, kind, scopes, locations, digest, hint, expires_at)
                VALUES (\(tenant.uuid), \(id), \(name), \(key.kind.rawValue), \(scopes), \(locations),
                    \(key.digest), \(key.hint), \(expiresAt))
                RETURNING \(unsafeSQL: KeyRecord.columns)
                """
            ).one())
        return (key, record)
    }
}

extension KeyRecord {
    static let columns =
        "key_id, kind, scopes, locations, hint, created_at, expires_at, revoked_at, last_used_on::text, name"

    /// Reads the columns in ``columns``.
    init(row: Row) throws {
        let (id, kind, scopes, locations, hint, createdAt, expiresAt, revokedAt, lastUsedOn, name) =
            try row.decode(
                UUID.self, String.self, [String].self, [String]?.self, String.self, Date.self, Date?.self,
                Date?.self, String?.self, String?.self)
        guard let kind = KeyKind(rawValue: kind) else { throw PersistenceError.unreadable("api_keys") }
        let (identifiers, displayName) = try PersistenceError.reading("api_keys") {
            (
                try locations?.map { text in try LocationIdentifier(text) },
                try name.map { text in try DisplayName(stored: text) }
            )
        }
        self.init(
            id: KeyID(id), name: displayName, kind: kind,
            scopes: Scopes(scopes.compactMap(Scope.init).map(Scopes.init)),
            locations: identifiers.map { Set($0) }, hint: hint, createdAt: createdAt, expiresAt: expiresAt,
            revokedAt: revokedAt, lastUsedOn: lastUsedOn)
    }
}
