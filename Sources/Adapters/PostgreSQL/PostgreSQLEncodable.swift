/// A value that can be bound to a parameter of a statement.
///
/// A type of your own conforms by handing over to one of the built-in types.
public protocol PostgreSQLEncodable: Sendable {
    /// The type that is sent to the server; it must match the bytes.
    static var postgreSQLType: PostgreSQLType { get }

    /// Appends the value: as text when the type is `.inferred`, in the type's binary format otherwise.
    ///
    /// Throws `PostgreSQLError.encoding` for a value the type cannot hold.
    func encode(into bytes: inout [UInt8]) throws(PostgreSQLError)
}
