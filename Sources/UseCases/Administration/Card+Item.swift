public import Cards
public import Formats

// The card of a clip, a location or an experience, as JSON and as columns of a table. JSON omits an empty card.

extension Card {
    /// The prefix of a card's columns. The path in the card's JSON follows.
    static let columnPrefix = "card."

    /// The texts of the columns by name. A missing member has no column.
    ///
    /// A list with one text is written as this text, any other list as JSON.
    public var furtherFields: [String: String] {
        var columns: [String: String] = [:]
        for (path, value) in fields {
            let text =
                switch value {
                case .string(let text): text
                case .array(let values)
                where values.count == 1 && values[0].stringValue?.isBracketed == false:
                    values[0].stringValue ?? ""
                default: value.text
                }
            columns[Self.columnPrefix + path] = text
        }
        return columns
    }

    /// The path that a column of a card sets.
    static func path(ofColumn name: String) -> String {
        String(decoding: name.utf8.dropFirst(columnPrefix.utf8.count), as: UTF8.self)
    }

    /// Reads the columns of a row that begin with ``columnPrefix``, without empty ones.
    package init(columns: [(name: String, text: String)]) throws(RowRefusal) {
        guard !columns.isEmpty else {
            self.init()
            return
        }
        var fields: [(path: String, value: JSONValue)] = []
        for (name, text) in columns {
            let path = Self.path(ofColumn: name)
            fields.append((path, try Self.value(of: text, in: name, as: CardField(path: path))))
        }
        do throws(JSONFieldError) {
            try self.init(fields: fields, path: "card")
        } catch {
            throw RowRefusal(error.path, error.reason)
        }
    }

    private static func value(
        of text: String, in column: String, as field: CardField
    ) throws(RowRefusal) -> JSONValue {
        switch field {
        case .text: return .string(text)
        case .number:
            let number = try CSVFields.number(text, in: column)
            guard number.isFinite else { throw RowRefusal(column, "not a number") }
            return JSONValue(finite: number)
        case .texts:
            guard text.isBracketed else { return .array([.string(text)]) }
            guard let value = try? JSONValue(parsing: text.utf8), case .array = value else {
                throw RowRefusal(column, "begins with '[' but is not a JSON array")
            }
            return value
        }
    }

    /// The card after a row that clears some paths and sets the members of another card.
    /// - Throws: `JSONFieldError` if the result is not a valid card, for example a phone number without digits.
    public func patched(clearing paths: [String], setting said: Card) throws(JSONFieldError) -> Card {
        let cleared = Set(paths.map(Self.withCanonicalLanguage))
        let kept = fields.filter { path, _ in
            // Removing a path also removes the paths below it.
            !path.indices.contains { path[$0] == "." && cleared.contains(String(path[..<$0])) }
                && !cleared.contains(path)
        }
        let all = kept.merging(said.fields) { $1 }
        return try Card(fields: all.map { (path: $0, value: $1) }, path: "card")
    }

    /// Writes the language of a text as ``fields`` does.
    private static func withCanonicalLanguage(_ path: String) -> String {
        var parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1, parts[0] == "texts", let language = try? CardLanguage(tag: parts[1]) else {
            return path
        }
        parts[1] = language.rawValue
        return parts.joined(separator: ".")
    }
}

extension JSONObjectReader {
    /// The item's card; empty if it is omitted.
    mutating func card() throws -> Card {
        guard let reader = try optionalObject("card") else { return Card() }
        do throws(JSONFieldError) {
            return try Card(reader)
        } catch {
            // A readable value that breaks a rule has the same error as in other items.
            switch error {
            case .invalid, .missing: throw RowRefusal(error.path, error.reason)
            case .wrongType, .unknown: throw error
            }
        }
    }
}

extension String {
    /// Whether a column with this name belongs to a card.
    var isOfCard: Bool { utf8.starts(with: Card.columnPrefix.utf8) }

    fileprivate var isBracketed: Bool { utf8.first == UInt8(ascii: "[") }
}
