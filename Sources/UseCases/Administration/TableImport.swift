/// Imports a CSV file row by row into a store: all of it, or none.
///
/// `Row` says what a row is made of; this type reads the file, collects what is wrong with it and hands good
/// rows on. Rows go on being read after the first bad one, so that all that is wrong is reported at once.
public struct TableImport<Row: ImportableRow>: Sendable {
    /// Gives the next bytes of the file, nil at its end.
    public typealias Source = @Sendable () throws -> [UInt8]?

    private let source: Source

    public init(_ source: @escaping Source) {
        self.source = source
    }

    /// Hands every good row to the sink.
    /// - Parameter progress: Called after each chunk with the number of bytes read so far.
    /// - Returns: What is wrong with the others.
    /// - Throws: `AdministrationError.invalidHeader`, and what source and sink throw.
    public func feed(
        _ sink: any RowSink<Row>, progress: @Sendable (Int) -> Void
    ) async throws -> ImportProblems {
        var table = CSVTable(required: Row.requiredColumns)
        var problems = ImportProblems()
        var length = 0
        while let chunk = try source() {
            for row in try table.rows(in: chunk) { try await take(row, into: sink, &problems) }
            length += chunk.count
            progress(length)
        }
        for row in try table.finish() { try await take(row, into: sink, &problems) }
        return problems
    }

    private func take(
        _ row: CSVTable.Row, into sink: any RowSink<Row>, _ problems: inout ImportProblems
    ) async throws {
        switch row {
        case .refused(let reason, let line):
            problems.add(line: line, reason)
        case .fields(let fields, let line):
            let value: Row
            do throws(RowRefusal) {
                value = try Row.read(fields)
            } catch {
                return problems.add(line: line, error.reason)
            }
            try await sink.append(value, line: line)
        }
    }
}

/// Something that a row of a CSV file describes.
public protocol ImportableRow: Sendable {
    static var requiredColumns: [String] { get }
    static func read(_ fields: CSVFields) throws(RowRefusal) -> Self
}

/// Why one row was refused.
public struct RowRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The column's name, then what is wrong with its value.
    public let reason: String

    init(_ column: String, _ reason: some CustomStringConvertible) {
        self.reason = "\(column.escapingControlCharacters): \(reason)"
    }

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
