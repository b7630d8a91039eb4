public import Foundation
public import PostgreSQL
import Tenancy

/// Deletes old counts of lookups and launch reports.
///
/// Several servers can do this at once. `doorstep_router` finds the tenants with rows to delete; `doorstep_app` deletes them in
/// transactions of each tenant.
public struct LaunchRetention: Sendable {
    private let pool: ConnectionPool
    private let retention: Int

    /// The maximum number of rows that one transaction deletes, so that other transactions wait only briefly.
    private static let batch = 1_000

    /// - Parameter retention: The number of days for which counts are kept.
    public init(_ pool: ConnectionPool, retention: Int) {
        self.pool = pool
        self.retention = retention
    }

    /// - Returns: The number of deleted rows.
    public func maintain(at now: Date = Date()) async throws -> Int {
        let tenants = try await pool.withTransaction(as: .router) { transaction in
            try await transaction.execute(
                """
                SELECT t.tenant_id FROM doorstep.tenants AS t
                WHERE (SELECT min(day) FROM doorstep.launch_days AS d WHERE d.tenant_id = t.tenant_id)
                    < (\(now) AT TIME ZONE 'UTC')::date - \(retention)::integer
                """
            ).map { TenantID(try $0.decode(at: 0)) }
        }
        var deleted = 0
        for tenant in tenants {
            deleted += try await pool.prune(
                tenant, batch: Self.batch,
                """
                DELETE FROM doorstep.launch_days
                WHERE tenant_id = \(tenant.uuid)
                    AND (day, location_identifier, experience_url, source) IN (
                        SELECT day, location_identifier, experience_url, source FROM doorstep.launch_days
                        WHERE tenant_id = \(tenant.uuid)
                            AND day < (\(now) AT TIME ZONE 'UTC')::date - \(retention)::integer
                        ORDER BY day LIMIT \(Self.batch))
                """)
        }
        return deleted
    }
}
