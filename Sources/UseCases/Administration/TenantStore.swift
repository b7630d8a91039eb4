public import Tenancy

/// Where tenants are kept, for those who manage one.
public protocol TenantStore: Sendable {
    /// - Throws: `AdministrationError.tenantDeleted`.
    func tenant(_ id: TenantID) async throws -> Tenant

    /// Makes of a tenant what the closure makes of it; nobody else changes it in between.
    ///
    /// What is the operator's to change stays as it is.
    /// - Parameter actor: who the audit log says did it.
    /// - Throws: `AdministrationError.tenantDeleted`.
    func change(
        _ id: TenantID, by actor: String, _ make: @Sendable (Tenant) throws -> Tenant
    ) async throws -> CatalogueChange<Tenant>
}
