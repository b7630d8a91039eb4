/// A type whose array is a PostgreSQL value: scalars make arrays, bytes make `bytea`.
public protocol PostgreSQLArrayElement: Sendable {
    /// The type of a parameter that holds `[Self]`.
    static var arrayType: PostgreSQLType { get }

    /// Reads `[Self]` from a cell.
    static func decodeArray(_ cell: Cell) throws(PostgreSQLError) -> [Self]

    /// Appends `[Self]` in binary.
    static func encodeArray(_ array: [Self], into bytes: inout [UInt8]) throws(PostgreSQLError)
}

extension Array: PostgreSQLEncodable where Element: PostgreSQLArrayElement {
    public static var postgreSQLType: PostgreSQLType { Element.arrayType }

    public func encode(into bytes: inout [UInt8]) throws(PostgreSQLError) {
        try Element.encodeArray(self, into: &bytes)
    }
}

extension Array: PostgreSQLDecodable where Element: PostgreSQLArrayElement {
    public init(_ cell: Cell) throws(PostgreSQLError) {
        self = try Element.decodeArray(cell)
    }
}

extension UInt8: PostgreSQLArrayElement {
    public static var arrayType: PostgreSQLType { .bytea }

    public static func decodeArray(_ cell: Cell) throws(PostgreSQLError) -> [UInt8] {
        guard cell.column.type == .bytea, let bytes = cell.withBytes({ Array($0) }) else {
            throw cell.mismatch(expected: "bytea")
        }
        return bytes
    }

    public static func encodeArray(_ array: [UInt8], into bytes: inout [UInt8]) {
        bytes.append(contentsOf: array)
    }
}

extension PostgreSQLScalar {
    /// The layout of `array_send`: dimensions, a flag for NULLs, the element type, each dimension's length and
    /// lower bound, then each element behind its length (−1 for NULL).
    public static func decodeArray(_ cell: Cell) throws(PostgreSQLError) -> [Self] {
        guard let array = cell.withBytes(readArray) else {
            throw cell.mismatch(expected: "\(scalarName)[] of one dimension, without NULLs")
        }
        return array
    }

    private static func readArray(_ bytes: UnsafeRawBufferPointer) -> [Self]? {
        var rest = bytes[...]
        func next(_ count: Int) -> UnsafeRawBufferPointer? {
            guard count >= 0, rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        }
        func nextInteger() -> Int? { next(4)?.integer.map(Int.init) }

        guard let dimensions = nextInteger(), nextInteger() != nil, let element = nextInteger(),
            canDecode(PostgreSQLType(objectID: UInt32(truncatingIfNeeded: element)))
        else { return nil }
        if dimensions == 0 { return [] }
        // Each element takes four bytes at least: a false count cannot make us reserve more than was sent.
        guard dimensions == 1, let count = nextInteger(), nextInteger() != nil, count <= rest.count / 4 else {
            return nil
        }
        var array: [Self] = []
        array.reserveCapacity(count)
        for _ in 0..<count {
            guard let length = nextInteger(), let binary = next(length), let value = Self(binary: binary)
            else { return nil }
            array.append(value)
        }
        return array
    }

    public static func encodeArray(_ array: [Self], into bytes: inout [UInt8]) throws(PostgreSQLError) {
        bytes.append(bigEndian: Int32(array.isEmpty ? 0 : 1))
        bytes.append(bigEndian: Int32(0))
        bytes.append(bigEndian: scalarType.objectID)
        guard !array.isEmpty else { return }
        bytes.append(bigEndian: Int32(array.count))
        bytes.append(bigEndian: Int32(1))
        for value in array {
            let lengthAt = bytes.count
            bytes.append(bigEndian: Int32(0))
            try value.encodeBinary(into: &bytes)
            let length = Int32(bytes.count - lengthAt - 4)
            withUnsafeBytes(of: length.bigEndian) {
                bytes.replaceSubrange(lengthAt..<lengthAt + 4, with: $0)
            }
        }
    }
}
