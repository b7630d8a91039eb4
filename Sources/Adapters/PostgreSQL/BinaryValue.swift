/// A value as the server sent it, whatever its type: the output of the type's `send` function.
public struct BinaryValue: PostgreSQLDecodable, Sendable {
    public let bytes: [UInt8]

    public init(_ cell: Cell) throws(PostgreSQLError) {
        guard let bytes = cell.withBytes({ Array($0) }) else { throw cell.mismatch(expected: "a value") }
        self.bytes = bytes
    }
}
