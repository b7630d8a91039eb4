public import Administration
import AppSiteAssociation
import Foundation
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
    /// By name.
    func domains() async throws -> [DomainRecord] {
        try await items(after: nil, limit: .max)
    }
}

extension AssociationContent {
    var jsonText: JSONText { JSONText(JSONValue.object(json).text) }
}

extension DomainRecord: StoredItem {
    static func page(
        of tenant: TenantID, after: DomainName?, limit: Int, where filter: [String: String]
    ) -> Query {
        """
        SELECT \(unsafeSQL: columns) FROM doorstep.domains
        WHERE tenant_id = \(tenant.uuid) AND host > \(after?.text ?? "")
        ORDER BY host LIMIT \(limit)
        """
    }

    static func selection(_ name: DomainName, of tenant: TenantID, lock: String) -> Query {
        """
        SELECT \(unsafeSQL: columns) FROM doorstep.domains
        WHERE tenant_id = \(tenant.uuid) AND host = \(name.text) \(unsafeSQL: lock)
        """
    }

    /// A new claim, which nothing is known of yet.
    func insertion(into tenant: TenantID) -> Query {
        """
        INSERT INTO doorstep.domains (tenant_id, host, challenge, claimed_at, content, pages)
        VALUES (\(tenant.uuid), \(name.text), \(challenge), \(claimedAt), \(content?.jsonText), \(pages.rawValue))
        ON CONFLICT (tenant_id, host) DO NOTHING
        """
    }

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

    static func delete(
        _ name: DomainName, cascade: Bool, _ transaction: TenantTransaction
    ) async throws -> [RowCount] {
        [
            RowCount(
                relation: "domains",
                count: try await transaction.delete(from: "domains", where: "host", is: name.text))
        ]
    }

    fileprivate static let columns =
        "host, challenge, claimed_at, proved_at, method, checked_at, lapsed_at, contested_at, content, pages"

    /// Takes ``columns``.
    init(row: Row) throws {
        let (host, challenge, claimedAt, provedAt, method, checkedAt, lapsedAt, contestedAt, content, pages) =
            try row.decode(
                String.self, String.self, Date.self, Date?.self, String?.self, Date?.self, Date?.self,
                Date?.self,
                JSONText?.self, String.self)
        let name = try PersistenceError.reading("domains") { try DomainName(host) }
        var proof: Proof?
        if let provedAt {
            guard let method = method.flatMap(ProofMethod.init) else {
                throw PersistenceError.unreadable("domains")
            }
            proof = Proof(method: method, provedAt: provedAt)
        }
        guard let pages = DomainPages(rawValue: pages) else { throw PersistenceError.unreadable("domains") }
        self.init(
            name: name, challenge: challenge, claimedAt: claimedAt, proof: proof, checkedAt: checkedAt,
            lapsedAt: lapsedAt, contestedAt: contestedAt,
            content: try PersistenceError.reading("domains") {
                try content.map { try AssociationContent(parsing: $0.text.utf8) }
            }, pages: pages)
    }
}
