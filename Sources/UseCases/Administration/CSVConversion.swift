import Invocation

/// A CSV file whose columns have any names, and its conversion into a file that an import accepts.
public struct CSVConversion: Sendable {
    /// The names of the file's columns, without blank ones at the end.
    public let columns: [String]
    /// The first rows.
    public let rows: [[String]]
    private let file: [UInt8]
    private let separator: UInt8

    /// The number of ``rows``. [ours]
    private static let shownRows = 3
    /// The maximum number of columns. [ours]
    private static let maximumColumns = 500
    /// How many bytes are converted before other tasks may run. [ours]
    private static let pieceLength = 65_536

    /// The source of a new column.
    public enum Source: Sendable, Hashable {
        /// A column of the file, from 0.
        case column(Int)
        /// The same text in all rows.
        case constant(String)
    }

    /// Why a file cannot be converted.
    public struct Refusal: Error, CustomStringConvertible {
        public let description: String
    }

    /// - Returns: nil if the file's first line does not have 2 to 500 columns.
    public init?(_ file: [UInt8]) {
        var opening = Opening()
        _ = opening.add(Array(file.prefix(CSVParser.maximumRecordLength + Self.pieceLength)))
        let separators =
            opening.separator.map { [$0] } ?? [CSVParser.comma, UInt8(ascii: ";"), UInt8(ascii: "\t")]
        let headers = separators.map { separator in
            (separator, Self.records(opening.firstRecord, separator, limit: 1).first.map(Self.names) ?? [])
        }
        // The first of the separators that give the most columns.
        guard let most = headers.map(\.1.count).max(), 2...Self.maximumColumns ~= most,
            let (separator, columns) = headers.first(where: { $0.1.count == most })
        else { return nil }
        self.file = file
        self.separator = separator
        self.columns = columns
        let start = opening.bytes.prefix(opening.firstRecord.endIndex + Self.pieceLength)
        rows = Self.records(start, separator, limit: Self.shownRows + 1).dropFirst().compactMap(\.fields)
    }

    private static func names(of record: CSVParser.Record) -> [String] {
        var names = record.fields ?? []
        while let last = names.last, last.isBlank { names.removeLast() }
        return names
    }

    private static func records(
        _ bytes: ArraySlice<UInt8>, _ separator: UInt8, limit: Int
    ) -> [CSVParser.Record] {
        var parser = CSVParser(separator: separator)
        var records: [CSVParser.Record] = []
        let emit: (CSVParser.Record) -> Void = { if records.count < limit { records.append($0) } }
        parser.consume(bytes, emit: emit)
        parser.finish(emit: emit)
        return records
    }

    /// The file with new columns, then all other columns. Each row stays on its line.
    ///
    /// A further column without a name, or with a name that another column has, gets a name of its own, such as `Note 2`.
    /// - Parameters:
    ///   - sources: the new columns with their sources.
    ///   - numbers: the new columns in which a decimal comma, as in `51,5142`, becomes a point.
    ///   - large: those of them in which a comma before three digits stays, because it can separate thousands.
    ///   - maximumLength: of the result, in bytes.
    /// - Throws: ``Refusal`` for a row that cannot be read, or that has more or fewer fields than the first line, and if the
    ///   result would be too long.
    public func converted(
        _ sources: [(column: String, source: Source)], numbers: Set<String>, large: Set<String> = [],
        maximumLength: Int
    ) async throws(Refusal) -> [UInt8] {
        let others = further(besides: sources)
        var result: [UInt8] = []
        var line = 1
        var failure: Refusal?
        func write(_ fields: [String], at target: Int) {
            let blank = max(target - line, 0)
            if result.count + blank <= maximumLength {
                result += repeatElement(UInt8(ascii: "\n"), count: blank)
                var writer = CSVWriter { result += $0 }
                try? writer.append(fields)
                try? writer.finish()
                line += blank + 1 + fields.reduce(0) { $0 + $1.lineBreakCount }
            }
            if result.count + blank > maximumLength {
                failure = Refusal(description: "the converted file is longer than \(maximumLength) bytes")
            }
        }
        var parser = CSVParser(separator: separator)
        var isHeader = true
        let emit: (CSVParser.Record) -> Void = { record in
            guard failure == nil else { return }
            guard var fields = record.fields else {
                failure = Refusal(description: "line \(record.line): \(record.refusal)")
                return
            }
            if isHeader {
                // A first line `sep=;` is no record of the table.
                guard Self.names(of: record) == columns else { return }
                isHeader = false
                return write(sources.map(\.column) + others.map(\.name), at: record.line)
            }
            if fields.count > columns.count, fields[columns.count...].allSatisfy(\.isEmpty) {
                fields.removeSubrange(columns.count...)
            }
            if fields.allSatisfy(\.isEmpty) { return }
            guard fields.count == columns.count else {
                failure = Refusal(
                    description:
                        "line \(record.line): the row has \(fields.count) fields, the first line \(columns.count)"
                )
                return
            }
            let values = sources.map { column, source in
                let text =
                    switch source {
                    case .column(let index): fields[index]
                    case .constant(let text): text
                    }
                return numbers.contains(column)
                    ? text.withDecimalPoint(unlessLarge: large.contains(column)) : text
            }
            write(values + others.map { fields[$0.index] }, at: record.line)
        }
        var rest = file[...]
        while !rest.isEmpty, failure == nil {
            parser.consume(rest.prefix(Self.pieceLength), emit: emit)
            rest = rest.dropFirst(Self.pieceLength)
            await Task.yield()
        }
        parser.finish(emit: emit)
        if let failure { throw failure }
        return result
    }

    /// The columns that are no source, with names that no other column has.
    private func further(besides sources: [(column: String, source: Source)]) -> [(index: Int, name: String)]
    {
        let taken = Set(sources.compactMap { if case .column(let index) = $0.source { index } else { nil } })
        let others = columns.indices.filter { !taken.contains($0) }
        var used = Set(sources.map { Array($0.column.utf8) })
        var names: [Int: String] = [:]
        // The first column of each name keeps it, before any other name is made.
        for index in others where !columns[index].isBlank && used.insert(Array(columns[index].utf8)).inserted
        {
            names[index] = columns[index]
        }
        return others.map { index in
            if let name = names[index] { return (index, name) }
            let isBlank = columns[index].isBlank
            let name = isBlank ? "column \(index + 1)" : columns[index]
            var (unique, number) = isBlank ? (name, 1) : ("\(name) 2", 2)
            while !used.insert(Array(unique.utf8)).inserted {
                number += 1
                unique = "\(name) \(number)"
            }
            return (index, unique)
        }
    }
}

extension CSVParser.Record {
    fileprivate var fields: [String]? { if case .fields(let fields) = content { fields } else { nil } }
    fileprivate var refusal: String { if case .refused(let reason) = content { reason } else { "" } }
}

extension String {
    /// A number with a decimal comma gets a point. Other texts stay.
    /// - Parameter isLarge: Whether a comma before three digits can separate thousands.
    package func withDecimalPoint(unlessLarge isLarge: Bool) -> String {
        let parts = split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let sign = parts[0].first else { return self }
        let digits = ["-", "+"].contains(sign) ? parts[0].dropFirst() : parts[0]
        let isNumber = [digits, parts[1]].allSatisfy { part in
            !part.isEmpty && part.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        }
        return isNumber && !(isLarge && parts[1].count == 3) ? "\(parts[0]).\(parts[1])" : self
    }

    /// Line breaks are LF, CR and CR LF.
    fileprivate var lineBreakCount: Int {
        var count = 0
        var isAfterCR = false
        for byte in utf8 {
            if byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") && !isAfterCR { count += 1 }
            isAfterCR = byte == UInt8(ascii: "\r")
        }
        return count
    }
}
