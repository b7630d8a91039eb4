public import Administration
import JSON
import NIOHTTP1
import Tenancy

extension APIConnection {
    /// Has the tenant's locations imported, from a CSV file that is sent while it is read.
    public func importLocations(
        _ file: FileChunks, _ options: ImportOptions
    ) async throws -> ImportOutcome {
        try await importTable(of: LocationRecord.self, file, options)
    }

    public func importExperiences(
        _ file: FileChunks, _ options: ImportOptions
    ) async throws -> ImportOutcome {
        try await importTable(of: ExperienceRecord.self, file, options)
    }

    public func importShortCodes(
        _ file: FileChunks, _ options: ImportOptions
    ) async throws -> ImportOutcome {
        try await importTable(of: ShortCode.self, file, options)
    }

    /// How long an import may take: as long as a server takes rows, writes them and waits for its lookups.
    private static let importTimeout = Duration.seconds(2_400)

    private func importTable<Item: PlannedItem>(
        of _: Item.Type, _ file: FileChunks, _ options: ImportOptions
    ) async throws -> ImportOutcome {
        var query: [(String, String)] = []
        if options.prunes { query.append(("prune", "true")) }
        if options.isDryRun { query.append(("dryRun", "true")) }
        if let allowed = options.allowedRemovals { query.append(("allowRemovals", "\(allowed)")) }
        let reply = try await ask(
            .PATCH, Item.path, query, content: ("text/csv", .chunks(file)), within: Self.importTimeout,
            problems: ["invalid_rows"])
        return try reply.reading { fields in
            if reply.problem != nil { return .refused(try ImportProblems(&fields)) }
            let counts = try ImportCounts(&fields)
            guard var plan = try fields.optionalObject("plan") else { return .done(counts) }
            return .planned(try ImportPlan(counts, of: Item.self, &plan))
        }
    }
}

// MARK: - What an import comes to, as a server says it

/// An item that plans name.
private protocol PlannedItem: ServedItem {
    /// The members that identify it in a plan, in the order in which they are shown.
    static var namingMembers: [String] { get }
}

extension LocationRecord: PlannedItem {
    fileprivate static let namingMembers = ["identifier"]
}

extension ExperienceRecord: PlannedItem {
    fileprivate static let namingMembers = ["kind", "url"]
}

extension ShortCode: PlannedItem {
    fileprivate static let namingMembers = ["code"]
}

extension ImportCounts {
    fileprivate init(_ fields: inout JSONObjectReader) throws {
        self.init(
            added: try fields.requiredInteger("added"), changed: try fields.requiredInteger("changed"),
            removed: try fields.requiredInteger("removed"), unchanged: try fields.requiredInteger("unchanged")
        )
    }
}

extension ImportProblems {
    fileprivate init(_ fields: inout JSONObjectReader) throws {
        self.init(
            count: try fields.requiredInteger("count"),
            first: try fields.requiredArray("rows").map { value in
                var row = try JSONObjectReader(value, path: "rows")
                return ImportProblem(
                    line: try row.requiredInteger("line"), reason: try row.requiredString("reason"),
                    item: try row.optionalString("item"), value: try row.optionalString("value"))
            })
    }
}

extension ImportPlan {
    fileprivate init<Item: PlannedItem>(
        _ counts: ImportCounts, of _: Item.Type, _ fields: inout JSONObjectReader
    ) throws {
        var inUse = try fields.requiredObject("inUse")
        self.init(
            counts: counts, added: try Self.items("added", of: Item.self, &fields),
            changed: try Self.items("changed", of: Item.self, &fields),
            cleared: try fields.requiredArray("cleared").map { value in
                var cleared = try JSONObjectReader(value, path: "cleared")
                return Clearing(
                    field: try cleared.requiredString("field"), count: try cleared.requiredInteger("count"))
            },
            removed: try Self.items("removed", of: Item.self, &fields),
            inUse: RemovalsInUse(
                count: try inUse.requiredInteger("count"),
                first: try Self.items("first", of: Item.self, &inUse)),
            removalsAreAllowed: try fields.requiredBool("removalsAreAllowed"),
            quotas: try (try fields.optionalArray("quotas") ?? []).map { value in
                var forecast = try JSONObjectReader(value, path: "quotas")
                return try QuotaForecast(&forecast)
            })
    }

    private static func items<Item: PlannedItem>(
        _ name: String, of _: Item.Type, _ fields: inout JSONObjectReader
    ) throws -> [ImportPlan.Item] {
        try fields.requiredArray(name).map { value in
            var item = try JSONObjectReader(value, path: name)
            let detail: String
            if let dependents = try item.optionalArray("by") {
                detail = try dependents.map { try Dependents($0).description }.joined(separator: " and ")
            } else {
                detail = try (try item.optionalArray("changes") ?? []).map { try Change($0).description }
                    .joined(separator: ", ")
            }
            return ImportPlan.Item(
                name: try Item.namingMembers.map { try item.requiredString($0) }.joined(separator: " "),
                detail: detail, members: value.objectValue ?? [:])
        }
    }
}

extension ImportPlan.Change {
    fileprivate init(_ value: JSONValue) throws {
        let members = value.objectValue ?? [:]
        var fields = try JSONObjectReader(value, path: "changes")
        self.init(
            field: try fields.requiredString("field"), before: members["before"] ?? .null,
            after: members["after"] ?? .null)
    }
}

extension Dependents {
    fileprivate init(_ value: JSONValue) throws {
        var fields = try JSONObjectReader(value, path: "by")
        let rows = RowCount(
            relation: try fields.requiredString("relation"), count: try fields.requiredInteger("rows"))
        self.init(rows, first: try fields.requiredArray("first").compactMap(\.stringValue))
    }
}
