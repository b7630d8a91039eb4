import Foundation
public import PostgreSQL
public import Tenancy

/// How much of their quotas tenants use, read as `doorstep_router`.
public struct PostgresQuotaUsage: Sendable {
    private let pool: ConnectionPool

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    /// The part of a quota that is used; above 1 after the quota was lowered.
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
                SELECT t.tenant_id, q.kind, a.unit, a.used / a.maximum::double precision
                FROM doorstep.tenants t, doorstep.tenant_quotas(t.tenant_id) q, LATERAL (VALUES
                    ('rows', q.row_count, q.maximum_rows), ('bytes', q.byte_count, q.maximum_bytes)
                ) AS a (unit, used, maximum)
                WHERE a.used > 0 AND a.maximum > 0
                ORDER BY 4 DESC, t.tenant_id, q.kind, a.unit LIMIT \(limit)
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
