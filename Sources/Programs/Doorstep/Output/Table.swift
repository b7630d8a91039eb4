import Formats

/// Rows of JSON members as columns of text.
struct Table: CustomStringConvertible {
    private let lines: [[String]]

    init(_ rows: [JSONObject], columns: [String]) {
        lines = [columns.map(Self.title)] + rows.map { row in columns.map { Self.text(row[$0]) } }
    }

    var description: String {
        let widths = lines.reduce(into: [Int](repeating: 0, count: lines.first?.count ?? 0)) { widths, line in
            for (column, text) in line.enumerated() { widths[column] = max(widths[column], text.count) }
        }
        return lines.map { line in
            let padded = zip(line, widths).map { text, width in
                text + String(repeating: " ", count: width - text.count)
            }
            return String(padded.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    /// The heading of a member: IDENTIFIER RULE for `identifierRule`, and APP ID PREFIX for `appIDPrefix`.
    private static func title(_ key: String) -> String {
        let letters = Array(key)
        var title = ""
        for (index, letter) in letters.enumerated() {
            let beginsWord =
                index > 0 && letter.isUppercase
                && (letters[index - 1].isLowercase
                    || index + 1 < letters.count && letters[index + 1].isLowercase)
            title += (beginsWord ? " " : "") + String(letter)
        }
        return title.uppercased()
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case nil, .null: "-"
        case .string(let text): text
        case .bool(let isTrue): isTrue ? "yes" : "no"
        case .array(let values): values.map { text($0) }.joined(separator: ", ")
        case .some(let value): value.text
        }
    }
}
