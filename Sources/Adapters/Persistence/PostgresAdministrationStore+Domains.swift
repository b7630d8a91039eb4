public import Administration
public import AppSiteAssociation
public import Foundation
import JSON
import PostgreSQL
public import Tenancy

extension PostgresAdministrationStore: DomainStore {
    /// Claims a domain; a claim that is there already stays as it is, with its challenge.
    public func claimDomain(
        _ name: DomainName, challenge: String, of tenant: TenantID
    ) async throws -> DomainRecord {
        try await write(tenant) { transaction in
            try await transaction.execute(
                """
                INSERT INTO doorstep.domains (tenant_id, host, challenge)
                VALUES (\(tenant.uuid), \(name.text), \(challenge)) ON CONFLICT (tenant_id, host) DO NOTHING
                """)
            return try await transaction.domain(name)
        }
    }

    public func domains(of tenant: TenantID) async throws -> [DomainRecord] {
        try await read(tenant) { try await $0.domains() }
    }

    public func domain(_ name: DomainName, of tenant: TenantID) async throws -> DomainRecord {
        try await read(tenant) { try await $0.domain(name) }
    }

    public func proveDomain(
        _ record: DomainRecord, by method: ProofMethod, at now: Date, of tenant: TenantID
    ) async throws -> DomainRecord {
        do {
            return try await write(tenant) { transaction in
                let rows = try await transaction.execute(
                    """
                    UPDATE doorstep.domains
                    SET proved_at = coalesce(proved_at, \(now)), method = \(method.rawValue), checked_at = \(now),
                        lapsed_at = NULL
                    WHERE tenant_id = \(tenant.uuid) AND host = \(record.name.text)
                        AND challenge = \(record.challenge)
                    RETURNING \(unsafeSQL: DomainRecord.columns)
                    """)
                guard let row = rows.first else { throw AdministrationError.unknownDomain(record.name) }
                return try DomainRecord(row: row)
            }
        } catch let error as PostgreSQLError where error.isUniqueViolation("domains_proved_host") {
            throw AdministrationError.domainTaken(record.name)
        }
    }

    public func lapseDomain(
        _ record: DomainRecord, at now: Date, of tenant: TenantID
    ) async throws -> DomainRecord {
        let withdrawnUntil = now.addingTimeInterval(-DomainRecord.grace)
        return try await write(tenant) { transaction in
            let rows = try await transaction.execute(
                """
                UPDATE doorstep.domains
                SET proved_at = CASE WHEN lapsed_at <= \(withdrawnUntil) THEN NULL ELSE proved_at END,
                    method = CASE WHEN lapsed_at <= \(withdrawnUntil) THEN NULL ELSE method END,
                    checked_at = \(now), lapsed_at = coalesce(lapsed_at, \(now))
                WHERE tenant_id = \(tenant.uuid) AND host = \(record.name.text)
                    AND challenge = \(record.challenge) AND proved_at IS NOT NULL
                RETURNING \(unsafeSQL: DomainRecord.columns)
                """)
            guard let row = rows.first else { throw AdministrationError.unknownDomain(record.name) }
            return try DomainRecord(row: row)
        }
    }

    /// Keeps what is merged into the domain's association file, in the place of what was kept; nil for nothing.
    /// - Throws: `unknownDomain`; `AssociationContentError.contradiction` for what names a clip of the tenant's as an app.
    public func setContent(
        _ content: AssociationContent?, ofDomain name: DomainName, of tenant: TenantID
    ) async throws -> DomainRecord {
        try await write(tenant) { transaction in
            if let content { try content.check(against: Set(try await transaction.clips().map(\.appID))) }
            let rows = try await transaction.execute(
                """
                UPDATE doorstep.domains SET content = \(content?.jsonText)
                WHERE tenant_id = \(tenant.uuid) AND host = \(name.text)
                RETURNING \(unsafeSQL: DomainRecord.columns)
                """)
            guard let row = rows.first else { throw AdministrationError.unknownDomain(name) }
            return try DomainRecord(row: row)
        }
    }

    public func releaseDomain(_ name: DomainName, of tenant: TenantID) async throws {
        try await write(tenant) { transaction in
            guard try await transaction.delete(from: "domains", where: "host", is: name.text) == 1 else {
                throw AdministrationError.unknownDomain(name)
            }
        }
    }
}

extension TenantTransaction {
    /// By name.
    func domains() async throws -> [DomainRecord] {
        try await execute(
            """
            SELECT \(unsafeSQL: DomainRecord.columns) FROM doorstep.domains
            WHERE tenant_id = \(tenant.uuid) ORDER BY host
            """
        ).map { try DomainRecord(row: $0) }
    }

    fileprivate func domain(_ name: DomainName) async throws -> DomainRecord {
        let rows = try await execute(
            """
            SELECT \(unsafeSQL: DomainRecord.columns) FROM doorstep.domains
            WHERE tenant_id = \(tenant.uuid) AND host = \(name.text)
            """)
        guard let row = rows.first else { throw AdministrationError.unknownDomain(name) }
        return try DomainRecord(row: row)
    }
}

extension AssociationContent {
    var jsonText: JSONText { JSONText(String(decoding: JSONValue.object(json).serialized(), as: UTF8.self)) }
}

extension DomainRecord {
    fileprivate static let columns =
        "host, challenge, claimed_at, proved_at, method, checked_at, lapsed_at, content"

    /// Takes ``columns``.
    fileprivate init(row: Row) throws {
        let (host, challenge, claimedAt, provedAt, method, checkedAt, lapsedAt, content) = try row.decode(
            String.self, String.self, Date.self, Date?.self, String?.self, Date?.self, Date?.self,
            JSONText?.self)
        let name = try PersistenceError.reading("domains") { try DomainName(host) }
        var proof: Proof?
        if let provedAt {
            guard let method = method.flatMap(ProofMethod.init) else {
                throw PersistenceError.unreadable("domains")
            }
            proof = Proof(method: method, provedAt: provedAt)
        }
        self.init(
            name: name, challenge: challenge, claimedAt: claimedAt, proof: proof, checkedAt: checkedAt,
            lapsedAt: lapsedAt,
            content: try PersistenceError.reading("domains") {
                try content.map { try AssociationContent(parsing: $0.text.utf8) }
            })
    }
}
