public import Formats
public import Tenancy

/// The options of an import.
public struct ImportOptions: Sendable, Hashable {
    /// Whether items that are not in the file are removed.
    public var prunes: Bool
    /// Whether each row contains its whole item, so that fields that the row does not name are cleared.
    public var replaces: Bool
    /// Whether to report the changes without making them.
    public var isDryRun: Bool
    /// The maximum number of removals; nil for half of all items.
    public var allowedRemovals: Int?
    /// The planned state (``ImportPlan/state``): if the current state differs, nothing is changed; nil for any state.
    public var expectedState: String?
    /// Whether the file has few rows and removes none, so that the import does not wait for large imports of other tenants.
    public var isSmall: Bool

    public init(
        prunes: Bool = false, replaces: Bool = false, isDryRun: Bool = false, allowedRemovals: Int? = nil,
        expectedState: String? = nil, isSmall: Bool = false
    ) {
        self.prunes = prunes
        self.replaces = replaces
        self.isDryRun = isDryRun
        self.allowedRemovals = allowedRemovals
        self.expectedState = expectedState
        self.isSmall = isSmall
    }

    /// The default limit of removals.
    public static func allowedRemovals(of total: Int) -> Int { total / 2 }
}

/// How an import ended. All rows were imported, or none.
public enum ImportOutcome: Sendable, Hashable {
    case done(ImportCounts)
    /// Nothing was changed.
    case planned(ImportPlan)
    case refused(ImportProblems)
}

/// How the import of an archive ended. The whole tenant was created, or nothing.
public enum ArchiveOutcome: Sendable, Hashable {
    /// The tenant, and the number of added rows by relation.
    case done(Tenant, [RowCount])
    case refused(ImportProblems)
}

/// The result of an import.
public struct ImportCounts: Sendable, Hashable {
    public let added: Int
    public let changed: Int
    public let removed: Int
    public let unchanged: Int

    public init(added: Int, changed: Int, removed: Int = 0, unchanged: Int) {
        self.added = added
        self.changed = changed
        self.removed = removed
        self.unchanged = unchanged
    }

    public var json: JSONObject {
        [
            "added": JSONValue(added), "changed": JSONValue(changed), "removed": JSONValue(removed),
            "unchanged": JSONValue(unchanged),
        ]
    }
}

/// The changes that an import would make: their numbers, and the first items of each kind by name.
public struct ImportPlan: Sendable, Hashable {
    /// An item, and a note about it.
    public struct Item: Sendable, Hashable {
        public let name: String
        /// The changed members, or the rows that refer to the item; may be empty.
        public let detail: String
        /// The members that name the item, and the detail as JSON.
        public let members: JSONObject

        public init(name: String, detail: String = "", members: JSONObject) {
            self.name = name
            self.detail = detail
            self.members = members
        }
    }

    /// A field that a row changes, with its values; a text of more than 200 characters is cut.
    public struct Change: Sendable, Hashable, CustomStringConvertible {
        /// Such as `name`, `metadata.cuisine` or `card.texts.EN.title`.
        public let field: String
        /// Null if the field has no value.
        public let before: JSONValue
        public let after: JSONValue

        public init(field: String, before: JSONValue, after: JSONValue) {
            self.field = field
            self.before = before
            self.after = after
        }

        public var json: JSONObject { ["field": .string(field), "before": before, "after": after] }

        /// `radius: 100 → 250`.
        public var description: String { "\(field): \(Self.text(before)) → \(Self.text(after))" }

        private static func text(_ value: JSONValue) -> String {
            value == .null ? "(empty)" : value.stringValue ?? value.text
        }
    }

    /// A field that changed items lose, and the number of these items.
    public struct Clearing: Sendable, Hashable {
        public let field: String
        public let count: Int

        public init(field: String, count: Int) {
            self.field = field
            self.count = count
        }

        public var json: JSONObject { ["field": .string(field), "count": JSONValue(count)] }
    }

    public let counts: ImportCounts
    /// Sorted by name; at most ``limit``, like the two lists below.
    public let added: [Item]
    /// The items have `changes`, with at most 100 names each of metadata and details.
    public let changed: [Item]
    /// Fields that have a value now and would have none, of all changed items; by name, at most ``limit``.
    public let cleared: [Clearing]
    public let removed: [Item]
    /// The items to remove that cannot be removed.
    public let inUse: RemovalsInUse
    /// Whether this number of removals is allowed. If not, the import is refused until it is allowed.
    public let removalsAreAllowed: Bool
    /// The forecast usage of the quotas of the kind and of all kinds together. If one is exceeded, the import is refused.
    public let quotas: [QuotaForecast]
    /// Identifies the state of the items that the import concerns: the items in the file or, if others are removed, all items.
    public let state: String

    /// The maximum length of each list.
    public static let limit = 100

    public init(
        counts: ImportCounts, added: [Item], changed: [Item], cleared: [Clearing] = [],
        removed: [Item], inUse: RemovalsInUse, removalsAreAllowed: Bool = true,
        quotas: [QuotaForecast] = [], state: String = ""
    ) {
        self.counts = counts
        self.added = added
        self.changed = changed
        self.cleared = cleared
        self.removed = removed
        self.inUse = inUse
        self.removalsAreAllowed = removalsAreAllowed
        self.quotas = quotas
        self.state = state
    }

    /// The counts, with the items under `plan`.
    public var json: JSONObject {
        var plan: JSONObject = [
            "cleared": .array(cleared.map { .object($0.json) }), "inUse": .object(inUse.json),
            "removalsAreAllowed": .bool(removalsAreAllowed),
            "quotas": .array(quotas.map { .object($0.json) }),
        ]
        for (name, items) in [("added", added), ("changed", changed), ("removed", removed)] {
            plan[name] = .array(items.map { .object($0.members) })
        }
        var json = counts.json
        json["plan"] = .object(plan)
        return json
    }
}

/// The items that cannot be removed, because other rows refer to them.
public struct RemovalsInUse: Sendable, Hashable, CustomStringConvertible {
    public let count: Int
    /// Sorted by name, each with the rows that refer to it (`by`); at most ``ImportPlan/limit``.
    public let first: [ImportPlan.Item]

    public init(count: Int = 0, first: [ImportPlan.Item] = []) {
        self.count = count
        self.first = first
    }

    public var json: JSONObject {
        ["count": JSONValue(count), "first": .array(first.map { .object($0.members) })]
    }

    /// `2: a by 1 experience (advanced https://example.com/a), b by …`.
    public var description: String {
        let names = first.map { "\($0.name) by \($0.detail)" }.joined(separator: ", ")
        return "\(count): \(names)\(count > first.count ? ", …" : "")"
    }
}

/// The refused rows of an import: the first hundred by line, and their number.
///
/// A server stops reading after the hundredth refused row, so that the number may be too small.
public struct ImportProblems: Sendable, Hashable {
    /// By line; at most ``limit``.
    public private(set) var first: [ImportProblem] = []
    public private(set) var count = 0

    public static let limit = 100

    public init() {}

    /// - Parameter first: by line; at most ``limit``.
    public init(count: Int, first: [ImportProblem]) {
        self.count = count
        self.first = first
    }

    public var isEmpty: Bool { count == 0 }

    /// The number of refused rows in words, such as `1 row is refused`.
    public var summary: String {
        "\(count < Self.limit ? "" : "at least ")\(count) \(count == 1 ? "row is" : "rows are") refused"
    }

    /// Counts a problem, and keeps it if it is among the first.
    public mutating func add(_ problem: ImportProblem) {
        count += 1
        if first.count == Self.limit {
            guard let last = first.last, problem.line < last.line else { return }
            first.removeLast()
        }
        let position = first.firstIndex { $0.line > problem.line } ?? first.endIndex
        first.insert(problem, at: position)
    }

    /// Adds errors of other rows of the same file.
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
    /// The identifier, code or URL of the row, unchanged; nil if none can be read. Cut after 100 characters, like ``value``.
    public let item: String?
    /// The refused value; nil if the reason does not concern a single value.
    public let value: String?

    public init(line: Int, reason: String, item: String? = nil, value: String? = nil) {
        self.line = line
        self.reason = reason
        self.item = item?.isEmpty == false ? item?.excerpt : nil
        self.value = value?.isEmpty == false ? value?.excerpt : nil
    }

    /// `r0001: latitude: not a number; got 'abc'`.
    public var text: String {
        let found = value.map { "; got '\($0)'" } ?? ""
        return (item.map { "\($0): " } ?? "") + reason + found
    }

    public var json: JSONObject {
        var json: JSONObject = ["line": JSONValue(line), "reason": .string(reason)]
        json["item"] = item.map(JSONValue.string)
        json["value"] = value.map(JSONValue.string)
        return json
    }
}
