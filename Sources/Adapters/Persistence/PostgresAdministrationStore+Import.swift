import Administration
import PostgreSQL
import Tenancy

/// How the rows of one kind get from a file into their table: by COPY into a temporary table, where SQL finds what a
/// row alone does not show, then by one statement into the table.
protocol Staging: Sendable {
    associatedtype Row: Sendable
    /// Creates `pg_temp.staged`, whose first column is the row's `line`.
    static var table: Query { get }
    /// The columns after `line`, as COPY's text format takes them.
    func fields(of row: Row) -> [String?]
    /// Each gives line and reason of rows that cannot be merged, by line.
    func problems(of tenant: TenantID) -> [Query]
    /// Adds and changes rows, and gives how many were added and how many changed.
    func merge(into tenant: TenantID) -> Query
}

extension PostgresAdministrationStore {
    /// Imports all rows or none.
    ///
    /// A tenant's imports wait for each other: the second sees what the first has done.
    /// - Throws: `AdministrationError.tenantDeleted` when the tenant was deleted before its turn came.
    func importTable<Table: Staging>(
        of tenant: TenantID, _ staging: Table,
        _ rows: some AsyncSequence<ImportedRow<Table.Row>, any Error>
    ) async throws -> ImportOutcome {
        do {
            return .done(
                try await writeMuch(tenant) { transaction in
                    try await transaction.waitForImports()
                    guard try await transaction.tenant() != nil else {
                        throw AdministrationError.tenantDeleted
                    }
                    var rows = rows.makeAsyncIterator()
                    let (count, problems) = try await transaction.stage(staging) { try await rows.next() }
                    // Thrown, so that the transaction is rolled back; it had changed nothing that lasts.
                    guard problems.isEmpty else { throw ImportRefused(problems: problems) }
                    return try await transaction.merge(staging, count)
                })
        } catch let refusal as ImportRefused {
            return .refused(refusal.problems)
        }
    }
}

extension TenantTransaction {
    /// Waits until no import of the tenant is under way, nor its deletion, and lets none begin before the end.
    func waitForImports() async throws {
        // Not a lock of the tenant's row: a tenant can be suspended while an import is under way.
        try await execute("SELECT pg_advisory_xact_lock(hashtextextended(\("import \(tenant)"), 0))")
    }

    /// Copies rows into `pg_temp.staged`.
    /// - Parameter next: the next row, until there is none.
    /// - Returns: How many rows there are, and what is wrong with them or those that were refused before.
    func stage<Table: Staging>(
        _ staging: Table, _ next: () async throws -> ImportedRow<Table.Row>?
    ) async throws -> (count: Int, problems: ImportProblems) {
        try await execute(Table.table)
        var problems = ImportProblems()
        let count = try await copyIn("COPY pg_temp.staged FROM STDIN") { writer in
            while let row = try await next() {
                switch row {
                case .row(let row, let line):
                    try await writer.writeRow([String(line)] + staging.fields(of: row))
                case .refused(let problem): problems.add(problem)
                }
            }
        }
        try await execute("ANALYZE pg_temp.staged")
        // A row is refused once, for the first reason found.
        var refusedLines: Set<Int> = []
        for query in staging.problems(of: tenant) {
            for row in try await execute(query) {
                let (line, reason) = try row.decode(Int.self, String.self)
                if refusedLines.insert(line).inserted { problems.add(line: line, reason) }
            }
        }
        return (count, problems)
    }

    /// Adds and changes rows as they are in `pg_temp.staged`, which are `count`.
    func merge(_ staging: some Staging, _ count: Int) async throws -> ImportCounts {
        let (added, changed) = try await execute(staging.merge(into: tenant)).one()
            .decode(Int.self, Int.self)
        return ImportCounts(added: added, changed: changed, unchanged: count - added - changed)
    }
}

struct ImportRefused: Error {
    let problems: ImportProblems
}
