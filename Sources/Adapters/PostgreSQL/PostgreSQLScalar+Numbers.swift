extension Bool: PostgreSQLScalar {
    public static var scalarType: PostgreSQLType { .bool }
    public static var arrayType: PostgreSQLType { .boolArray }
    public static var scalarName: String { "boolean" }

    public init?(binary: UnsafeRawBufferPointer) {
        guard binary.count == 1 else { return nil }
        self = binary[0] != 0
    }

    public func encodeBinary(into bytes: inout [UInt8]) {
        bytes.append(self ? 1 : 0)
    }
}

extension Int16: PostgreSQLScalar {
    public static var scalarType: PostgreSQLType { .int2 }
    public static var arrayType: PostgreSQLType { .int2Array }
    public static var scalarName: String { "smallint" }

    public init?(binary: UnsafeRawBufferPointer) {
        guard let value = binary.integer, let exact = Int16(exactly: value) else { return nil }
        self = exact
    }

    public func encodeBinary(into bytes: inout [UInt8]) {
        bytes.append(bigEndian: self)
    }
}

extension Int32: PostgreSQLScalar {
    public static var scalarType: PostgreSQLType { .int4 }
    public static var arrayType: PostgreSQLType { .int4Array }
    public static var scalarName: String { "integer" }

    public static func canDecode(_ type: PostgreSQLType) -> Bool {
        type == .int4 || type == .int2
    }

    public init?(binary: UnsafeRawBufferPointer) {
        guard let value = binary.integer, let exact = Int32(exactly: value) else { return nil }
        self = exact
    }

    public func encodeBinary(into bytes: inout [UInt8]) {
        bytes.append(bigEndian: self)
    }
}

extension Int64: PostgreSQLScalar {
    public static var scalarType: PostgreSQLType { .int8 }
    public static var arrayType: PostgreSQLType { .int8Array }
    public static var scalarName: String { "bigint" }

    public static func canDecode(_ type: PostgreSQLType) -> Bool {
        type == .int8 || type == .int4 || type == .int2
    }

    public init?(binary: UnsafeRawBufferPointer) {
        guard let value = binary.integer else { return nil }
        self = value
    }

    public func encodeBinary(into bytes: inout [UInt8]) {
        bytes.append(bigEndian: self)
    }
}

extension Int: PostgreSQLScalar {
    public static var scalarType: PostgreSQLType { .int8 }
    public static var arrayType: PostgreSQLType { .int8Array }
    public static var scalarName: String { "bigint" }

    public static func canDecode(_ type: PostgreSQLType) -> Bool { Int64.canDecode(type) }

    public init?(binary: UnsafeRawBufferPointer) {
        guard let value = binary.integer, let exact = Int(exactly: value) else { return nil }
        self = exact
    }

    public func encodeBinary(into bytes: inout [UInt8]) {
        bytes.append(bigEndian: Int64(self))
    }
}

extension Double: PostgreSQLScalar {
    public static var scalarType: PostgreSQLType { .float8 }
    public static var arrayType: PostgreSQLType { .float8Array }
    public static var scalarName: String { "double precision" }

    public static func canDecode(_ type: PostgreSQLType) -> Bool {
        type == .float8 || type == .float4
    }

    public init?(binary: UnsafeRawBufferPointer) {
        switch binary.count {
        case 8: self = Double(bitPattern: UInt64(bigEndian: binary.loadUnaligned(as: UInt64.self)))
        case 4: self = Double(Float(bitPattern: UInt32(bigEndian: binary.loadUnaligned(as: UInt32.self))))
        default: return nil
        }
    }

    public func encodeBinary(into bytes: inout [UInt8]) {
        bytes.append(bigEndian: bitPattern)
    }
}

extension UnsafeRawBufferPointer {
    /// The signed integer of two, four or eight bytes in network order.
    var integer: Int64? {
        switch count {
        case 2: Int64(Int16(bigEndian: loadUnaligned(as: Int16.self)))
        case 4: Int64(Int32(bigEndian: loadUnaligned(as: Int32.self)))
        case 8: Int64(bigEndian: loadUnaligned(as: Int64.self))
        default: nil
        }
    }
}

extension [UInt8] {
    mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
