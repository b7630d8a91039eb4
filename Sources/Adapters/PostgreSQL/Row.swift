/// One row of a result.
public struct Row: Sendable {
    let storage: ResultStorage
    let index: Int

    /// The columns, in the order of the statement.
    public var columns: [Column] { storage.columns }

    /// Reads every column, in order: `let (id, name) = try row.decode(UUID.self, String?.self)`.
    ///
    /// Throws `PostgreSQLError.columnCount` unless there are as many types as columns, and
    /// `PostgreSQLError.decoding` when a value does not fit its type.
    public func decode<each Value: PostgreSQLDecodable>(
        _ types: repeat (each Value).Type
    ) throws(PostgreSQLError) -> (repeat each Value) {
        var count = 0
        for _ in repeat each types { count += 1 }
        guard count == columns.count else {
            throw .columnCount(expected: count, found: columns.count)
        }
        var next = 0
        return (repeat try decode(next: &next, as: each types))
    }

    private func decode<Value: PostgreSQLDecodable>(
        next column: inout Int, as type: Value.Type
    ) throws(PostgreSQLError) -> Value {
        defer { column += 1 }
        return try decode(at: column, as: type)
    }

    /// Reads the column at a position, from 0.
    public func decode<Value: PostgreSQLDecodable>(
        at column: Int, as type: Value.Type = Value.self
    ) throws(PostgreSQLError) -> Value {
        guard columns.indices.contains(column) else {
            throw .columnCount(expected: column + 1, found: columns.count)
        }
        return try Value(Cell(storage: storage, row: index, position: column))
    }

    /// Reads the first column of a name.
    public func decode<Value: PostgreSQLDecodable>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(PostgreSQLError) -> Value {
        guard let column = columns.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
            throw .noColumn(name: name)
        }
        return try decode(at: column, as: type)
    }
}

/// One value of a row, not yet read.
public struct Cell {
    let storage: ResultStorage
    let row: Int
    let position: Int

    public var column: Column { storage.columns[position] }

    public var isNull: Bool { storage.isNull(row: row, column: position) }

    /// Calls the closure with the binary value. Nil for NULL, or if the closure returns nil.
    func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value?) -> Value? {
        isNull ? nil : storage.withBytes(row: row, column: position, body)
    }

    /// The error for a cell with an unexpected value; it never contains the value.
    public func mismatch(expected: String) -> PostgreSQLError {
        .decoding(
            column: column.name, expected: expected, found: isNull ? "NULL" : "type \(column.type.objectID)")
    }
}
