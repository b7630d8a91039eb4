import Foundation
public import PostgreSQL
import Tenancy

/// Deletes keys that were revoked long ago.
///
/// Any number of servers can do this at once. `doorstep_router` finds the tenants with such keys; `doorstep_app` deletes them in
/// transactions of each tenant. The audit log records each deletion.
public struct KeyRetention: Sendable {
    /// The number of days after which a revoked key is deleted. The database refuses fewer than 30. [ours]
    public static let retention = 90

    /// The maximum number of rows that one transaction deletes, so that other transactions wait only briefly.
    private static let batch = 1_000

    private let pool: ConnectionPool

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    /// - Returns: The number of deleted keys.
    public func maintain() async throws -> Int {
        // The first entry of an index finds each tenant, as in ``NotificationRetention``.
        let tenants = try await pool.withTransaction(as: .router) { transaction in
            try await transaction.execute(
                """
                SELECT t.tenant_id FROM doorstep.tenants AS t
                WHERE (SELECT min(revoked_at) FROM doorstep.api_keys AS k WHERE k.tenant_id = t.tenant_id)
                    < now() - make_interval(days => \(Self.retention)::integer)
                """
            ).map { TenantID(try $0.decode(at: 0)) }
        }
        var deleted = 0
        for tenant in tenants {
            deleted += try await pool.prune(
                tenant, batch: Self.batch,
                """
                DELETE FROM doorstep.api_keys WHERE tenant_id = \(tenant.uuid) AND key_id IN (
                    SELECT key_id FROM doorstep.api_keys
                    WHERE tenant_id = \(tenant.uuid)
                        AND revoked_at < now() - make_interval(days => \(Self.retention)::integer)
                    ORDER BY revoked_at LIMIT \(Self.batch))
                """)
        }
        return deleted
    }
}
