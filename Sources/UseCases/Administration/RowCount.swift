/// How many rows of a relation something was done to.
public struct RowCount: Sendable, Hashable {
    public let relation: String
    public let count: Int

    public init(relation: String, count: Int) {
        self.relation = relation
        self.count = count
    }
}
