import Foundation

/// The fields of one row, each in the binary form of its PostgreSQL type.
///
/// Source: PostgreSQL, "COPY", "Binary Format": integers and floats in network byte order, text in UTF-8.
public struct RoutingRow: Sendable {
    /// What the fields are parts of.
    private(set) var bytes: [UInt8]
    /// Nil for NULL.
    private(set) var fields: [Range<Int>?]

    public init() {
        bytes = []
        fields = []
    }

    /// A row of its own, field by field; nil for NULL.
    public init(_ values: [[UInt8]?]) {
        self.init()
        for value in values {
            fields.append(value.map { bytes.count..<bytes.count + $0.count })
            bytes += value ?? []
        }
    }

    init(bytes: [UInt8]) {
        self.bytes = bytes
        fields = []
    }

    /// The bytes of a field; nil for NULL and for a field that is not there.
    @inline(__always)
    func withField<Result>(_ index: Int, _ body: (Span<UInt8>) -> Result) -> Result? {
        guard index < fields.count, let range = fields[index] else { return nil }
        return body(bytes.span.extracting(range))
    }

    func text(_ index: Int) -> String? {
        guard index < fields.count, let range = fields[index] else { return nil }
        return String(validating: bytes[range], as: UTF8.self)
    }

    func uuid(_ index: Int) -> UUID? {
        guard let high = word(index, at: 0, of: 16), let low = word(index, at: 8, of: 16) else { return nil }
        return UUID(high: high, low: low)
    }

    func bool(_ index: Int) -> Bool? {
        guard index < fields.count, let range = fields[index], range.count == 1 else { return nil }
        return bytes[range.lowerBound] != 0
    }

    func double(_ index: Int) -> Double? {
        word(index, at: 0, of: 8).map(Double.init(bitPattern:))
    }

    func integer(_ index: Int) -> Int64? {
        word(index, at: 0, of: 8).map(Int64.init(bitPattern:))
    }

    /// Eight bytes of a field that has a certain length.
    func word(_ index: Int, at offset: Int, of length: Int) -> UInt64? {
        guard index < fields.count, let range = fields[index], range.count == length else { return nil }
        return bytes.bigEndianWord(at: range.lowerBound + offset)
    }

    func isNull(_ index: Int) -> Bool { index < fields.count && fields[index] == nil }
}

extension RoutingRow {
    /// Makes the tuple at a position the row's fields; false, with nothing read but its mark, at the end of the tuples.
    mutating func readTuple(at position: inout Int, fieldCount: Int) throws(RoutingError) -> Bool {
        guard let count = bytes.bigEndianInt16(at: position) else { throw .damagedFile }
        position += 2
        if count == Self.endOfTuples { return false }
        guard count == fieldCount else { throw .damagedFile }
        fields.removeAll(keepingCapacity: true)
        for _ in 0..<fieldCount {
            guard let length = bytes.bigEndianInt32(at: position) else { throw .damagedFile }
            position += 4
            guard length >= 0 else {
                guard length == -1 else { throw .damagedFile }
                fields.append(nil)
                continue
            }
            guard Int(length) <= bytes.count - position else { throw .damagedFile }
            fields.append(position..<position + Int(length))
            position += Int(length)
        }
        return true
    }

    func appendTuple(to output: inout [UInt8]) {
        output.appendBigEndian(Int16(fields.count))
        for field in fields {
            output.appendBigEndian(Int32(field?.count ?? -1))
            if let field { output += bytes[field] }
        }
    }

    static let endOfTuples = Int16(-1)
}

extension RoutingRow {
    /// Reads the rows of `COPY … TO STDOUT (FORMAT binary)`, given in pieces of whole rows.
    ///
    /// Source: PostgreSQL, "COPY", "Binary Format".
    public struct Reader {
        private enum Expected {
            case header, rows, nothing
        }

        private var expected = Expected.header

        public init() {}

        /// Lends each row of a piece to the closure; the row is good for the call alone.
        /// - Throws: What the closure throws; `RoutingError.damagedFile` for bytes that are no rows.
        public mutating func read(
            _ piece: [UInt8], fieldCount: Int, _ body: (borrowing RoutingRow) throws(RoutingError) -> Void
        ) throws(RoutingError) {
            var row = RoutingRow(bytes: piece)
            var position = 0
            if expected == .header {
                position = try Self.endOfHeader(piece)
                expected = .rows
            }
            while position < piece.count {
                guard expected == .rows else { throw .damagedFile }
                if try row.readTuple(at: &position, fieldCount: fieldCount) {
                    try body(row)
                } else {
                    expected = .nothing
                }
            }
        }

        /// After the signature come flags, of which the upper 16 must be known, and an extension with its length.
        private static func endOfHeader(_ piece: [UInt8]) throws(RoutingError) -> Int {
            guard piece.starts(with: signature), let flags = piece.bigEndianInt32(at: 11), flags >> 16 == 0,
                let length = piece.bigEndianInt32(at: 15), length >= 0, Int(length) <= piece.count - 19
            else { throw .damagedFile }
            return 19 + Int(length)
        }

        private static let signature = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]
    }
}

extension [UInt8] {
    func bigEndianInt16(at offset: Int) -> Int16? {
        guard offset >= 0, offset + 2 <= count else { return nil }
        return span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Int16.self).bigEndian
    }

    func bigEndianInt32(at offset: Int) -> Int32? {
        guard offset >= 0, offset + 4 <= count else { return nil }
        return span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Int32.self).bigEndian
    }

    func bigEndianWord(at offset: Int) -> UInt64? {
        guard offset >= 0, offset + 8 <= count else { return nil }
        return span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self).bigEndian
    }

    mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}

extension UUID {
    init(high: UInt64, low: UInt64) {
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &uuid) { bytes in
            bytes.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
            bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        self.init(uuid: uuid)
    }
}
