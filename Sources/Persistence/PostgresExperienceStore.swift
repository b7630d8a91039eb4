public import Invocation
public import Notifications
public import PostgreSQL
public import Tenancy

/// Tenants' experiences in PostgreSQL, read as `doorstep_app`.
public struct PostgresExperienceStore: ExperienceStore {
    private let pool: ConnectionPool

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    public func experiences(near url: InvocationURL, of tenant: TenantID) async throws -> [ClipExperience] {
        try await pool.withTenantTransaction(tenant, as: .app, .readOnly) { transaction in
            try await transaction.experiences(near: url)
        }
    }
}
