public import Formats

/// The rows of one relation that refer to an item: their number, and the first ones by name.
public struct Dependents: Sendable, Hashable, CustomStringConvertible {
    public let rows: RowCount
    /// At most ``limit``.
    public let first: [String]

    /// The maximum number of named rows.
    public static let limit = 3

    public init(_ rows: RowCount, first: [String]) {
        self.rows = rows
        self.first = first
    }

    public var json: JSONObject {
        var members = rows.json
        members["first"] = .array(first.map(JSONValue.string))
        return members
    }

    /// `2 experiences (advanced https://example.com/a, advanced https://example.com/b)`.
    public var description: String {
        "\(rows) (\(first.joined(separator: ", "))\(rows.count > first.count ? ", …" : ""))"
    }
}
