public import Administration
import Formats
import NIOHTTP1
import Tenancy

extension APIItems where Item: WritableResource {
    /// Imports a CSV file, which is sent while it is read.
    public func importTable(_ file: FileChunks, _ options: ImportOptions) async throws -> ImportOutcome {
        var query: [(String, String)] = []
        if options.prunes { query.append(("prune", "true")) }
        if options.isDryRun { query.append(("dryRun", "true")) }
        if let allowed = options.allowedRemovals { query.append(("allowRemovals", "\(allowed)")) }
        let reply = try await api.ask(
            .PATCH, Item.path, query, content: ("text/csv", .chunks(file)), within: Self.importTimeout,
            problems: ["invalid_rows"])
        return try reply.reading { fields in
            if reply.problem != nil { return .refused(try ImportProblems(&fields)) }
            let counts = try ImportCounts(&fields)
            guard var plan = try fields.optionalObject("plan") else { return .done(counts) }
            return .planned(try ImportPlan(counts, of: Item.self, &plan))
        }
    }

    /// How long an import may take: as long as a server takes rows, writes them and waits for its lookups.
    private static var importTimeout: Duration { .seconds(2_400) }
}

// MARK: - The outcome in a response

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
    fileprivate init<Item: WritableResource>(
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

    private static func items<Item: WritableResource>(
        _ name: String, of _: Item.Type, _ fields: inout JSONObjectReader
    ) throws -> [ImportPlan.Item] {
        // The members of the key in the order in which they are shown.
        let key = Item.fields.filter { $0.kind == .key }.map(\.name).sorted()
        return try fields.requiredArray(name).map { value in
            var item = try JSONObjectReader(value, path: name)
            let detail: String
            if let dependents = try item.optionalArray("by") {
                detail = try dependents.map { try Dependents($0).description }.joined(separator: " and ")
            } else {
                detail = try (try item.optionalArray("changes") ?? []).map { try Change($0).description }
                    .joined(separator: ", ")
            }
            return ImportPlan.Item(
                name: try key.map { try item.requiredString($0) }.joined(separator: " "),
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
