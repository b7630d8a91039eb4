import Invocation

/// A CSV file whose first record names the columns, read row by row.
///
/// Columns are found by name and may have any order. A row with more or fewer fields than the header is refused. Additions of
/// spreadsheets are accepted: a first line `sep=;`, semicolons or tabs instead of commas, empty columns at the end, and rows
/// with only empty fields, which are skipped.
struct CSVTable {
    private var parser: CSVParser?
    /// The bytes up to the end of the first record, until the separator is known.
    private var opening = Opening()
    private(set) var header: CSVHeader?
    private let columns: CSVColumns
    private let maximumRowLength: Int

    /// Whether the rest of the file is ignored, because a row was too long.
    var isAtEnd: Bool { parser?.isAtEnd ?? false }

    private var emptyRowCount = 0
    /// The number of lines so far that were not rows, including rows with only empty fields.
    var blankLineCount: Int { (parser?.blankLineCount ?? 0) + emptyRowCount }

    /// - Parameter maximumRowLength: In bytes. A longer row is refused and ends the reading.
    init(_ columns: CSVColumns, maximumRowLength: Int = CSVParser.maximumRecordLength) {
        self.columns = columns
        self.maximumRowLength = maximumRowLength
    }

    enum Row {
        case fields(CSVFields, line: Int)
        case refused(String, line: Int)
    }

    /// The rows that end in `chunk`.
    mutating func rows(in chunk: [UInt8]) throws(AdministrationError) -> [Row] {
        guard parser == nil else { return try read(chunk) }
        guard opening.add(chunk) || opening.bytes.count > maximumRowLength else { return [] }
        return try open()
    }

    /// The last row, if no line break follows it.
    /// - Throws: `AdministrationError.invalidHeader` if the file has no line.
    mutating func finish() throws(AdministrationError) -> [Row] {
        var rows = parser == nil ? try open() : []
        var records: [CSVParser.Record] = []
        parser?.finish { records.append($0) }
        rows += try self.rows(records)
        guard header != nil else { throw .invalidHeader(reason: "the file is empty") }
        return rows
    }

    private mutating func open() throws(AdministrationError) -> [Row] {
        let separator = opening.separator ?? CSVHeader.separator(of: opening.firstRecord, columns)
        parser = CSVParser(maximumRecordLength: maximumRowLength, separator: separator)
        let bytes = opening.bytes
        opening = Opening()
        return try read(bytes)
    }

    private mutating func read(_ chunk: [UInt8]) throws(AdministrationError) -> [Row] {
        var records: [CSVParser.Record] = []
        parser?.consume(chunk) { records.append($0) }
        return try rows(records)
    }

    private mutating func rows(_ records: [CSVParser.Record]) throws(AdministrationError) -> [Row] {
        var rows: [Row] = []
        rows.reserveCapacity(records.count)
        for record in records {
            switch (record.content, header) {
            case (.refused(let reason), nil):
                throw .invalidHeader(reason: reason)
            case (.fields(let names), nil):
                header = try CSVHeader(names, columns)
            case (.refused(let reason), _?):
                rows.append(.refused(reason, line: record.line))
            case (.fields(var values), let header?):
                let width = header.names.count
                if values.count > width, values[width...].allSatisfy(\.isEmpty) {
                    values.removeSubrange(width...)
                }
                if values.count == width, width > 1, values.allSatisfy(\.isEmpty) {
                    emptyRowCount += 1
                    continue
                }
                rows.append(
                    values.count == width
                        ? .fields(CSVFields(header: header, values: values), line: record.line)
                        : .refused(
                            "the row has \(values.count) fields, the header \(width)", line: record.line))
            }
        }
        return rows
    }
}

/// The beginning of a file, from which its separator is known.
struct Opening {
    /// The bytes without a line `sep=;`.
    private(set) var bytes: [UInt8] = []
    /// The separator that such a line names; nil without the line.
    private(set) var separator: UInt8?
    private var scanned = 0
    private var isQuoted = false
    private var hasContent = false
    private var recordEnd: Int?

    var firstRecord: ArraySlice<UInt8> { bytes[..<(recordEnd ?? bytes.count)] }

    /// - Returns: Whether the first record has ended.
    mutating func add(_ chunk: [UInt8]) -> Bool {
        bytes += chunk
        while scanned < bytes.count, recordEnd == nil {
            let byte = bytes[scanned]
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            let isLineBreak = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            if !isLineBreak { hasContent = true }
            // Blank lines come before the header, too.
            if isLineBreak, hasContent, !isQuoted, !takeSeparator() { recordEnd = scanned }
            scanned += 1
        }
        return recordEnd != nil
    }

    /// Removes a line `sep=;` that ends here. Returns whether there was one.
    private mutating func takeSeparator() -> Bool {
        guard separator == nil, scanned <= 8 else { return false }
        var line = bytes[..<scanned]
        if line.starts(with: CSVParser.byteOrderMark) { line = line.dropFirst(3) }
        guard line.count == 5, let named = line.last,
            String(decoding: line.dropLast(), as: UTF8.self).lowercased() == "sep="
        else { return false }
        separator = named
        // Keeps the line break, so that the line is counted.
        bytes.removeFirst(scanned)
        (scanned, hasContent) = (-1, false)
        return true
    }
}

/// The known columns of one kind of table.
struct CSVColumns: Sendable {
    let required: [String]
    let optional: [String]

    init(required: [String], optional: [String] = []) {
        self.required = required
        self.optional = optional
    }
}

/// The names of a table's columns.
public struct CSVHeader: Sendable {
    /// Without empty names at the end.
    let names: [String]
    /// The columns that are not required, by their positions.
    let others: [(name: String, position: Int)]
    private let positions: [Name: Int]

    /// Compares bytes, because exports write names by bytes. Two `String`s are equal if one has the composed and the other the
    /// decomposed form of a character.
    private struct Name: Hashable, Sendable {
        let text: String

        static func == (one: Name, other: Name) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

        func hash(into hasher: inout Hasher) {
            text.utf8.span.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    /// A name may differ from a known column in case and surrounding blanks, unless the header also has the known name itself.
    init(_ read: [String], _ columns: CSVColumns) throws(AdministrationError) {
        var names = read
        while let last = names.last, last.isBlank { names.removeLast() }
        var positions: [Name: Int] = [:]
        for (position, name) in names.enumerated() {
            guard !name.isEmpty else {
                throw .invalidHeader(reason: "column \(position + 1) has no name\(Self.listing(read))")
            }
            guard positions.updateValue(position, forKey: Name(text: name)) == nil else {
                throw .invalidHeader(reason: "'\(name.excerpt)' occurs twice")
            }
        }
        for name in columns.required + columns.optional where positions[Name(text: name)] == nil {
            let alike = names.indices.filter { names[$0].trimmingInvisibleEdges.lowercased() == name }
            guard let position = alike.first else { continue }
            guard alike.count == 1 else {
                let found = alike.map { "'\(names[$0].excerpt)'" }.joined(separator: " and ")
                throw .invalidHeader(
                    reason: "'\(name)' is ambiguous: \(found). Rename one of them to '\(name)'")
            }
            positions[Name(text: names[position])] = nil
            names[position] = name
            positions[Name(text: name)] = position
        }
        if let missing = columns.required.first(where: { positions[Name(text: $0)] == nil }) {
            throw .invalidHeader(reason: "'\(missing)' is missing\(Self.listing(read))")
        }
        self.names = names
        self.positions = positions
        let isRequired = Set(columns.required.map(Name.init))
        others = names.enumerated().filter { !isRequired.contains(Name(text: $1)) }.map { ($1, $0) }
    }

    func position(of name: String) -> Int? { positions[Name(text: name)] }

    private static func listing(_ names: [String]) -> String {
        let first = names.prefix(20).map { "'\($0.excerpt)'" }.joined(separator: ", ")
        return "; the columns read are \(first)\(names.count > 20 ? ", …" : "")"
    }

    /// The separator of the first record: a comma, unless the record has the required columns only with a semicolon or a tab.
    fileprivate static func separator(of record: ArraySlice<UInt8>, _ columns: CSVColumns) -> UInt8 {
        let separators = [CSVParser.comma, UInt8(ascii: ";"), UInt8(ascii: "\t")]
        let fitting = separators.filter { separator in
            var parser = CSVParser(separator: separator)
            var fits = false
            let emit = { (record: CSVParser.Record) in
                if case .fields(let names) = record.content { fits = (try? CSVHeader(names, columns)) != nil }
            }
            parser.consume(record, emit: emit)
            parser.finish(emit: emit)
            return fits
        }
        return fitting.count == 1 ? fitting[0] : CSVParser.comma
    }
}

/// One row's values by column name.
public struct CSVFields {
    let header: CSVHeader
    let values: [String]

    /// The value of a column; empty if the column does not exist.
    public subscript(name: String) -> String {
        header.position(of: name).map { values[$0] } ?? ""
    }
}
