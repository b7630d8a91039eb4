public import Tenancy

/// Stores tenants, for management.
public protocol TenantStore: Sendable {
    /// - Throws: `AdministrationError.tenantDeleted`.
    func tenant(_ id: TenantID) async throws -> Tenant

    /// Replaces a tenant by the closure's result. No other change of the tenant happens in between.
    ///
    /// Members that only operators may change keep their values.
    /// - Parameter actor: The actor in the audit log.
    /// - Throws: `AdministrationError.tenantDeleted`.
    func change(
        _ id: TenantID, by actor: String, _ make: @Sendable (Tenant) throws -> Tenant
    ) async throws -> CatalogueChange<Tenant>
}
