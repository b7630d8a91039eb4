public import PostgreSQL
public import Tenancy

/// Changes which notifications of a tenant collapse into one, as `doorstep_admin`.
public struct PostgresCollapsePolicies: Sendable {
    private let pool: ConnectionPool
    private let actor: String

    /// - Parameter actor: Who the audit log says made a change.
    public init(_ pool: ConnectionPool, actor: String) {
        self.pool = pool
        self.actor = actor
    }

    /// Holds for what is sent from now on.
    public func set(_ policy: CollapsePolicy, of tenant: TenantID) async throws {
        try await pool.withTenantTransaction(tenant, as: .admin, actor: actor) { transaction in
            _ = try await transaction.execute(
                """
                UPDATE doorstep.tenants SET collapse_policy = \(policy.rawValue)
                WHERE tenant_id = \(tenant.uuid)
                """)
        }
    }
}
