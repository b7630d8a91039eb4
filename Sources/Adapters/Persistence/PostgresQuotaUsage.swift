import Foundation
public import PostgreSQL
public import Tenancy

/// Reads the usage of tenants' quotas, as `doorstep_router`.
public struct PostgresQuotaUsage: Sendable {
    private let pool: ConnectionPool

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    /// The used part of a quota. It exceeds 1 if the quota was lowered.
    public struct Share: Sendable {
        public struct Quota: Sendable, Hashable {
            public let tenant: TenantID
            public let kind: QuotaKind
            public let unit: QuotaForecast.Unit
        }

        public let quota: Quota
        public let used: Double
    }

    /// The fullest quotas of all tenants, up to `limit`.
    public func fullest(limit: Int) async throws -> [Share] {
        try await pool.withTransaction(as: .router) { transaction in
            try await transaction.execute(
                """
                SELECT u.tenant_id, u.kind, a.unit, a.used / a.maximum::double precision
                FROM doorstep.tenant_usage u
                    JOIN doorstep.tenants t USING (tenant_id) JOIN doorstep.quota_defaults d ON d.kind = u.kind
                    LEFT JOIN (
                        SELECT tenant_id, kind, sum(row_count) AS row_count FROM doorstep.row_counts
                        GROUP BY tenant_id, kind) AS c ON c.tenant_id = u.tenant_id AND c.kind = u.kind,
                LATERAL (VALUES
                    ('rows', coalesce(c.row_count, u.row_count), coalesce((t.quotas -> u.kind ->> 'rows')::bigint, d.maximum_rows)),
                    ('bytes', u.byte_count, coalesce((t.quotas -> u.kind ->> 'bytes')::bigint, d.maximum_bytes))
                ) AS a (unit, used, maximum)
                WHERE a.used > 0 AND a.maximum > 0
                ORDER BY 4 DESC, u.tenant_id, u.kind, a.unit LIMIT \(limit)
                """
            ).compactMap { row in
                let (tenant, kind, unit, used) = try row.decode(
                    UUID.self, String.self, String.self, Double.self)
                guard let kind = QuotaKind(rawValue: kind), let unit = QuotaForecast.Unit(rawValue: unit)
                else {
                    return nil
                }
                return Share(
                    quota: Share.Quota(tenant: TenantID(tenant), kind: kind, unit: unit), used: used)
            }
        }
    }
}
