import Foundation

/// The fields of one row in the order of its relation's ``IndexColumn``s, each in the binary form of its PostgreSQL
/// type: integers and floats in network byte order, text in UTF-8 (PostgreSQL, "COPY", "Binary Format").
public struct IndexRow: Sendable {
    /// The bytes that the fields are ranges of.
    private(set) var bytes: [UInt8]
    /// Nil for NULL.
    private(set) var fields: [Range<Int>?]

    public init() {
        bytes = []
        fields = []
    }

    /// Creates a row whose fields are ranges of longer bytes.
    public init(bytes: [UInt8], fields: [Range<Int>?]) {
        self.bytes = bytes
        self.fields = fields
    }

    /// Creates a row of a relation; the closure returns each column's value, or nil for NULL.
    public init<Column: IndexColumn>(of columns: Column.Type, _ value: (Column) -> [UInt8]?) {
        self.init(columns.allCases.map(value))
    }

    /// Creates a row with its own bytes, field by field; nil for NULL.
    public init(_ values: [[UInt8]?]) {
        self.init()
        for value in values {
            fields.append(value.map { bytes.count..<bytes.count + $0.count })
            bytes += value ?? []
        }
    }

    /// Returns the range of a field; nil for NULL and for a field that does not exist.
    @inline(__always)
    private func range(_ column: some IndexColumn) -> Range<Int>? {
        column.rawValue < fields.count ? fields[column.rawValue] : nil
    }

    /// Returns the bytes of a field; nil for NULL and for a field that does not exist.
    @inline(__always)
    func withField<Result>(_ column: some IndexColumn, _ body: (Span<UInt8>) -> Result) -> Result? {
        guard let range = range(column) else { return nil }
        return body(bytes.span.extracting(range))
    }

    @inline(__always)
    func text(_ column: some IndexColumn) -> String? {
        range(column).flatMap { String(validating: bytes[$0], as: UTF8.self) }
    }

    @inline(__always)
    func uuid(_ column: some IndexColumn) -> UUID? {
        guard let high = word(column, at: 0, of: 16), let low = word(column, at: 8, of: 16) else {
            return nil
        }
        return UUID(high: high, low: low)
    }

    @inline(__always)
    func bool(_ column: some IndexColumn) -> Bool? {
        guard let range = range(column), range.count == 1 else { return nil }
        return bytes[range.lowerBound] != 0
    }

    @inline(__always)
    func double(_ column: some IndexColumn) -> Double? {
        word(column, at: 0, of: 8).map(Double.init(bitPattern:))
    }

    @inline(__always)
    func integer(_ column: some IndexColumn) -> Int64? {
        word(column, at: 0, of: 8).map(Int64.init(bitPattern:))
    }

    /// Returns eight bytes of a field if it has the required length.
    @inline(__always)
    private func word(_ column: some IndexColumn, at offset: Int, of length: Int) -> UInt64? {
        guard let range = range(column), range.count == length else { return nil }
        return bytes.bigEndianWord(at: range.lowerBound + offset)
    }

    /// Whether the row is long enough to have a field of the column, NULL or not.
    @inline(__always)
    func isWhole(to column: some IndexColumn) -> Bool { column.rawValue < fields.count }

    @inline(__always)
    func isNull(_ column: some IndexColumn) -> Bool {
        column.rawValue < fields.count && fields[column.rawValue] == nil
    }
}

extension IndexRow {
    /// Reads the tuple at a position into the row's fields. At the end of the tuples it returns false and
    /// reads only the end mark.
    mutating func readTuple(at position: inout Int, fieldCount: Int) throws(LookupIndexError) -> Bool {
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
