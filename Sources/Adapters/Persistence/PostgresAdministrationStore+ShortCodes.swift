public import Administration
import Invocation
import PostgreSQL
public import Tenancy

extension PostgresAdministrationStore {
    public func importShortCodes(
        of tenant: TenantID, _ rows: some AsyncSequence<ImportedRow<ShortCode>, any Error>
    ) async throws -> ImportOutcome {
        try await importTable(of: tenant, ShortCodeStaging(), rows)
    }

    /// By code, up to `limit`.
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

    public func shortCode(_ code: String, of tenant: TenantID) async throws -> ShortCode {
        try await read(tenant) { transaction in
            let rows = try await transaction.execute(
                """
                SELECT code, url FROM doorstep.short_codes
                WHERE tenant_id = \(tenant.uuid) AND code = \(code)
                """)
            guard let row = rows.first else { throw AdministrationError.unknownShortCode(code) }
            return try ShortCode(row: row)
        }
    }

    public func createShortCode(_ code: ShortCode, of tenant: TenantID) async throws {
        do {
            try await write(tenant) { transaction in
                _ = try await transaction.execute(
                    """
                    INSERT INTO doorstep.short_codes (tenant_id, code, url)
                    VALUES (\(tenant.uuid), \(code.code), \(code.url.canonical))
                    """)
            }
        } catch let error as PostgreSQLError where error.isUniqueViolation("short_codes_pkey") {
            throw AdministrationError.shortCodeExists(code.code)
        }
    }

    /// Has a code that is there stand for another URL.
    public func updateShortCode(_ code: ShortCode, of tenant: TenantID) async throws {
        try await write(tenant) { transaction in
            let updated = try await transaction.execute(
                """
                UPDATE doorstep.short_codes SET url = \(code.url.canonical)
                WHERE tenant_id = \(tenant.uuid) AND code = \(code.code)
                """)
            guard updated.affectedRows == 1 else { throw AdministrationError.unknownShortCode(code.code) }
        }
    }

    public func deleteShortCode(_ code: String, of tenant: TenantID) async throws {
        try await write(tenant) { transaction in
            guard try await transaction.delete(from: "short_codes", where: "code", is: code) == 1 else {
                throw AdministrationError.unknownShortCode(code)
            }
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
