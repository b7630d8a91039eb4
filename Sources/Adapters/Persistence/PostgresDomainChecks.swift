public import Administration
import Foundation
public import PostgreSQL
public import Tenancy

/// Schedules the checks of proofs, so that one of several servers makes each check.
public struct PostgresDomainChecks: Sendable {
    private let pool: ConnectionPool

    /// The role is `doorstep_app`. Due proofs are read as `doorstep_router`.
    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    /// A proof whose check is due, or a domain without a time for its first check.
    public struct Due: Sendable {
        public let tenant: TenantID
        public let name: DomainName
        /// False for a claim that contests the domain of another tenant.
        public let isProved: Bool
        /// False if the domain has no time for its first check yet.
        public let isScheduled: Bool
        public let rivalry: DomainVerification.Rivalry
        /// The time since when another tenant's claim contests the domain.
        let contestedAt: Date?
        /// Whether the last check did not know of this contest.
        public let isUrgent: Bool
    }

    /// Due checks, urgent ones first. They concern proved and lapsed domains, and claims that contest such a domain, also of
    /// suspended tenants.
    /// - Parameter isDaily: False to check contested domains only.
    public func due(limit: Int, isDaily: Bool = true) async throws -> [Due] {
        try await pool.withTransaction(as: .router) { transaction in
            try await transaction.execute(
                """
                WITH rivals AS (
                    SELECT host, max(contested_at) AS contested_at, max(checked_at) AS proved_at
                    FROM doorstep.domains WHERE contested_at IS NOT NULL AND proved_at IS NULL GROUP BY host)
                SELECT d.tenant_id, d.host, d.proved_at IS NOT NULL, c.due_at IS NOT NULL, r.proved_at,
                    r.contested_at, u.is_urgent
                FROM doorstep.domains d
                LEFT JOIN doorstep.domain_checks c USING (tenant_id, host)
                LEFT JOIN rivals r ON r.host = d.host AND d.proved_at IS NOT NULL,
                LATERAL (SELECT r.contested_at IS NOT NULL AND r.contested_at IS DISTINCT FROM c.contested_at) u (is_urgent)
                WHERE (d.proved_at IS NOT NULL OR d.contested_at IS NOT NULL)
                    AND (u.is_urgent
                        OR (\(isDaily)::boolean OR d.contested_at IS NOT NULL)
                            AND coalesce(c.due_at, '-infinity') <= now())
                ORDER BY u.is_urgent DESC, CASE WHEN u.is_urgent THEN r.contested_at END, c.due_at NULLS LAST
                LIMIT \(limit)
                """
            ).compactMap { row in
                let (tenant, host, isProved, isScheduled, provedAt, contestedAt, isUrgent) = try row.decode(
                    UUID.self, String.self, Bool.self, Bool.self, Date?.self, Date?.self, Bool.self)
                // An unreadable row does not block other rows.
                guard let name = try? DomainName(host) else { return nil }
                return Due(
                    tenant: TenantID(tenant), name: name, isProved: isProved, isScheduled: isScheduled,
                    rivalry: provedAt.map { .proved(at: $0) } ?? .none, contestedAt: contestedAt,
                    isUrgent: isUrgent)
            }
        }
    }

    /// Sets the time of a domain's first check, unless another server has set it.
    public func schedule(_ due: Due, after delay: Duration) async throws {
        try await write(due.tenant) { transaction in
            _ = try await transaction.execute(
                """
                INSERT INTO doorstep.domain_checks (tenant_id, host, due_at)
                SELECT tenant_id, host, now() + make_interval(secs => \(delay / .seconds(1)))
                FROM doorstep.domains WHERE tenant_id = \(due.tenant.uuid) AND host = \(due.name.text)
                ON CONFLICT (tenant_id, host) DO NOTHING
                """)
        }
    }

    /// Claims a check, so that no other server makes it. The lease limits the claim, in case this server ends before the check. If a
    /// contest begins during a check, another check is due.
    /// - Returns: False if another server was quicker.
    public func claim(_ due: Due, for lease: Duration) async throws -> Bool {
        try await write(due.tenant) { transaction in
            try await transaction.execute(
                """
                INSERT INTO doorstep.domain_checks (tenant_id, host, due_at, began_at, contested_at)
                SELECT tenant_id, host, now() + make_interval(secs => \(lease / .seconds(1))), now(),
                    \(due.contestedAt)::timestamptz
                FROM doorstep.domains WHERE tenant_id = \(due.tenant.uuid) AND host = \(due.name.text)
                ON CONFLICT (tenant_id, host) DO UPDATE
                SET due_at = excluded.due_at, began_at = excluded.began_at, contested_at = excluded.contested_at
                WHERE domain_checks.due_at <= now() OR excluded.contested_at IS NOT NULL
                    AND excluded.contested_at IS DISTINCT FROM domain_checks.contested_at
                """
            ).affectedRows == 1
        }
    }

    /// Sets the time of the next check.
    public func reschedule(
        _ name: DomainName, of tenant: TenantID, after delay: Duration
    ) async throws {
        try await write(tenant) { transaction in
            _ = try await transaction.execute(
                """
                UPDATE doorstep.domain_checks SET due_at = now() + make_interval(secs => \(delay / .seconds(1)))
                WHERE tenant_id = \(tenant.uuid) AND host = \(name.text)
                """)
        }
    }

    private func write<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        try await pool.withTenantTransaction(tenant, as: .app, .readWrite, body)
    }
}
