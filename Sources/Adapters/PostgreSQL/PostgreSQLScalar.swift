/// A value with one fixed binary form, alone and as an element of an array.
///
/// The formats of the server's `send` and `receive` functions: integers in network byte order, text in UTF-8, times in
/// microseconds since 2000-01-01 00:00 UTC.
public protocol PostgreSQLScalar: PostgreSQLEncodable, PostgreSQLDecodable, PostgreSQLArrayElement {
    /// The element type inside an array, and the name in a decoding error.
    static var scalarType: PostgreSQLType { get }

    /// The SQL name of the type, for messages.
    static var scalarName: String { get }

    /// The types of a column this value can be read from without loss.
    static func canDecode(_ type: PostgreSQLType) -> Bool

    /// Reads the binary form; `nil` when the bytes are not one.
    init?(binary: UnsafeRawBufferPointer)

    /// Appends the binary form.
    func encodeBinary(into bytes: inout [UInt8]) throws(PostgreSQLError)
}

extension PostgreSQLScalar {
    public static var postgreSQLType: PostgreSQLType { scalarType }

    public static func canDecode(_ type: PostgreSQLType) -> Bool { type == scalarType }

    public func encode(into bytes: inout [UInt8]) throws(PostgreSQLError) {
        try encodeBinary(into: &bytes)
    }

    public init(_ cell: Cell) throws(PostgreSQLError) {
        guard Self.canDecode(cell.column.type), let value = cell.withBytes(Self.init(binary:)) else {
            throw cell.mismatch(expected: Self.scalarName)
        }
        self = value
    }
}
