/// Writes comma-separated values (RFC 4180). `CSVParser` reads the same values back.
///
/// A spreadsheet calculates a cell that begins like a formula. For spreadsheets, such a cell gets an apostrophe in front, unless
/// it is a plain number such as `-122.1`. An import of this file reads the apostrophe as part of the text.
/// Source: OWASP, "CSV Injection" (the first characters); the exception for numbers is [ours].
public struct CSVWriter {
    /// Takes the file's next bytes.
    public typealias Sink = ([UInt8]) throws -> Void

    private let isForSpreadsheets: Bool
    private let sink: Sink
    private var buffer: [UInt8] = []

    private static let chunkLength = 1 << 16

    /// - Parameter isForSpreadsheets: whether cells that begin like a formula get an apostrophe in front.
    public init(forSpreadsheets isForSpreadsheets: Bool = false, _ sink: @escaping Sink) {
        self.isForSpreadsheets = isForSpreadsheets
        self.sink = sink
    }

    public mutating func append(_ fields: some Sequence<String>) throws {
        var isFirst = true
        for field in fields {
            if !isFirst { buffer.append(UInt8(ascii: ",")) }
            isFirst = false
            append(isForSpreadsheets && field.isLikeFormula ? "'" + field : field)
        }
        buffer += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        if buffer.count >= Self.chunkLength { try finish() }
    }

    /// Writes the buffered bytes.
    public mutating func finish() throws {
        try sink(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    private mutating func append(_ field: String) {
        let needsQuotes = field.utf8.contains { byte in
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\r"), UInt8(ascii: "\n"): true
            default: false
            }
        }
        guard needsQuotes else { return buffer.append(contentsOf: field.utf8) }
        buffer.append(UInt8(ascii: "\""))
        for byte in field.utf8 {
            if byte == UInt8(ascii: "\"") { buffer.append(byte) }
            buffer.append(byte)
        }
        buffer.append(UInt8(ascii: "\""))
    }
}

extension String {
    /// Whether a spreadsheet may calculate the text as a formula.
    fileprivate var isLikeFormula: Bool {
        guard let first = unicodeScalars.first, Self.formulaStarts.contains(first) else { return false }
        return wholeMatch(of: /[+\-]?[0-9]+(\.[0-9]+)?([eE][+\-]?[0-9]+)?/) == nil
    }

    /// In some languages, spreadsheets also accept full-width characters.
    private static let formulaStarts: Set<Unicode.Scalar> = [
        "=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}",
    ]
}
