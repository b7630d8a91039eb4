/// A CSV file whose first record names the columns, read row by row.
///
/// Columns are known by name and may come in any order. Rows with more or fewer fields than the header are
/// refused.
struct CSVTable {
    private var parser: CSVParser
    private(set) var header: CSVHeader?
    private let required: [String]

    var blankLineCount: Int { parser.blankLineCount }

    /// - Parameters:
    ///   - required: The columns that must be there.
    ///   - maximumRowLength: In bytes.
    init(required: [String], maximumRowLength: Int = CSVParser.maximumRecordLength) {
        self.required = required
        parser = CSVParser(maximumRecordLength: maximumRowLength)
    }

    enum Row {
        case fields(CSVFields, line: Int)
        case refused(String, line: Int)
    }

    /// The rows that end in `chunk`.
    mutating func rows(in chunk: [UInt8]) throws(AdministrationError) -> [Row] {
        var records: [CSVParser.Record] = []
        parser.consume(chunk) { records.append($0) }
        return try rows(records)
    }

    /// The last row, when no line break follows it.
    /// - Throws: `AdministrationError.invalidHeader` when there was no line at all.
    mutating func finish() throws(AdministrationError) -> [Row] {
        var records: [CSVParser.Record] = []
        parser.finish { records.append($0) }
        let rows = try rows(records)
        guard header != nil else { throw .invalidHeader(reason: "the file is empty") }
        return rows
    }

    private mutating func rows(_ records: [CSVParser.Record]) throws(AdministrationError) -> [Row] {
        var rows: [Row] = []
        rows.reserveCapacity(records.count)
        for record in records {
            switch (record.content, header) {
            case (.refused(let reason), nil):
                throw .invalidHeader(reason: reason)
            case (.fields(let names), nil):
                header = try CSVHeader(names, required: required)
            case (.refused(let reason), _?):
                rows.append(.refused(reason, line: record.line))
            case (.fields(let values), let header?) where values.count != header.names.count:
                rows.append(
                    .refused(
                        "the row has \(values.count) fields, the header \(header.names.count)",
                        line: record.line))
            case (.fields(let values), let header?):
                rows.append(.fields(CSVFields(header: header, values: values), line: record.line))
            }
        }
        return rows
    }
}

/// The names of a table's columns.
public struct CSVHeader: Sendable {
    let names: [String]
    /// The columns that are not required, by their positions.
    let others: [(name: String, position: Int)]
    private let positions: [Name: Int]

    /// Compared by bytes, as an export writes names: `String` takes the composed and the decomposed form of a character
    /// for equal.
    private struct Name: Hashable, Sendable {
        let text: String

        static func == (one: Name, other: Name) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

        func hash(into hasher: inout Hasher) {
            text.utf8.span.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    init(_ names: [String], required: [String]) throws(AdministrationError) {
        var positions: [Name: Int] = [:]
        for (position, name) in names.enumerated() {
            guard !name.isEmpty else { throw .invalidHeader(reason: "column \(position + 1) has no name") }
            guard positions.updateValue(position, forKey: Name(text: name)) == nil else {
                throw .invalidHeader(reason: "'\(name.escapingControlCharacters)' comes twice")
            }
        }
        if let missing = required.first(where: { positions[Name(text: $0)] == nil }) {
            throw .invalidHeader(reason: "'\(missing)' is missing")
        }
        self.names = names
        self.positions = positions
        let isRequired = Set(required.map(Name.init))
        others = names.enumerated().filter { !isRequired.contains(Name(text: $1)) }.map { ($1, $0) }
    }

    func position(of name: String) -> Int? { positions[Name(text: name)] }
}

/// One row's values by column name.
public struct CSVFields {
    let header: CSVHeader
    let values: [String]

    /// The value of a column; empty when there is no such column.
    public subscript(name: String) -> String {
        header.position(of: name).map { values[$0] } ?? ""
    }

    /// Hands over the values of the columns that are not required; the empty ones are left out.
    func forEachOther(_ body: (_ name: String, _ value: String) throws(RowRefusal) -> Void) throws(RowRefusal)
    {
        for (name, position) in header.others where !values[position].isEmpty {
            try body(name, values[position])
        }
    }
}
