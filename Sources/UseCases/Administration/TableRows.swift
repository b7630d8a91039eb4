/// Reads rows of a file's format, and reports the errors of invalid rows.
///
/// Reading continues after an invalid row, so that many errors can be reported together. It ends with a row that is too long.
public protocol RowReader<Row>: Sendable {
    associatedtype Row: Sendable
    /// The rows that end in `chunk`.
    mutating func rows(in chunk: [UInt8]) throws -> [ImportedRow<Row>]
    /// The last row, if no line break ends it.
    mutating func finish() throws -> [ImportedRow<Row>]
    /// The number of lines so far that were not rows. They count towards the limit of rows, because they cost as much as rows.
    var blankLineCount: Int { get }
    /// Whether the rest of the file is ignored, because a row was too long.
    var isAtEnd: Bool { get }
}

/// The rows of a file, one after another, while it is read.
///
/// Throws `AdministrationError.tooManyRows`, and the errors of chunks and reader.
public struct FileRows<Chunks: AsyncSequence & Sendable, Reader: RowReader>: AsyncSequence, Sendable
where Chunks.Element == [UInt8] {
    private let chunks: Chunks
    private let reader: Reader
    private let maximum: Int
    private let maximumRefused: Int

    /// - Parameters:
    ///   - maximum: The maximum number of rows and blank lines.
    ///   - maximumRefused: The number of refused rows after which the rest of the file is not read.
    public init(_ chunks: Chunks, _ reader: Reader, maximum: Int = .max, maximumRefused: Int = .max) {
        self.chunks = chunks
        self.reader = reader
        self.maximum = maximum
        self.maximumRefused = maximumRefused
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(
            chunks: chunks.makeAsyncIterator(), reader: reader, maximum: maximum,
            maximumRefused: maximumRefused)
    }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var chunks: Chunks.AsyncIterator
        fileprivate var reader: Reader
        fileprivate let maximum: Int
        fileprivate let maximumRefused: Int
        private var rows: ArraySlice<ImportedRow<Reader.Row>> = []
        private var count = 0
        private var refusedCount = 0
        private var isAtEnd = false

        fileprivate init(
            chunks: Chunks.AsyncIterator, reader: Reader, maximum: Int, maximumRefused: Int
        ) {
            self.chunks = chunks
            self.reader = reader
            self.maximum = maximum
            self.maximumRefused = maximumRefused
        }

        public mutating func next() async throws -> ImportedRow<Reader.Row>? {
            while rows.isEmpty, !isAtEnd {
                if let chunk = try await chunks.next() {
                    rows = try reader.rows(in: chunk)[...]
                    isAtEnd = reader.isAtEnd
                } else {
                    isAtEnd = true
                    rows = try reader.finish()[...]
                }
                count += rows.count
                guard count + reader.blankLineCount <= maximum else {
                    throw AdministrationError.tooManyRows(limit: maximum)
                }
            }
            let row = rows.popFirst()
            if case .refused = row {
                refusedCount += 1
                if refusedCount == maximumRefused { (rows, isAtEnd) = ([], true) }
            }
            return row
        }
    }
}

/// The rows of a CSV file that is read piece by piece.
public typealias TableRows<Row: WritableResource> = FileRows<FileChunks, TableReader<Row>>

extension FileRows where Chunks == FileChunks {
    /// - Parameter source: returns the next bytes of the file, nil at its end.
    public init<Row: WritableResource>(_ source: @escaping FileChunks.Source)
    where Reader == TableReader<Row> {
        self.init(FileChunks(source: source), TableReader())
    }
}

/// The pieces of a file that a closure reads.
public struct FileChunks: AsyncSequence, Sendable {
    /// Returns the next bytes of the file, nil at its end.
    public typealias Source = @Sendable () throws -> [UInt8]?

    let source: Source

    public init(source: @escaping Source) {
        self.source = source
    }

    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: Source

        public mutating func next() async throws -> [UInt8]? { try source() }
    }
}

/// Reads items from rows of CSV.
///
/// Throws `AdministrationError.invalidHeader`.
public struct TableReader<Row: WritableResource>: RowReader {
    private var table: CSVTable
    /// The columns of the file; nil until they are read.
    private var layout: CSVLayout?

    public var blankLineCount: Int { table.blankLineCount }
    public var isAtEnd: Bool { table.isAtEnd }

    public init() {
        table = CSVTable(Row.csvColumns)
    }

    /// - Parameter maximumRowLength: In bytes; a longer row is refused and ends the reading.
    public init(maximumRowLength: Int) {
        table = CSVTable(Row.csvColumns, maximumRowLength: maximumRowLength)
    }

    public mutating func rows(in chunk: [UInt8]) throws -> [ImportedRow<Row>] {
        try rows(table.rows(in: chunk))
    }

    public mutating func finish() throws -> [ImportedRow<Row>] {
        try rows(table.finish())
    }

    private mutating func rows(_ rows: [CSVTable.Row]) -> [ImportedRow<Row>] {
        if layout == nil, let header = table.header { layout = CSVLayout(header, Row.self) }
        guard let layout else { return [] }
        return rows.map { ImportedRow($0, layout) }
    }
}

/// A row of a file, by the line on which it starts.
public enum ImportedRow<Row: Sendable>: Sendable {
    /// A row with the fields that it clears in an existing item; nil if the row replaces the whole item.
    case row(Row, line: Int, clears: ClearedFields? = nil)
    case refused(ImportProblem)
}

extension ImportedRow where Row: WritableResource {
    fileprivate init(_ row: CSVTable.Row, _ layout: CSVLayout) {
        switch row {
        case .refused(let reason, let line): self = .refused(ImportProblem(line: line, reason: reason))
        case .fields(let fields, let line):
            do {
                self = .row(try Row.read(fields, layout), line: line, clears: layout.cleared)
            } catch {
                self = .refused(
                    ImportProblem(
                        line: line, reason: "\(error)", item: fields[Row.namingColumn],
                        value: (error as? RowRefusal).map { fields[$0.column] }))
            }
        }
    }
}

/// Why a row, or an item in JSON, was refused. Members of JSON have the names of columns.
public struct RowRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    public let column: String
    /// The error of the value.
    public let detail: String

    package init(_ column: String, _ detail: some CustomStringConvertible) {
        self.column = column
        self.detail = "\(detail)"
    }

    /// The column's name, then the error of its value.
    public var reason: String { "\(column.escapingControlCharacters): \(detail)" }

    public var description: String { reason }

    /// Runs `body`, and adds the column to the errors that it throws.
    static func naming<Value, Failure: Error & CustomStringConvertible>(
        _ column: String, _ body: () throws(Failure) -> Value
    ) throws(RowRefusal) -> Value {
        try naming({ _ in column }, body)
    }

    /// Runs `body`, and adds a column to the errors that it throws. The column depends on the error.
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
