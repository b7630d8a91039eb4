import CLibPQ

/// The rows of a statement's result, in order.
public struct QueryResult: Sendable, RandomAccessCollection {
    let storage: ResultStorage

    /// The columns, in the order of the statement.
    public var columns: [Column] { storage.columns }

    /// The number of rows that an INSERT, UPDATE, DELETE, MERGE, COPY or SELECT affected or returned.
    public var affectedRows: Int { storage.affectedRows }

    public var startIndex: Int { 0 }
    public var endIndex: Int { storage.rowCount }

    public subscript(position: Int) -> Row {
        precondition(indices.contains(position), "row index out of range")
        return Row(storage: storage, index: position)
    }

    /// The only row; throws `PostgreSQLError.rowCount` if there is not exactly one.
    public func one() throws(PostgreSQLError) -> Row {
        guard count == 1 else { throw .rowCount(found: count) }
        return self[0]
    }
}

/// A column of a result.
public struct Column: Sendable, Hashable {
    public let name: String
    public let type: PostgreSQLType
}

/// Owns a `PGresult` and frees it.
///
/// `@unchecked` because of the pointer. libpq, "Behavior in Threaded Programs": "PGresult objects are normally
/// read-only after creation, and so can be passed around freely between threads." Nothing here writes to it
/// after `init`, the pointer does not leave this file but for reading, and `deinit` runs once.
final class ResultStorage: @unchecked Sendable {
    private let result: OpaquePointer
    let columns: [Column]
    let rowCount: Int
    let affectedRows: Int
    /// The command that was run, as `INSERT 0 1`.
    let commandTag: String

    init(owning result: OpaquePointer) {
        self.result = result
        columns = (0..<PQnfields(result)).map { index in
            Column(
                name: PQfname(result, index).map { String(cString: $0) } ?? "",
                type: PostgreSQLType(objectID: PQftype(result, index)))
        }
        rowCount = Int(PQntuples(result))
        affectedRows = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
        commandTag = PQcmdStatus(result).map { String(cString: $0) } ?? ""
    }

    deinit {
        PQclear(result)
    }

    func isNull(row: Int, column: Int) -> Bool {
        PQgetisnull(result, Int32(row), Int32(column)) != 0
    }

    /// Calls the closure with the bytes of a value. For NULL, the buffer is empty.
    func withBytes<Value>(row: Int, column: Int, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        let (row, column) = (Int32(row), Int32(column))
        return withExtendedLifetime(self) {
            body(
                UnsafeRawBufferPointer(
                    start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column))))
        }
    }
}
