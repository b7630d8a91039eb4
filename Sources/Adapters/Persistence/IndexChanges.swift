import Foundation
import Lookups
import PostgreSQL
import Tenancy

/// The rows that changed between two snapshots.
struct IndexChanges {
    /// The changes of one tenant's catalogue.
    struct OfCatalogue {
        /// Relations with so many changed rows that all rows must be copied.
        var wholes: Set<IndexRelation> = []
        var rows = IndexKeys()
        /// The transactions that made the changes.
        var transactions: Set<UInt64> = []
    }

    /// Changed rows of all tenants, in relations that are not catalogues.
    private(set) var control = IndexKeys()
    /// Relations that are not catalogues, with the tenant whose rows must all be copied.
    private(set) var controlWholes: [(relation: IndexRelation, tenant: TenantID)] = []
    private(set) var catalogues: [TenantID: OfCatalogue] = [:]

    var isEmpty: Bool { control.isEmpty && controlWholes.isEmpty && catalogues.isEmpty }

    /// If more rows of one tenant's relation changed since the last follow, all rows are copied, in pages. [ours]
    static let mostRows = 10_000

    /// The rows that the transaction's snapshot sees and an earlier snapshot did not.
    ///
    /// Ignores changes whose transaction ID is in the future. They are from a dump of another server.
    init(_ transaction: Transaction, since snapshot: String) async throws {
        let changes = try await transaction.execute(
            """
            WITH c AS (
                SELECT relation, tenant_id, key, xid FROM doorstep.changes
                WHERE xid >= pg_snapshot_xmin(\(snapshot)::pg_snapshot)
                    AND xid < pg_snapshot_xmax(pg_current_snapshot())
                    AND NOT pg_visible_in_snapshot(xid, \(snapshot)::pg_snapshot)
            ), n AS (
                SELECT relation, tenant_id, count(DISTINCT key) > \(Int64(Self.mostRows)) AS are_many
                FROM c GROUP BY relation, tenant_id
            )
            SELECT relation, tenant_id, CASE WHEN are_many THEN NULL ELSE key END AS key,
                array_agg(DISTINCT xid::text) AS transactions
            FROM c JOIN n USING (relation, tenant_id)
            GROUP BY 1, 2, 3
            """)
        for change in changes {
            let (name, id, key, transactions) = try change.decode(
                String.self, UUID.self, [String]?.self, [String].self)
            // Ignores relations that only later versions read.
            guard let relation = IndexRelation(rawValue: name) else { continue }
            let tenant = TenantID(id)
            let row = key.flatMap { $0.count == relation.keyColumns.count ? $0 : nil }
            if relation.isCatalogue {
                var changes = catalogues[tenant] ?? OfCatalogue()
                if let row {
                    changes.rows.insert(relation, tenant, row)
                } else {
                    changes.wholes.insert(relation)
                }
                changes.transactions.formUnion(transactions.compactMap { UInt64($0) })
                catalogues[tenant] = changes
            } else if let row {
                control.insert(relation, tenant, row)
            } else if !controlWholes.contains(where: { $0 == (relation, tenant) }) {
                controlWholes.append((relation, tenant))
            }
        }
    }
}

/// The primary keys of rows.
struct IndexKeys: Sendable {
    /// Compares the bytes of the text, because two `String`s are equal if one has the composed and the other the decomposed form of a
    /// character.
    struct Name: Hashable, Sendable {
        let tenant: TenantID
        private let bytes: [[UInt8]]

        init(_ tenant: TenantID, _ key: [String]) {
            self.tenant = tenant
            bytes = key.map { Array($0.utf8) }
        }

        var key: [String] { bytes.map { String(decoding: $0, as: UTF8.self) } }
    }

    private(set) var names: [IndexRelation: Set<Name>] = [:]

    var isEmpty: Bool { names.isEmpty }
    var count: Int { names.values.reduce(0) { $0 + $1.count } }
    /// Relations with too many rows to read them one by one.
    var overflowing: Set<IndexRelation> {
        Set(names.filter { $1.count > IndexChanges.mostRows }.keys)
    }

    mutating func insert(_ relation: IndexRelation, _ tenant: TenantID, _ key: [String]) {
        names[relation, default: []].insert(Name(tenant, key))
    }

    mutating func formUnion(_ other: Self) {
        names.merge(other.names) { $0.union($1) }
    }

    mutating func insert(_ relation: IndexRelation, _ names: ArraySlice<Name>) {
        self.names[relation, default: []].formUnion(names)
    }

    mutating func remove(_ relation: IndexRelation) {
        names[relation] = nil
    }

    mutating func remove(_ relation: IndexRelation, _ names: ArraySlice<Name>) {
        self.names[relation]?.subtract(names)
        if self.names[relation]?.isEmpty == true { self.names[relation] = nil }
    }
}

/// Changed rows with their content, ready to be put into an index.
///
/// A value, so that the index and an unfinished copy of it can use the same batch.
struct IndexBatch: Sendable {
    /// All rows of a tenant's relation.
    private var wholes: [(relation: IndexRelation, tenant: TenantID, rows: CopiedRows)] = []
    private var keys = IndexKeys()
    /// The existing rows of `keys`.
    private var rows: [(relation: IndexRelation, row: IndexRow)] = []

    var isEmpty: Bool { wholes.isEmpty && keys.isEmpty }
    var rowCount: Int { keys.count }
    var relationCount: Int { wholes.count }

    /// The number of rows that one statement reads. [ours]
    static let statementLength = 1_000

    init() {}

    /// Reads rows as they are in the transaction's snapshot.
    init(
        _ keys: IndexKeys, _ wholes: [(relation: IndexRelation, tenant: TenantID)] = [],
        _ transaction: Transaction
    ) async throws {
        self.keys = keys
        for (relation, tenant) in wholes {
            let rows = try await transaction.copied(relation, relation.copy(of: tenant))
            self.wholes.append((relation, tenant, rows))
        }
        for (relation, names) in keys.names {
            let names = Array(names)
            for start in stride(from: 0, to: names.count, by: Self.statementLength) {
                rows += try await Self.rows(
                    relation, names[start..<min(start + Self.statementLength, names.count)], transaction)
            }
        }
    }

    /// The rows that were read before a deadline.
    struct Part: Sendable {
        var batch = IndexBatch()
        /// The rows that are still to be read.
        var rest: IndexKeys
        /// The error of the last statement, if it failed.
        var error: PostgreSQLError?
    }

    /// Reads rows in the transaction's snapshot, one statement after another, until a deadline. It runs at least one statement,
    /// so that repeated reads finish.
    /// - Parameter length: The number of rows that one statement reads.
    static func read(
        _ keys: IndexKeys, length: Int, until deadline: ContinuousClock.Instant, _ transaction: Transaction
    ) async throws -> Part {
        var part = Part(rest: keys)
        for (relation, names) in keys.names {
            let names = Array(names)
            for start in stride(from: 0, to: names.count, by: length) {
                guard part.batch.isEmpty || .now < deadline else { return part }
                let some = names[start..<min(start + length, names.count)]
                do {
                    part.batch.rows += try await transaction.withSavepoint {
                        try await rows(relation, some, transaction)
                    }
                } catch let error as PostgreSQLError where error.isOfStatement {
                    part.error = error
                    return part
                }
                part.batch.keys.insert(relation, some)
                part.rest.remove(relation, some)
            }
        }
        return part
    }

    private static func rows(
        _ relation: IndexRelation, _ names: ArraySlice<IndexKeys.Name>, _ transaction: Transaction
    ) async throws -> [(relation: IndexRelation, row: IndexRow)] {
        let texts = names.map(\.key)
        let columns = relation.keyColumns.indices.map { column in texts.map { $0[column] } }
        return try await transaction.execute(relation.rows(names.map(\.tenant), columns)).map {
            (relation, try IndexRow($0))
        }
    }

    mutating func append(_ other: Self) {
        wholes += other.wholes
        keys.formUnion(other.keys)
        rows += other.rows
    }

    /// Moves the rows of a relation into a separate batch.
    mutating func split(_ relation: IndexRelation) -> Self {
        var part = Self()
        part.wholes = wholes.filter { $0.relation == relation }
        part.rows = rows.filter { $0.relation == relation }
        if let names = keys.names[relation] { part.keys.insert(relation, ArraySlice(names)) }
        wholes.removeAll { $0.relation == relation }
        rows.removeAll { $0.relation == relation }
        keys.remove(relation)
        return part
    }

    /// Replaces rows of an index with the rows of the batch.
    /// - Returns: The number of rows that could not be read, and were left out.
    func apply(to table: inout LookupIndex) throws -> Int {
        var unreadable = 0
        for (relation, tenant, rows) in wholes {
            table.removeAll(relation, of: tenant)
            unreadable += try rows.insert(into: &table)
        }
        for (relation, names) in keys.names {
            for name in names { table.remove(relation, of: name.tenant, key: name.key) }
        }
        for (relation, row) in rows {
            do { try table.set(relation, row) } catch { unreadable += 1 }
        }
        table.settleDomains()
        return unreadable
    }
}

/// Rows of a relation as COPY sent them.
struct CopiedRows: Sendable {
    let relation: IndexRelation
    private(set) var count = 0
    /// The primary key of the last row, without the tenant.
    private(set) var lastKey: [String]?
    /// Each piece contains whole rows.
    private var pieces: [[UInt8]] = []

    init(_ relation: IndexRelation) {
        self.relation = relation
    }

    /// - Throws: `PostgreSQLError.malformedCopy` if a piece contains no rows.
    mutating func append(_ piece: [UInt8], _ reader: inout BinaryCopyReader) throws {
        let keyFields = 1..<(1 + relation.keyColumns.count)
        try reader.read(piece) { fields in
            count += 1
            lastKey = keyFields.map { field in
                String(decoding: fields[field].map { piece[$0] } ?? [], as: UTF8.self)
            }
        }
        pieces.append(piece)
    }

    /// Puts the rows into an index that has no rows of this relation. Call `settle()` on the index after the last rows.
    /// - Returns: The number of rows that could not be read, and were left out.
    func insert(into table: inout LookupIndex) throws -> Int {
        var reader = BinaryCopyReader(columnCount: relation.columns.count)
        var unreadable = 0
        for piece in pieces {
            try reader.read(piece) { fields in
                do {
                    try table.set(relation, IndexRow(bytes: piece, fields: fields), isNew: true)
                } catch {
                    unreadable += 1
                }
            }
        }
        return unreadable
    }
}

extension Transaction {
    /// Receives rows of a relation.
    func copied(_ relation: IndexRelation, _ query: Query) async throws -> CopiedRows {
        var reader = BinaryCopyReader(columnCount: relation.columns.count)
        var rows = CopiedRows(relation)
        try await copyOut(query) { try rows.append($0, &reader) }
        return rows
    }
}
