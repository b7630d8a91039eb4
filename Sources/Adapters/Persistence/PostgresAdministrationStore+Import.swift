import Administration
import Cards
import Formats
import PostgreSQL
import Tenancy

extension PostgresAdministrationStore {
    /// Imports all rows or none.
    ///
    /// A tenant's imports wait for each other, so that the second sees the changes of the first.
    /// - Parameter actor: The actor in the audit log; nil for the store's own actor.
    /// - Throws: `AdministrationError.tenantDeleted` if the tenant was deleted before the import's turn.
    func importRows<Item: ImportedResource>(
        of tenant: TenantID, by actor: String? = nil,
        _ rows: some AsyncSequence<ImportedRow<Item>, any Error>, _ options: ImportOptions
    ) async throws -> ImportOutcome {
        try await ImportRefused.outcome {
            try await commit(tenant, by: actor ?? self.actor, within: Self.longTimeout) { transaction in
                // The lock is taken before the first row, because reading a file can take long.
                try await transaction.waitForImports()
                return try await transaction.importRows(rows, options)
            }.result
        }
    }
}

extension TenantTransaction {
    /// Waits until no import and no deletion of the tenant is running. Until the end of this transaction, none can begin.
    func waitForImports() async throws {
        // Does not lock the tenant's row, so that the tenant can be suspended during an import.
        try await execute("SELECT pg_advisory_xact_lock(hashtextextended(\("import \(tenant)"), 0))")
    }

    /// Imports all rows. Reads and locks existing items only after all rows have arrived.
    /// - Throws: `ImportRefused`, so that the transaction is rolled back. It has then changed nothing permanently.
    func importRows<Item: ImportedResource>(
        _ rows: some AsyncSequence<ImportedRow<Item>, any Error>, _ options: ImportOptions
    ) async throws -> ImportOutcome {
        var rows = rows.makeAsyncIterator()
        let (count, refused) = try await copy(Item.self, replaces: options.replaces) {
            try await rows.next()
        }
        try await waitForImports()
        guard try await tenant() != nil else { throw AdministrationError.tenantDeleted }
        let existing = options.isDryRun ? nil : try await lockForPartialCards(Item.self)
        let unmerged = try await mergeCards(Item.self)
        guard unmerged.isEmpty else { throw ImportRefused(problems: unmerged) }
        var problems = try await self.problems(Item.self, prunes: options.prunes)
        problems.add(refused)
        guard problems.isEmpty else { throw ImportRefused(problems: problems) }
        guard !options.isDryRun else { return .planned(try await plan(Item.self, count, options)) }
        try await checkQuotas(Item.self, count, prunes: options.prunes)
        do {
            let seen = try await expected(Item.self, options)
            let removed = options.prunes ? try await removeOthers(Item.self, options.allowedRemovals) : 0
            let counts = try await merge(Item.self, count, removed: removed)
            // Other transactions may have added rows after the lock.
            if let seen, removed != seen.total - seen.staged { throw AdministrationError.conflict }
            if let existing = seen?.staged ?? existing, counts.added != count - existing {
                throw AdministrationError.conflict
            }
            return .done(counts)
        } catch let error as PostgreSQLError
            where error.isUniqueViolation() || error.isForeignKeyViolation() && !error.isOfTenantThatIsGone
        {
            // Another transaction may have changed an item since it was read above.
            throw AdministrationError.conflict
        }
    }

    /// Locks the existing items and compares their state with a plan; nil if no plan was given.
    private func expected<Item: ImportedResource>(
        _: Item.Type, _ options: ImportOptions
    ) async throws -> (hash: String, total: Int, staged: Int)? {
        guard let expected = options.expectedState else { return nil }
        let state = try await state(Item.self, prunes: options.prunes, locks: true)
        guard state.hash == expected else { throw AdministrationError.conflict }
        return state
    }

    private func state<Item: ImportedResource>(
        _: Item.Type, prunes: Bool, locks: Bool
    ) async throws -> (hash: String, total: Int, staged: Int) {
        let row = try await execute(Item.state(of: tenant, prunes: prunes, locks: locks)).one()
        return try row.decode(String.self, Int.self, Int.self)
    }

    /// Copies rows into `pg_temp.staged`.
    /// - Parameters:
    ///   - replaces: Whether each row contains the whole item.
    ///   - next: Returns the next row, or nil at the end.
    /// - Returns: The number of rows, and the errors of refused rows.
    func copy<Item: ImportedResource>(
        _: Item.Type, replaces: Bool = true, _ next: () async throws -> ImportedRow<Item>?
    ) async throws -> (count: Int, problems: ImportProblems) {
        try await execute(Item.stagingTable)
        try await execute(Item.refusalTable)
        var problems = ImportProblems()
        let fields = Item.changeableFields
        let all = ClearedFields(members: Item.changeableColumns.map(\.field))
        // All rows of a table clear the same fields, which are written once.
        var first: ClearedFields?
        let count = try await copyIn("COPY pg_temp.staged FROM STDIN") { writer in
            while let row = try await next() {
                switch row {
                case .row(let row, let line, let clears):
                    let clears = (replaces ? all : clears ?? all).storable
                    if first == nil { first = clears }
                    let card = row.stagedCard
                    let keepsCard =
                        clears.card.isEmpty && card?.isEmpty != false
                        && !clears.members.contains("card")
                    try await writer.writeRow(
                        [String(line), clears == first ? nil : JSONValue.object(clears.json).text]
                            + row.copyTexts(fields, with: keepsCard ? nil : card))
                case .refused(let problem): problems.add(problem)
                }
            }
        }
        for query in Item.clearedTable(first ?? ClearedFields()) { try await execute(query) }
        try await execute("ANALYZE pg_temp.staged")
        return (count, problems)
    }

    /// If a staged row changes a part of a card, locks the existing rows. This process merges the card, not the database, so no other
    /// transaction may change the card until the import has written it.
    /// - Returns: The number of existing rows; nil if nothing was locked.
    private func lockForPartialCards<Item: ImportedResource>(_: Item.Type) async throws -> Int? {
        guard Item.hasCard, try await execute(Item.hasPartialCards).one().decode(at: 0, as: Bool.self) else {
            return nil
        }
        return try await execute(Item.lock(of: tenant)).one().decode(at: 0)
    }

    /// If a row sets or clears a part of a card, writes the complete card to `pg_temp.staged`. ``Card`` validates it.
    /// - Returns: The problems of rows whose merged card is invalid.
    private func mergeCards<Item: ImportedResource>(_: Item.Type) async throws -> ImportProblems {
        var problems = ImportProblems()
        guard Item.hasCard else { return problems }
        try await execute(
            #"CREATE TEMPORARY TABLE cards (line bigint, card jsonb, card_image text COLLATE "C") ON COMMIT DROP"#
        )
        try await execute(Item.partialCards(of: tenant))
        while true {
            let rows = try await execute("FETCH 1000 FROM cards")
            var (lines, cards, images): ([Int], [String], [String]) = ([], [], [])
            for row in rows {
                let (line, said, saidImage, cleared, stored, storedImage) = try row.decode(
                    Int.self, JSONText.self, String?.self, [String].self, JSONText?.self, String?.self)
                let (there, set) = (
                    try Card(stored: stored, image: storedImage), try Card(stored: said, image: saidImage)
                )
                do throws(JSONFieldError) {
                    let card = try there.patched(clearing: cleared, setting: set)
                    let fields = Card.staged(card)
                    lines.append(line)
                    cards.append(fields[0] ?? "{}")
                    images.append(fields[1] ?? "")
                } catch {
                    problems.add(line: line, "\(error)")
                }
            }
            if !lines.isEmpty {
                try await execute(
                    """
                    INSERT INTO pg_temp.cards
                    SELECT line, card, nullif(image, '')
                    FROM unnest(\(lines), \(cards)::jsonb[], \(images)) c (line, card, image)
                    """
                )
            }
            guard rows.count == 1_000 else { break }
        }
        try await execute("CLOSE cards")
        try await execute(
            """
            UPDATE pg_temp.staged s SET card = c.card, card_image = c.card_image
            FROM pg_temp.cards c WHERE c.line = s.line
            """)
        return problems
    }

    /// The errors of the rows in `pg_temp.staged`.
    func problems<Item: ImportedResource>(_: Item.Type, prunes: Bool = false) async throws -> ImportProblems {
        // A row is refused once, for the first reason found.
        for query in [Item.repetitions] + Item.problems(of: tenant, prunes: prunes) {
            try await execute(query)
        }
        var total = 0
        let first = try await execute(Item.refusals).map { row in
            let (line, reason, count, key) = try row.decode(
                Int.self, String.self, Int.self, String?.self)
            total = count
            return ImportProblem(line: line, reason: reason, item: key)
        }
        return ImportProblems(count: total, first: first)
    }

    /// Adds and changes items by the rows in `pg_temp.staged`.
    /// - Parameters:
    ///   - count: The number of staged rows.
    ///   - removed: The number of items that were removed before.
    @discardableResult
    func merge<Item: ImportedResource>(
        _: Item.Type, _ count: Int, removed: Int = 0
    ) async throws -> ImportCounts {
        let added = try await execute(Item.addition(to: tenant)).affectedRows
        // After the addition, so that rows that another transaction added meanwhile are included.
        let changed = added == count ? 0 : try await execute(Item.change(of: tenant)).affectedRows
        return ImportCounts(
            added: added, changed: changed, removed: removed, unchanged: count - added - changed)
    }

    /// Removes the items without a row in `pg_temp.staged`.
    /// - Returns: The number of removed items.
    private func removeOthers<Item: ImportedResource>(_: Item.Type, _ allowed: Int?) async throws -> Int {
        let (total, count) = try await execute(Item.removals(of: tenant)).one().decode(Int.self, Int.self)
        let allowed = allowed ?? ImportOptions.allowedRemovals(of: total)
        guard count <= allowed else {
            throw AdministrationError.tooManyRemovals(count, of: total, allowed: allowed)
        }
        let inUse = try await removalsInUse(Item.self)
        guard inUse.count == 0 else { throw AdministrationError.removalsInUse(inUse) }
        // Other transactions may have added rows after the count.
        guard try await execute(Item.removal(of: tenant)).affectedRows == count else {
            throw AdministrationError.conflict
        }
        return count
    }

    private func removalsInUse<Item: ImportedResource>(_: Item.Type) async throws -> RemovalsInUse {
        var inUse = RemovalsInUse()
        for reference in Item.dependents {
            let found = try await removalsInUse(Item.self, by: reference)
            inUse = RemovalsInUse(
                count: inUse.count + found.count,
                first: Array((inUse.first + found.first).prefix(ImportPlan.limit)))
        }
        return inUse
    }

    private func removalsInUse<Item: ImportedResource>(
        _: Item.Type, by reference: Reference
    ) async throws -> RemovalsInUse {
        var total = 0
        let first = try await execute(Item.removalsInUse(of: tenant, by: reference)).map { row in
            let (key, count, names, all) = try row.decode([String].self, Int.self, [String].self, Int.self)
            total = all
            let dependents = Dependents(RowCount(relation: reference.relation, count: count), first: names)
            return try Item.planned(key, dependents.description, ["by": [.object(dependents.json)]])
        }
        return RemovalsInUse(count: total, first: first)
    }

    /// Before anything is written, refuses an import that COMMIT would refuse because of a quota.
    private func checkQuotas<Item: ImportedResource>(_: Item.Type, _ count: Int, prunes: Bool) async throws {
        let usage = try await usage()
        let bytes = try await execute(Item.stagedBytes).one().decode(at: 0, as: Int.self)
        // An upper limit for the added rows, without reading existing rows.
        let isNear = Item.quotas.flatMap { kind in
            usage[kind].map { [($0.rows + count, $0.limit.rows), ($0.bytes + bytes, $0.limit.bytes)] } ?? []
        }.contains { $0.0 > $0.1 ?? .max }
        guard isNear else { return }
        let exceeded = try await forecast(Item.self, prunes: prunes, usage).first(where: \.isExceeded)
        if let exceeded { throw QuotaExceeded(exceeded) }
    }

    private func usage() async throws -> [QuotaKind: QuotaUsage] { try await tenant()?.usage ?? [:] }

    /// The forecast usage of the quotas that have a limit.
    private func forecast<Item: ImportedResource>(
        _: Item.Type, prunes: Bool, _ usage: [QuotaKind: QuotaUsage]
    ) async throws -> [QuotaForecast] {
        let (rows, bytes) = try await execute(Item.growth(of: tenant, prunes: prunes)).one()
            .decode(Int.self, Int.self)
        return Item.quotas.flatMap { kind -> [QuotaForecast] in
            guard let usage = usage[kind] else { return [] }
            let amounts: [(QuotaForecast.Unit, Int, Int, Int?)] = [
                (.rows, usage.rows, rows, usage.limit.rows), (.bytes, usage.bytes, bytes, usage.limit.bytes),
            ]
            return amounts.compactMap { unit, current, growth, limit in
                limit.map {
                    QuotaForecast(
                        kind: kind, unit: unit, limit: $0, current: current, wouldBe: current + growth)
                }
            }
        }
    }

    private func plan<Item: ImportedResource>(
        _: Item.Type, _ count: Int, _ options: ImportOptions
    ) async throws -> ImportPlan {
        // Read before the plan, so that the state differs if other transactions change items meanwhile.
        let state = try await state(Item.self, prunes: options.prunes, locks: false).hash
        var items: [String: [ImportPlan.Item]] = [:]
        var totals: [String: Int] = [:]
        let planned = try await execute(Item.plan(for: tenant, prunes: options.prunes)).map {
            try $0.decode(String.self, [String].self, Int.self)
        }
        let changes = try await changes(Item.self, planned.filter { $0.0 == "changed" }.map(\.1))
        for (action, key, total) in planned {
            totals[action] = total
            let fields = action == "changed" ? changes[key] ?? [] : []
            items[action, default: []].append(
                try Item.planned(
                    key, fields.map(\.description).joined(separator: ", "),
                    action == "changed" ? ["changes": .array(fields.map { .object($0.json) })] : [:]))
        }
        var cleared: [ImportPlan.Clearing] = []
        if totals["changed"] != nil {
            cleared = try await execute(Item.clearings(of: tenant)).map { row in
                let (field, count) = try row.decode(String.self, Int.self)
                return ImportPlan.Clearing(field: field, count: count)
            }
        }
        let (added, changed) = (totals["added"] ?? 0, totals["changed"] ?? 0)
        let removed = totals["removed"] ?? 0
        let allowed =
            options.allowedRemovals ?? ImportOptions.allowedRemovals(of: count - added + removed)
        return ImportPlan(
            counts: ImportCounts(
                added: added, changed: changed, removed: removed, unchanged: count - added - changed),
            added: items["added"] ?? [], changed: items["changed"] ?? [], cleared: cleared,
            removed: items["removed"] ?? [],
            inUse: options.prunes ? try await removalsInUse(Item.self) : RemovalsInUse(),
            removalsAreAllowed: removed <= allowed,
            quotas: try await forecast(Item.self, prunes: options.prunes, usage()), state: state)
    }

    /// The changes of the items with these keys, field by field in the order of the columns.
    private func changes<Item: ImportedResource>(
        _: Item.Type, _ keys: [[String]]
    ) async throws -> [[String]: [ImportPlan.Change]] {
        guard !keys.isEmpty else { return [:] }
        var values: [[String]: [String: (before: JSONValue, after: JSONValue)]] = [:]
        for row in try await execute(Item.changes(of: tenant, keys)) {
            let (key, field, before, after) = try row.decode(
                [String].self, String.self, JSONText?.self, JSONText?.self)
            values[key, default: [:]][field] = (
                try before.map { try JSONValue(parsing: $0.text.utf8) } ?? .null,
                try after.map { try JSONValue(parsing: $0.text.utf8) } ?? .null
            )
        }
        return values.mapValues { fields in
            Item.changeableColumns.flatMap { column in
                fields[column.field].map {
                    ImportPlan.Change.all(from: $0.before, to: $0.after, in: column.field)
                } ?? []
            }
        }
    }
}

extension ImportPlan.Change {
    /// The change of a value. For two objects, a change for each member that differs.
    fileprivate static func all(
        from before: JSONValue, to after: JSONValue, in field: String
    ) -> [ImportPlan.Change] {
        guard before != after else { return [] }
        guard before.objectValue != nil || after.objectValue != nil else {
            return [ImportPlan.Change(field: field, before: before, after: after)]
        }
        let (old, new) = (before.objectValue ?? [:], after.objectValue ?? [:])
        return Set(old.map(\.key) + new.map(\.key)).sorted().flatMap {
            all(from: old[$0] ?? .null, to: new[$0] ?? .null, in: "\(field).\($0)")
        }
    }
}

extension ImportedResource {
    fileprivate static func planned(
        _ columns: [String], _ detail: String, _ members: JSONObject
    ) throws -> ImportPlan.Item {
        let key = try key(from: columns)
        return ImportPlan.Item(
            name: columns.joined(separator: " "), detail: detail,
            members: Self.members(of: key).reduce(into: members) { $0[$1.key] = $1.value })
    }
}

struct ImportRefused: Error {
    let problems: ImportProblems

    /// The result of an import; refused rows are not an error.
    static func outcome(_ body: () async throws -> ImportOutcome) async throws -> ImportOutcome {
        do {
            return try await body()
        } catch let refusal as ImportRefused {
            return .refused(refusal.problems)
        }
    }
}
