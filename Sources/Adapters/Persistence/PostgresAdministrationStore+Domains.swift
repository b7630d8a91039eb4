public import Administration
import AppSiteAssociation
import JSON
import Lookups
import PostgreSQL
public import Tenancy

extension PostgresAdministrationStore: DomainStore {
    private var managed: ManagedDomains { ManagedDomains(items.domains, by: actor) }

    public func domains(of tenant: TenantID) async throws -> [DomainRecord] {
        try await read(tenant) { try await $0.domains() }
    }

    public func domain(_ name: DomainName, of tenant: TenantID) async throws -> DomainRecord {
        try await managed.domain(name, of: tenant)
    }

    public func changeDomain(
        _ name: DomainName, of tenant: TenantID, _ make: @Sendable (DomainRecord) throws -> DomainRecord
    ) async throws -> CatalogueChange<DomainRecord> {
        try await managed.changeDomain(name, of: tenant, make)
    }
}

extension TenantTransaction {
    /// All claims, sorted by name.
    func domains() async throws -> [DomainRecord] {
        try await items(after: nil, limit: .max)
    }
}

extension AssociationContent {
    var jsonText: JSONText { JSONText(JSONValue.object(json).text) }
}

extension DomainRecord: StoredResource {
    static let relation = "domains"
    static let furtherColumns = ["challenge"]

    /// Special: a new claim without results of checks.
    func insertion(into tenant: TenantID) -> Query {
        """
        INSERT INTO doorstep.domains (tenant_id, host, challenge, claimed_at, content, pages)
        VALUES (\(tenant.uuid), \(name.text), \(challenge), \(claimedAt), \(content?.jsonText), \(pages.rawValue))
        ON CONFLICT (tenant_id, host) DO NOTHING
        """
    }

    /// Special: neither the challenge nor the time of the claim changes.
    func update(of tenant: TenantID) -> Query {
        """
        UPDATE doorstep.domains
        SET proved_at = \(proof?.provedAt), method = \(proof?.method.rawValue), checked_at = \(checkedAt),
            lapsed_at = \(lapsedAt), contested_at = \(contestedAt), content = \(content?.jsonText), pages = \(pages.rawValue)
        WHERE tenant_id = \(tenant.uuid) AND host = \(name.text)
        """
    }

    func refusal(_ error: PostgreSQLError) -> any Error {
        error.isUniqueViolation("domains_proved_host") ? AdministrationError.domainTaken(name) : error
    }

    func check(
        replacing before: DomainRecord?, force: Bool, _ transaction: TenantTransaction
    ) async throws {
        guard let content, content != before?.content else { return }
        try content.check(against: Set(try await transaction.clips().map(\.appID)))
    }
}
