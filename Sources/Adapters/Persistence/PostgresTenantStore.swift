import Administration
import Invocation
import PostgreSQL
import Tenancy

/// Reads and changes one tenant at a time, for keys and for operators.
struct PostgresTenantStore: TenantStore {
    let store: PostgresAdministrationStore

    func tenant(_ id: TenantID) async throws -> Tenant {
        try await store.read(id) { transaction in
            guard let tenant = try await transaction.tenant() else { throw AdministrationError.tenantDeleted }
            return tenant
        }
    }

    func change(
        _ id: TenantID, by actor: String, _ make: @Sendable (Tenant) throws -> Tenant
    ) async throws -> CatalogueChange<Tenant> {
        let ((before, after), isVisible) = try await store.writeUntilVisible(id, by: actor) {
            (transaction) async throws -> (Tenant, Tenant) in
            guard let before = try await transaction.tenant(lock: "FOR NO KEY UPDATE") else {
                throw AdministrationError.tenantDeleted
            }
            let after = try make(before)
            if after != before {
                try await transaction.execute(
                    """
                    UPDATE doorstep.tenants
                    SET name = \(after.name.text), collapse_policy = \(after.collapsePolicy.rawValue),
                        cors_origins = \(after.corsOrigins.map(\.text))
                    WHERE tenant_id = \(id.uuid)
                    """)
            }
            return (before, after)
        }
        return CatalogueChange(before: before, after: after, isVisible: isVisible)
    }
}
