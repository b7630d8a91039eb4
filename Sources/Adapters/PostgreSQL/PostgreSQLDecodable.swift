/// A value that can be read from a column of a result.
///
/// A type of your own conforms by reading one of the built-in types from the same cell.
public protocol PostgreSQLDecodable {
    /// Reads the cell; throws `PostgreSQLError.decoding` when the column's type or content does not fit.
    init(_ cell: Cell) throws(PostgreSQLError)
}

extension Optional: PostgreSQLDecodable where Wrapped: PostgreSQLDecodable {
    /// NULL is `nil`; everything else is the wrapped type's.
    public init(_ cell: Cell) throws(PostgreSQLError) {
        self = cell.isNull ? nil : try Wrapped(cell)
    }
}
