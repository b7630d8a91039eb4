import Administration
import Formats
import Invocation
import Lookups
import PostgreSQL
import Tenancy

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

    /// Differs from the default: a new claim has no results of checks.
    func insertion(into tenant: TenantID) -> Query {
        """
        INSERT INTO doorstep.domains (tenant_id, host, challenge, claimed_at, content, pages)
        VALUES (\(tenant.uuid), \(name.text), \(challenge), \(claimedAt), \(content?.jsonText), \(pages.rawValue))
        ON CONFLICT (tenant_id, host) DO NOTHING
        """
    }

    /// Differs from the default: the challenge and the time of the claim do not change.
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
