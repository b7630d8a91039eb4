public import Administration
import Cards
public import Invocation
import PostgreSQL
public import Tenancy

extension PostgresAdministrationStore {
    public func importLocations(
        of tenant: TenantID, _ rows: some AsyncSequence<ImportedRow<LocationRecord>, any Error>,
        _ options: ImportOptions = ImportOptions()
    ) async throws -> ImportOutcome {
        try await importRows(of: tenant, rows, options)
    }
}

extension LocationRecord: ImportedResource {
    static let relation = "locations"
    static let quota = QuotaKind.locations

    static func problems(of tenant: TenantID, prunes: Bool) -> [Query] {
        [longDetails(of: tenant), Card.unknownImages(of: tenant)]
    }

    func refusal(_ error: PostgreSQLError) -> any Error {
        card.refusal(error, in: Self.relation) ?? error
    }

    static func delete(
        _ identifier: LocationIdentifier, cascade: Bool, _ transaction: TenantTransaction
    ) async throws -> [RowCount] {
        try await transaction.delete(
            "location '\(identifier)'", from: relation, where: "identifier", is: identifier.text,
            dependents: dependents, cascade: cascade)
    }
}

// MARK: - History

extension PostgresAdministrationStore {
    /// The newest changes of a location, at most `limit`. The location may be deleted.
    /// - Parameter newest: Searches only this number of the tenant's newest changes. Nil searches all, which may take long.
    public func history(
        of identifier: LocationIdentifier, of tenant: TenantID, limit: Int, among newest: Int? = nil
    ) async throws -> [AuditEntry] {
        try await read(tenant) { transaction in
            // No index contains the identifiers, because it would make every import slower.
            try await transaction.execute(
                """
                SELECT \(unsafeSQL: AuditEntry.columns) FROM (
                    SELECT * FROM doorstep.audit_log WHERE tenant_id = \(tenant.uuid)
                    ORDER BY entry_id DESC LIMIT \(newest ?? .max)) AS newest
                WHERE relation = 'locations' AND coalesce(after, before) ->> 'identifier' = \(identifier.text)
                ORDER BY entry_id DESC LIMIT \(limit)
                """
            ).map { try AuditEntry(row: $0) }
        }
    }
}
