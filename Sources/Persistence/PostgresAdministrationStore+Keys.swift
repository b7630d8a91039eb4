public import Administration
public import Foundation
import PostgreSQL
public import Tenancy

extension PostgresAdministrationStore {
    public func createKey(_ key: APIKey, expiresAt: Date?, of tenant: TenantID) async throws -> KeyRecord {
        try await write(tenant) { transaction in
            try await transaction.insert(key, expiresAt: expiresAt)
        }
    }

    public func keys(of tenant: TenantID) async throws -> [KeyRecord] {
        try await read(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT key_id, kind, hint, created_at, expires_at, revoked_at FROM doorstep.api_keys
                WHERE tenant_id = \(tenant.uuid) ORDER BY created_at, key_id
                """
            ).map { try KeyRecord(row: $0) }
        }
    }

    public func revokeKey(_ id: KeyID, of tenant: TenantID) async throws -> KeyRecord {
        try await write(tenant) { transaction in
            let rows = try await transaction.execute(
                """
                UPDATE doorstep.api_keys SET revoked_at = coalesce(revoked_at, now())
                WHERE tenant_id = \(tenant.uuid) AND key_id = \(id.uuid)
                RETURNING key_id, kind, hint, created_at, expires_at, revoked_at
                """)
            guard let row = rows.first else { throw AdministrationError.unknownKey }
            return try KeyRecord(row: row)
        }
    }

    public func rotateKey(
        _ id: KeyID, to successor: @Sendable (KeyKind) -> APIKey, oldExpiresAt: Date, of tenant: TenantID
    ) async throws -> (key: APIKey, record: KeyRecord) {
        try await write(tenant) { transaction in
            // An old key that expires earlier than asked for keeps its time.
            let rows = try await transaction.execute(
                """
                UPDATE doorstep.api_keys SET expires_at = least(expires_at, \(oldExpiresAt))
                WHERE tenant_id = \(tenant.uuid) AND key_id = \(id.uuid)
                    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
                RETURNING kind
                """)
            guard let row = rows.first else {
                let known = try await transaction.execute(
                    "SELECT FROM doorstep.api_keys WHERE tenant_id = \(tenant.uuid) AND key_id = \(id.uuid)")
                throw known.isEmpty ? AdministrationError.unknownKey : .keyNotActive
            }
            guard let kind = KeyKind(rawValue: try row.decode(String.self)) else {
                throw PersistenceError.unreadable("api_keys")
            }
            let key = successor(kind)
            return (key, try await transaction.insert(key, expiresAt: nil))
        }
    }
}

extension TenantTransaction {
    fileprivate func insert(_ key: APIKey, expiresAt: Date?) async throws -> KeyRecord {
        try KeyRecord(
            row: try await execute(
                """
                INSERT INTO doorstep.api_keys (tenant_id, key_id, kind, digest, hint, expires_at)
                VALUES (\(tenant.uuid), \(UUID()), \(key.kind.rawValue), \(key.digest), \(key.hint), \(expiresAt))
                RETURNING key_id, kind, hint, created_at, expires_at, revoked_at
                """
            ).one())
    }
}

extension KeyRecord {
    /// Columns: key_id, kind, hint, created_at, expires_at, revoked_at.
    fileprivate init(row: Row) throws {
        let (id, kind, hint, createdAt, expiresAt, revokedAt) = try row.decode(
            UUID.self, String.self, String.self, Date.self, Date?.self, Date?.self)
        guard let kind = KeyKind(rawValue: kind) else { throw PersistenceError.unreadable("api_keys") }
        self.init(
            id: KeyID(id), kind: kind, hint: hint, createdAt: createdAt, expiresAt: expiresAt,
            revokedAt: revokedAt)
    }
}
