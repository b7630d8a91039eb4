public import Administration
import Foundation
public import PostgreSQL
public import Tenancy

/// Finds the holder of a key by the key's SHA-256, through the one function that looks across tenants.
public struct PostgresKeyAuthenticator: KeyAuthenticator {
    private let pool: ConnectionPool

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    public func authenticate(_ key: APIKey) async throws -> Principal? {
        let digest = key.digest
        let rows = try await pool.withTransaction(as: .app) { transaction in
            try await transaction.execute(
                "SELECT tenant_id, key_id, kind, tenant_is_suspended FROM doorstep.authenticate(\(digest))")
        }
        return try rows.first.map { row in
            let (tenant, key, kind, isSuspended) = try row.decode(
                UUID.self, UUID.self, String.self, Bool.self)
            guard let kind = KeyKind(rawValue: kind) else { throw PersistenceError.unreadable("api_keys") }
            return Principal(
                tenant: TenantID(tenant), key: KeyID(key), kind: kind, tenantIsSuspended: isSuspended)
        }
    }
}
