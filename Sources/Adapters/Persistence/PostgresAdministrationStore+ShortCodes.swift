public import Administration
import Invocation
import PostgreSQL
public import Tenancy

extension PostgresAdministrationStore {
    public func importShortCodes(
        of tenant: TenantID, _ feed: (any RowSink<ShortCode>) async throws -> ImportProblems
    ) async throws -> ImportOutcome {
        try await importTable(of: tenant, ShortCodeStaging(), feed)
    }

    public func shortCodes(of tenant: TenantID, after: String?, limit: Int) async throws -> [ShortCode] {
        try await read(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT code, url FROM doorstep.short_codes
                WHERE tenant_id = \(tenant.uuid) AND code > \(after ?? "")
                ORDER BY code LIMIT \(limit)
                """
            ).map { try ShortCode(row: $0) }
        }
    }
}

extension ShortCode {
    /// Columns: code, url.
    init(row: Row) throws {
        let (code, url) = try row.decode(String.self, String.self)
        self = try PersistenceError.reading("short_codes") {
            try ShortCode(code: code, url: InvocationURL(url))
        }
    }
}

/// How short codes are imported.
struct ShortCodeStaging: Staging {
    static let table: Query = """
        CREATE TEMPORARY TABLE staged (
            line bigint, code text COLLATE "C", url text COLLATE "C"
        ) ON COMMIT DROP
        """

    func fields(of row: ShortCode) -> [String?] {
        [row.code, row.url.canonical]
    }

    func problems(of tenant: TenantID) -> [Query] {
        [
            """
            SELECT line, 'code: it is on line ' || first || ' already' FROM (
                SELECT line, min(line) OVER (PARTITION BY code) AS first FROM pg_temp.staged
            ) repeated
            WHERE line > first ORDER BY line
            """
        ]
    }

    func merge(into tenant: TenantID) -> Query {
        """
        WITH merged AS (
        INSERT INTO doorstep.short_codes AS s (tenant_id, code, url)
        SELECT \(tenant.uuid), code, url FROM pg_temp.staged
        ON CONFLICT (tenant_id, code) DO UPDATE SET url = excluded.url
        WHERE s.url <> excluded.url
        RETURNING xmax = 0 AS is_new)
        SELECT count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE NOT is_new) FROM merged
        """
    }
}
