public import Formats

/// A number of rows of a relation.
public struct RowCount: Sendable, Hashable, CustomStringConvertible {
    public let relation: String
    public let count: Int

    public init(relation: String, count: Int) {
        self.relation = relation
        self.count = count
    }

    public var json: JSONObject { ["relation": .string(relation), "rows": JSONValue(count)] }

    /// `2 experiences`, `1 experience`: relations are plurals.
    public var description: String { "\(count) \(count == 1 ? String(relation.dropLast()) : relation)" }
}
