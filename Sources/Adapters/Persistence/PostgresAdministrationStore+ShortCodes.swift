public import Administration
import PostgreSQL
public import Tenancy

extension PostgresAdministrationStore {
    public func importShortCodes(
        of tenant: TenantID, _ rows: some AsyncSequence<ImportedRow<ShortCode>, any Error>,
        _ options: ImportOptions = ImportOptions()
    ) async throws -> ImportOutcome {
        try await importRows(of: tenant, rows, options)
    }
}

extension ShortCode: ImportedResource {
    static let relation = "short_codes"
    static let quota = QuotaKind.shortCodes
}
