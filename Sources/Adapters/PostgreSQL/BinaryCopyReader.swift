/// Reads the rows of `COPY … TO STDOUT (FORMAT binary)`, given in pieces of whole rows.
///
/// Source: PostgreSQL, "COPY", "Binary Format".
public struct BinaryCopyReader: Sendable {
    private enum Expected {
        case header, rows, nothing
    }

    private let columnCount: Int
    private var expected = Expected.header

    /// - Parameter columnCount: how many columns each row has.
    public init(columnCount: Int) {
        self.columnCount = columnCount
    }

    /// Calls the closure with the ranges of the fields of each row in a piece; nil for NULL.
    /// - Throws: The closure's errors; `PostgreSQLError.malformedCopy` for invalid rows.
    public mutating func read(_ piece: [UInt8], _ body: ([Range<Int>?]) throws -> Void) throws {
        var position = 0
        var fields: [Range<Int>?] = []
        if expected == .header {
            position = try Self.endOfHeader(piece)
            expected = .rows
        }
        while position < piece.count {
            guard expected == .rows, let count = piece.integer(at: position, as: Int16.self) else {
                throw PostgreSQLError.malformedCopy
            }
            position += 2
            if count == Self.trailer {
                expected = .nothing
                continue
            }
            guard count == columnCount else { throw PostgreSQLError.malformedCopy }
            fields.removeAll(keepingCapacity: true)
            for _ in 0..<columnCount { fields.append(try Self.field(in: piece, at: &position)) }
            try body(fields)
        }
    }

    private static func field(
        in piece: [UInt8], at position: inout Int
    ) throws(PostgreSQLError) -> Range<Int>? {
        guard let length = piece.integer(at: position, as: Int32.self) else { throw .malformedCopy }
        position += 4
        if length == -1 { return nil }
        guard length >= 0, Int(length) <= piece.count - position else { throw .malformedCopy }
        defer { position += Int(length) }
        return position..<position + Int(length)
    }

    /// After the signature come flags, of which the upper 16 must be known, and an extension with its length.
    private static func endOfHeader(_ piece: [UInt8]) throws(PostgreSQLError) -> Int {
        guard piece.starts(with: signature), let flags = piece.integer(at: 11, as: Int32.self),
            flags >> 16 == 0, let length = piece.integer(at: 15, as: Int32.self), length >= 0,
            Int(length) <= piece.count - 19
        else { throw .malformedCopy }
        return 19 + Int(length)
    }

    private static let signature = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]
    private static let trailer: Int16 = -1
}

extension [UInt8] {
    /// In network byte order; nil beyond the end.
    fileprivate func integer<Integer: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as type: Integer.Type
    ) -> Integer? {
        guard offset + MemoryLayout<Integer>.size <= count else { return nil }
        return span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: type).bigEndian
    }
}
