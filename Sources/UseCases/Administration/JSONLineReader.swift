import Formats

/// Reads items from lines of JSON (`application/x-ndjson`). Each line has the same form as the JSON of a single item. A null member
/// clears the field, also within metadata, details and card. If a member is missing, the field does not change.
///
/// Memory is bounded by one line. Empty lines are skipped.
public struct JSONLineReader<Item: WritableResource>: RowReader {
    private let maximumLineLength: Int
    private var line: [UInt8] = []
    private var number = 1
    public private(set) var isAtEnd = false
    public private(set) var blankLineCount = 0

    /// - Parameter maximumLineLength: In bytes; a longer line is refused and ends the reading.
    public init(maximumLineLength: Int) {
        self.maximumLineLength = maximumLineLength
    }

    public mutating func rows(in chunk: [UInt8]) -> [ImportedRow<Item>] {
        var rows: [ImportedRow<Item>] = []
        var rest = chunk[...]
        while !isAtEnd, let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            if let row = take(rest[..<end]) ?? endLine() { rows.append(row) }
            rest = rest[(end + 1)...]
        }
        if !isAtEnd, let row = take(rest) { rows.append(row) }
        return rows
    }

    public mutating func finish() -> [ImportedRow<Item>] {
        // The last line feed does not begin another line.
        guard !line.isEmpty else { return [] }
        return endLine().map { [$0] } ?? []
    }

    /// - Returns: The refusal of a line that is too long; it ends the reading, because the line may have no end.
    private mutating func take(_ bytes: ArraySlice<UInt8>) -> ImportedRow<Item>? {
        guard line.count + bytes.count > maximumLineLength else {
            line += bytes
            return nil
        }
        isAtEnd = true
        line = []
        return refused(
            "the row is longer than \(maximumLineLength) bytes, so the rest of the file was not read")
    }

    private mutating func endLine() -> ImportedRow<Item>? {
        defer {
            line.removeAll(keepingCapacity: true)
            number += 1
        }
        guard !line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) else {
            blankLineCount += 1
            return nil
        }
        let parsed: JSONValue
        do {
            parsed = try JSONValue(parsing: line)
        } catch {
            return refused("\(error)")
        }
        guard case .object(let written) = parsed else { return refused("the row is not a JSON object") }
        do {
            var members = written
            let clears = ClearedFields(removingNullsFrom: &members)
            let item = try Item.read(members)
            try Item.refuseUnknown(clears.members)
            return .row(item, line: number, clears: clears)
        } catch {
            let column = (error as? RowRefusal)?.column
            return .refused(
                ImportProblem(
                    line: number, reason: "\(error)", item: written[Item.namingColumn]?.stringValue,
                    value: column.flatMap { written[$0] }.map { $0.stringValue ?? $0.text }))
        }
    }

    private func refused(_ reason: String) -> ImportedRow<Item> {
        .refused(ImportProblem(line: number, reason: reason))
    }
}
