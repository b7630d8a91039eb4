public import Administration
import Cards
import Invocation
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

extension ShortCode: StoredItem {
    static func page(
        of tenant: TenantID, after: String?, limit: Int, where filter: [String: String]
    ) -> Query {
        """
        SELECT code, url FROM doorstep.short_codes
        WHERE tenant_id = \(tenant.uuid) AND code > \(after ?? "")
        ORDER BY code LIMIT \(limit)
        """
    }

    static func selection(_ code: String, of tenant: TenantID, lock: String) -> Query {
        """
        SELECT code, url FROM doorstep.short_codes
        WHERE tenant_id = \(tenant.uuid) AND code = \(code) \(unsafeSQL: lock)
        """
    }

    func insertion(into tenant: TenantID) -> Query {
        """
        INSERT INTO doorstep.short_codes (tenant_id, code, url)
        VALUES (\(tenant.uuid), \(code), \(url.canonical))
        ON CONFLICT (tenant_id, code) DO NOTHING
        """
    }

    func update(of tenant: TenantID) -> Query {
        """
        UPDATE doorstep.short_codes SET url = \(url.canonical)
        WHERE tenant_id = \(tenant.uuid) AND code = \(code)
        """
    }

    static func delete(
        _ code: String, cascade: Bool, _ transaction: TenantTransaction
    ) async throws -> [RowCount] {
        [
            RowCount(
                relation: "short_codes",
                count: try await transaction.delete(from: "short_codes", where: "code", is: code))
        ]
    }

    /// Columns: code, url.
    init(row: Row) throws {
        let (code, url) = try row.decode(String.self, String.self)
        self = try PersistenceError.reading("short_codes") {
            try ShortCode(code: code, url: InvocationURL(url))
        }
    }
}

// MARK: - Import

extension ShortCode: StagedItem {
    static let relation = "short_codes"
    static let quota = QuotaKind.shortCodes
    static let keyColumns = ["code"]
    static let keyField = "code"
    static let changeableColumns = [StagedColumn("url", #"text COLLATE "C""#, .required)]

    static func key(from columns: [String]) throws -> String { columns.joined() }

    func fields(with card: Card?) -> [String?] { [code, url.canonical] }
}
