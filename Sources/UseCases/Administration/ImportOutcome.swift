public import JSON

/// How an import ended: all of it is in, or none of it.
public enum ImportOutcome: Sendable, Hashable {
    case done(ImportCounts)
    case refused(ImportProblems)
}

/// How the import of an archive ended: the tenant is there whole, or not at all.
public enum ArchiveOutcome: Sendable, Hashable {
    /// How many rows were added, by relation.
    case done(Tenant, [RowCount])
    case refused(ImportProblems)
}

/// What an import did to the rows that were there.
public struct ImportCounts: Sendable, Hashable {
    public let added: Int
    public let changed: Int
    public let unchanged: Int

    public init(added: Int, changed: Int, unchanged: Int) {
        self.added = added
        self.changed = changed
        self.unchanged = unchanged
    }

    public var json: JSONObject {
        [
            "added": JSONValue(added), "changed": JSONValue(changed), "unchanged": JSONValue(unchanged),
        ]
    }
}

/// Why rows of an import were refused: the first hundred by line, and how many there are.
public struct ImportProblems: Sendable, Hashable {
    /// By line; at most ``limit``.
    public private(set) var first: [ImportProblem] = []
    public private(set) var count = 0

    public static let limit = 100

    public init() {}

    public var isEmpty: Bool { count == 0 }

    /// Counts a problem, and keeps it when it is among the first.
    public mutating func add(_ problem: ImportProblem) {
        count += 1
        if first.count == Self.limit {
            guard let last = first.last, problem.line < last.line else { return }
            first.removeLast()
        }
        let position = first.firstIndex { $0.line > problem.line } ?? first.endIndex
        first.insert(problem, at: position)
    }

    /// Adds what is wrong with other rows of the same file.
    public mutating func add(_ others: ImportProblems) {
        for problem in others.first { add(problem) }
        count += others.count - others.first.count
    }

    public mutating func add(line: Int, _ reason: String) {
        add(ImportProblem(line: line, reason: reason))
    }
}

/// One row that was refused.
public struct ImportProblem: Sendable, Hashable {
    /// The line on which the row starts, from 1; a quoted field may hold line breaks.
    public let line: Int
    public let reason: String

    public init(line: Int, reason: String) {
        self.line = line
        self.reason = reason
    }
}
