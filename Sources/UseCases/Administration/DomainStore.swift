public import Tenancy

/// Stores claims, and the results of their verification.
public protocol DomainStore: Sendable {
    /// All claims, sorted by name.
    func domains(of tenant: TenantID) async throws -> [DomainRecord]

    /// - Throws: `AdministrationError.unknownDomain`.
    func domain(_ name: DomainName, of tenant: TenantID) async throws -> DomainRecord

    /// Replaces a claim by the closure's result. No other change of the claim happens in between.
    /// - Throws: `AdministrationError.unknownDomain`; `domainTaken` if another tenant has proved the domain.
    func changeDomain(
        _ name: DomainName, of tenant: TenantID, _ make: @Sendable (DomainRecord) throws -> DomainRecord
    ) async throws -> CatalogueChange<DomainRecord>
}

/// One tenant's domains, for a key.
public struct ManagedDomains: DomainStore {
    private let store: any CatalogueStore<DomainRecord>
    private let actor: String

    /// - Parameter actor: The actor in the audit log.
    public init(_ store: any CatalogueStore<DomainRecord>, by actor: String) {
        self.store = store
        self.actor = actor
    }

    public func domains(of tenant: TenantID) async throws -> [DomainRecord] {
        try await store.items(of: tenant, after: nil, limit: .max, where: [:])
    }

    public func domain(_ name: DomainName, of tenant: TenantID) async throws -> DomainRecord {
        guard let record = try await store.item(name, of: tenant) else {
            throw AdministrationError.unknownDomain(name)
        }
        return record
    }

    public func changeDomain(
        _ name: DomainName, of tenant: TenantID, _ make: @Sendable (DomainRecord) throws -> DomainRecord
    ) async throws -> CatalogueChange<DomainRecord> {
        try await store.change(name, of: tenant, by: actor) { record in
            guard let record else { throw AdministrationError.unknownDomain(name) }
            return try make(record)
        }
    }
}
