import Formats
public import Foundation
public import PostgreSQL
import Tenancy

/// Deletes refused requests after a week.
///
/// Several servers can do this at once. `doorstep_router` finds the tenants with rows to delete; `doorstep_app` deletes them in
/// transactions of each tenant.
public struct RefusedRequestRetention: Sendable {
    private let pool: ConnectionPool

    /// The number of days after which a request is deleted. [ours]
    public static let retention = 7
    /// The maximum number of rows that one transaction deletes.
    private static let batch = 1_000

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    /// - Returns: The number of deleted rows.
    public func maintain(at now: Date = Date()) async throws -> Int {
        let oldest = UUID.timeOrderedRange(at: now.addingTimeInterval(-86_400 * Double(Self.retention))).first
        let tenants = try await pool.withTransaction(as: .router) { transaction in
            try await transaction.execute(
                """
                SELECT t.tenant_id FROM doorstep.tenants AS t
                WHERE (SELECT entry_id FROM doorstep.refused_requests AS r WHERE r.tenant_id = t.tenant_id
                    ORDER BY entry_id LIMIT 1) < \(oldest)
                """
            ).map { TenantID(try $0.decode(at: 0)) }
        }
        var deleted = 0
        for tenant in tenants {
            deleted += try await pool.prune(
                tenant, batch: Self.batch,
                """
                DELETE FROM doorstep.refused_requests
                WHERE tenant_id = \(tenant.uuid) AND entry_id IN (
                    SELECT entry_id FROM doorstep.refused_requests
                    WHERE tenant_id = \(tenant.uuid) AND entry_id < \(oldest) ORDER BY entry_id LIMIT \(Self.batch))
                """)
        }
        return deleted
    }
}
