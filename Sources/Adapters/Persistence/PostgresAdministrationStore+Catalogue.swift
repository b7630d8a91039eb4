public import Administration
import Formats
import Foundation
import Invocation
import Lookups
import PostgreSQL
public import Tenancy

// Reads, imports and deletes a whole tenant.

extension PostgresAdministrationStore {
    /// Runs the closure with a reader that sees all data of a tenant in one snapshot.
    public func withCatalogue<Result: Sendable>(
        of slug: TenantSlug, _ body: (any CatalogueReader) async throws -> Result
    ) async throws -> Result {
        let id = try await tenant(slug).id
        // The timeout covers a whole export.
        let snapshot = TransactionMode(
            isolation: .repeatableRead, isReadOnly: true, statementTimeout: Self.longTimeout)
        return try await read(id, snapshot) { transaction in
            // Reads the tenant again, because the results must be from one snapshot.
            guard let tenant = try await transaction.tenant() else {
                throw AdministrationError.unknownTenant(slug)
            }
            return try await body(PostgresCatalogueReader(transaction, tenant))
        }
    }

    /// Deletes a tenant and all its data, except the audit log. Each deleted row is an entry in the audit log.
    ///
    /// Waits for running imports. An import that begins in the meantime throws `AdministrationError.tenantDeleted`.
    /// - Returns: The number of deleted rows, by relation.
    public func deleteTenant(_ slug: TenantSlug) async throws -> [RowCount] {
        let id = try await tenant(slug).id
        return try await write(id, within: Self.longTimeout) { transaction in
            try await transaction.waitForImports()
            // A transaction that adds a row locks the tenant. A later one finds that the tenant no longer exists.
            let rows = try await transaction.execute(
                "SELECT FROM doorstep.tenants WHERE tenant_id = \(id.uuid) FOR UPDATE")
            guard rows.count == 1 else { throw AdministrationError.unknownTenant(slug) }
            var counts: [RowCount] = []
            for relation in Self.relations {
                // The condition is true for every row. The indexes that begin with the tenant need it. Without it, each day would
                // be read completely.
                let condition =
                    switch relation {
                    case "deliveries": "AND token_kind <> ''"
                    case "notifications": "AND push_type <> ''"
                    default: ""
                    }
                let deleted = try await transaction.execute(
                    """
                    DELETE FROM doorstep.\(identifier: relation)
                    WHERE tenant_id = \(id.uuid) \(unsafeSQL: condition)
                    """)
                counts.append(RowCount(relation: relation, count: deleted.affectedRows))
            }
            return counts
        }
    }

    /// The relations with a tenant's rows, dependents first. The audit log stays, because it records the deletion. The log of
    /// changes expires within about an hour.
    static let relations =
        ["experiences"] + plainCollections.reversed().map { $0.relation } + [
            "locations", "domains", "push_tokens", "launches", "instances",
            "channels", "audience_cursors", "deliveries", "notifications", "idempotency_keys",
            "webhook_messages",
            "webhooks", "app_store_check_rows", "app_store_checks", "app_store_connections",
            "app_store_experiences", "app_store_removals",
            "app_store_refusals", "app_store_images", "app_store_runs", "app_store_budget",
            "revoked_attest_keys",
            "clips", "card_image_bytes",
            "card_images", "api_keys", "confirmations", "tenants",
        ]
}

extension PostgresAdministrationStore {
    /// Creates a tenant from an archive: the whole tenant, or nothing.
    ///
    /// - Parameters:
    ///   - slug: Another slug; nil for the archive's slug.
    ///   - keepsID: Whether the tenant gets the archive's ID, and therefore the same key for signed locations and the same audience
    ///     of receipts. Otherwise it gets a new ID.
    /// - Throws: `AdministrationError.tenantIDTaken` if another tenant has the ID.
    public func createTenant(
        from archive: TenantArchiveReader, slug: TenantSlug?, keepsID: Bool
    ) async throws -> ArchiveOutcome {
        var archive = archive
        let archived = try archive.readTenant()
        let slug = slug ?? archived.slug
        let id = keepsID ? archived.id : TenantID(UUID())
        do {
            return try await write(id, within: Self.longTimeout) { transaction in
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.tenants
                        (tenant_id, slug, name, is_test, suspended_at, key_rate, key_burst, client_rate, client_burst,
                        new_instance_rate, new_instance_burst, client_new_instance_rate, client_new_instance_burst, quotas,
                        cors_origins)
                    VALUES (\(id.uuid), \(slug.text), \(archived.name.text), \(archived.isTest),
                        CASE WHEN \(archived.isSuspended) THEN now() END,
                        \(archived.limits.key?.perSecond), \(archived.limits.key?.burst),
                        \(archived.limits.client?.perSecond), \(archived.limits.client?.burst),
                        \(archived.limits.newInstances?.perSecond), \(archived.limits.newInstances?.burst),
                        \(archived.limits.clientNewInstances?.perSecond),
                        \(archived.limits.clientNewInstances?.burst),
                        \(JSONValue.object(archived.quotas.json).text)::jsonb,
                        \(archived.corsOrigins.map(\.text)))
                    """)
                var load = ArchiveLoad(transaction: transaction, archive: archive)
                let counts = try await load.run()
                guard let tenant = try await transaction.tenant() else {
                    throw AdministrationError.tenantDeleted
                }
                return .done(tenant, counts)
            }
        } catch let refusal as ImportRefused {
            return .refused(refusal.problems)
        } catch let error as PostgreSQLError where error.isUniqueViolation("tenants_slug_key") {
            throw AdministrationError.tenantExists(slug)
        } catch let error as PostgreSQLError where error.isUniqueViolation("tenants_pkey") {
            throw AdministrationError.tenantIDTaken(id)
        }
    }
}

/// Writes the rows of an archive into their tables, kind by kind.
private struct ArchiveLoad {
    let transaction: TenantTransaction
    var archive: TenantArchiveReader
    private var counts: [RowCount] = []

    init(transaction: TenantTransaction, archive: TenantArchiveReader) {
        self.transaction = transaction
        self.archive = archive
    }

    /// - Throws: `ImportRefused` with all errors.
    mutating func run() async throws -> [RowCount] {
        try await addImages()
        try await addClips()
        try await addDomains()
        for kind in PostgresAdministrationStore.collections { try await load(kind) }
        try refuse()
        return counts
    }

    private mutating func addImages() async throws {
        var count = 0
        while let (archived, line) = try archive.next(\.image) {
            do {
                let image = try CardImage(file: archived.file, addedAt: Date())
                if try await !transaction.add(image) {
                    archive.problems.add(line: line, "file: an earlier line has it already")
                }
            } catch let error as AdministrationError {
                archive.problems.add(line: line, "file: \(error)")
            }
            count += 1
        }
        // If images were refused, stops here. Items with these images have no error of their own.
        if !archive.problems.isEmpty { try refuse() }
        counts.append(RowCount(relation: "card_images", count: count))
    }

    private mutating func addClips() async throws {
        var count = 0
        while let (clip, _) = try archive.next(\.clip) {
            guard try await transaction.add(clip) else { throw AdministrationError.clipExists(clip.bundleID) }
            count += 1
        }
        counts.append(RowCount(relation: "clips", count: count))
    }

    /// Adds claims, which must be proved again at this deployment.
    private mutating func addDomains() async throws {
        var count = 0
        while let (domain, _) = try archive.next(\.domain) {
            try await transaction.execute(
                """
                INSERT INTO doorstep.domains (tenant_id, host, challenge, content, pages)
                VALUES (\(transaction.tenant.uuid), \(domain.name.text),
                    \(DomainRecord.makeChallenge()), \(domain.content?.jsonText),
                    \(domain.pages.rawValue))
                """)
            count += 1
        }
        counts.append(RowCount(relation: "domains", count: count))
    }

    private mutating func load<Item: ImportedResource>(_: Item.Type) async throws {
        var archive = archive
        let (count, _) = try await transaction.copy(Item.self) {
            try archive.next { $0.item(Item.self) }.map { ImportedRow.row($0.value, line: $0.line) }
        }
        archive.problems.add(try await transaction.problems(Item.self))
        self.archive = archive
        // A row that refers to a refused row has no error of its own, and is not looked up in the database.
        if !archive.problems.isEmpty { return try refuse() }
        try await transaction.merge(Item.self, count)
        try await transaction.execute("DROP TABLE pg_temp.staged, pg_temp.refused, pg_temp.cleared")
        counts.append(RowCount(relation: Item.relation, count: count))
    }

    /// Reads the archive to its end, and refuses it if there are errors.
    private mutating func refuse() throws {
        try archive.readRest()
        guard archive.problems.isEmpty else { throw ImportRefused(problems: archive.problems) }
    }
}
