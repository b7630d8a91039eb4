/// The rows of a CSV file, one after another.
///
/// `Row` says what a row is made of; this type reads the file and says what is wrong with a row that is none. Rows go on
/// after a bad one, so that all that is wrong can be reported at once.
///
/// Throws `AdministrationError.invalidHeader`, and what the source throws.
public struct TableRows<Row: ImportableRow>: AsyncSequence, Sendable {
    /// Gives the next bytes of the file, nil at its end.
    public typealias Source = @Sendable () throws -> [UInt8]?

    private let source: Source

    public init(_ source: @escaping Source) {
        self.source = source
    }

    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: Source
        private var table = CSVTable(required: Row.requiredColumns)
        private var rows: ArraySlice<CSVTable.Row> = []
        private var isAtEnd = false

        fileprivate init(source: @escaping Source) {
            self.source = source
        }

        public mutating func next() async throws -> ImportedRow<Row>? {
            while rows.isEmpty, !isAtEnd {
                if let chunk = try source() {
                    rows = try table.rows(in: chunk)[...]
                } else {
                    isAtEnd = true
                    rows = try table.finish()[...]
                }
            }
            return rows.popFirst().map(ImportedRow.init)
        }
    }
}

/// A row of a file, by the line on which it starts.
public enum ImportedRow<Row: Sendable>: Sendable {
    case row(Row, line: Int)
    case refused(ImportProblem)
}

extension ImportedRow where Row: ImportableRow {
    fileprivate init(_ row: CSVTable.Row) {
        switch row {
        case .refused(let reason, let line): self = .refused(ImportProblem(line: line, reason: reason))
        case .fields(let fields, let line):
            do throws(RowRefusal) {
                self = .row(try Row.read(fields), line: line)
            } catch {
                self = .refused(ImportProblem(line: line, reason: error.reason))
            }
        }
    }
}

/// Something that a row of a CSV file describes.
public protocol ImportableRow: Sendable {
    static var requiredColumns: [String] { get }
    static func read(_ fields: CSVFields) throws(RowRefusal) -> Self
}

/// Why one row was refused, or an item that is written as JSON, whose members have the names of columns.
public struct RowRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    public let column: String
    /// What is wrong with its value.
    public let detail: String

    init(_ column: String, _ detail: some CustomStringConvertible) {
        self.column = column
        self.detail = "\(detail)"
    }

    /// The column's name, then what is wrong with its value.
    public var reason: String { "\(column.escapingControlCharacters): \(detail)" }

    public var description: String { reason }

    /// Runs `body` and says of what it throws in which column it stood.
    static func naming<Value, Failure: Error & CustomStringConvertible>(
        _ column: String, _ body: () throws(Failure) -> Value
    ) throws(RowRefusal) -> Value {
        try naming({ _ in column }, body)
    }

    /// Runs `body` and says of what it throws in which column it stood, which the error tells.
    static func naming<Value, Failure: Error & CustomStringConvertible>(
        _ column: (Failure) -> String, _ body: () throws(Failure) -> Value
    ) throws(RowRefusal) -> Value {
        do {
            return try body()
        } catch {
            throw RowRefusal(column(error), error)
        }
    }
}
