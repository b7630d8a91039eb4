import Administration
import Formats
import Geodesy
import Invocation
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

/// Dry runs of imports, and imports that remove items that the file lacks.
@Suite struct ReplacementTests {
    private static let replacing = ImportOptions(prunes: true, allowedRemovals: 1_000)
    private static let planning = ImportOptions(prunes: true, isDryRun: true)

    /// Runs the closure with two tenants that have locations a to d and an experience of c.
    private static func withTwins(
        _ body: (Stores, _ tenant: TenantID, _ twin: TenantID) async throws -> Void
    ) async throws {
        try await Stores.withTenant { stores, tenant in
            let twin = try await stores.createTenant("twin")
            for tenant in [tenant, twin] {
                try await stores.createClip(of: tenant)
                try await stores.importLocations(["a", "b", "c", "d"].map { try .sample($0) }, of: tenant)
                try await stores.administration.createExperience(
                    .sample("https://example.com/c", location: "c"), of: tenant)
            }
            try await body(stores, tenant, twin)
        }
    }

    private static func plan(_ outcome: ImportOutcome) throws -> JSONObject {
        guard case .planned(let plan) = outcome else { throw NoPlan() }
        var json = plan.json
        var members = json["plan"]?.objectValue
        // QuotaTests compares the quotas.
        #expect(members?["quotas"]?.arrayValue?.isEmpty == false)
        members?["quotas"] = nil
        json["plan"] = members.map { .object($0) }
        return json
    }

    private struct NoPlan: Error {}

    /// Runs an import that waits for locked rows. Then runs `meanwhile` in the transaction that holds the lock, and commits it.
    private func importing(
        _ stores: Stores, _ tenant: TenantID, whileHolding lock: String, _ meanwhile: String,
        _ body: @escaping @Sendable () async throws -> ImportOutcome
    ) async throws -> ImportOutcome {
        let importing = try await stores.database.withPool(as: .admin) { pool in
            try await pool.withTransaction { transaction in
                try await transaction.setTenant(tenant.description)
                try await transaction.execute(script: lock)
                let importing = Task { try await body() }
                try await stores.waitForWaiters()
                if !meanwhile.isEmpty { try await stores.administer(tenant, meanwhile) }
                return importing
            }
        }
        return try await importing.value
    }

    /// If another transaction adds an item while removals are counted, that transaction succeeds and the import ends with a
    /// conflict.
    @Test(.timeLimit(.minutes(30))) func itemAddedMeanwhileMakesReplacementConflict() async throws {
        try await Self.withTwins { stores, tenant, _ in
            await #expect(throws: AdministrationError.conflict) {
                _ = try await importing(
                    stores, tenant,
                    whileHolding: "UPDATE doorstep.locations SET radius = 7 WHERE identifier = 'd'",
                    """
                    INSERT INTO doorstep.locations
                    SELECT '\(tenant)', 'new', name, latitude, longitude, radius FROM doorstep.locations LIMIT 1
                    """
                ) {
                    try await stores.administration.importLocations(
                        of: tenant, Rows(try ["a", "b", "c"].map { try LocationRecord.sample($0) }),
                        ImportOptions(prunes: true, allowedRemovals: 1))
                }
            }
            let kept = try await identifiers(stores, tenant)
            #expect(kept == ["a", "b", "c", "d", "new"])
        }
    }

    /// A row changes between the comparison and the write of an import.
    @Test(.timeLimit(.minutes(30))) func concurrentChangeMakesImportConflict() async throws {
        try await Self.withTwins { stores, tenant, _ in
            try await stores.createClip("com.example.Other.Clip", of: tenant)
            for lock in [
                """
                INSERT INTO doorstep.experiences (tenant_id, kind, url, bundle_id)
                VALUES ('\(tenant)', 'default', 'https://example.com/theirs', 'com.example.MyApp.Clip')
                """,
                "DELETE FROM doorstep.locations WHERE identifier = 'a'",
                "DELETE FROM doorstep.clips WHERE bundle_id = 'com.example.Other.Clip'",
            ] {
                await #expect(throws: AdministrationError.conflict, "\(lock)") {
                    _ = try await importing(stores, tenant, whileHolding: lock, "") {
                        try await stores.administration.importExperiences(
                            of: tenant,
                            Rows([
                                try ExperienceRecord.sample("https://example.com/default", kind: .default),
                                try .sample("https://example.com/x", location: "a"),
                                try .sample("https://example.com/y", clip: "com.example.Other.Clip"),
                            ]), ImportOptions())
                    }
                }
                // Restores the row for the next case.
                try await stores.administer(
                    tenant, "DELETE FROM doorstep.experiences WHERE url = 'https://example.com/theirs'")
                try await stores.importLocations([.sample("a")], of: tenant)
            }
            #expect(try await stores.administration.experiences(of: tenant).count == 1)
        }
    }

    /// The errors of the first hundred invalid rows are listed, each once.
    @Test func manyRejectedRowsAreCountedAndFirstHundredNamed() async throws {
        try await Self.withTwins { stores, tenant, _ in
            // Each row has an unknown clip and an unknown location, and every second row is a duplicate.
            let rows = try (0..<3_000).map {
                try ExperienceRecord.sample(
                    "https://example.com/\($0 / 2)", kind: .default, clip: "com.example.No.Clip",
                    location: "no")
            }
            let outcome = try await stores.administration.importExperiences(of: tenant, Rows(rows))
            guard case .refused(let problems) = outcome else { throw NoPlan() }
            #expect(problems.count == 3_000 && problems.first.map(\.line) == Array(2..<102))
            #expect(problems.first[0].reason == "clip: the tenant has no clip com.example.No.Clip")
            #expect(problems.first[1].reason == "url: it is on line 2 already")
        }
    }

    /// A dry run reports whether the limit of removals would refuse the import.
    @Test func planShowsWhetherRemovalsAreAllowed() async throws {
        try await Self.withTwins { stores, tenant, _ in
            for (allowed, kept, isAllowed) in [
                (nil, ["a", "b"], true), (nil, ["a"], false), (3, ["a"], true), (2, ["a"], false),
                (0, ["a", "b", "c", "d"], true),
            ] as [(Int?, [String], Bool)] {
                let outcome = try await stores.administration.importLocations(
                    of: tenant, Rows(try kept.map { try LocationRecord.sample($0) }),
                    ImportOptions(prunes: true, isDryRun: true, allowedRemovals: allowed))
                guard case .planned(let plan) = outcome else { throw NoPlan() }
                #expect(plan.removalsAreAllowed == isAllowed, "\(kept) of \(allowed ?? -1)")
                #expect(plan.json["plan"]?.objectValue?["removalsAreAllowed"] == .bool(isAllowed))
            }
        }
    }

    private func identifiers(_ stores: Stores, _ tenant: TenantID) async throws -> [String] {
        try await stores.administration.locations(of: tenant, after: nil, limit: 99).map(\.identifier.text)
    }

    @Test func planNamesChangesAndChangesNothing() async throws {
        try await Self.withTwins { stores, tenant, _ in
            let before = try await stores.administration.locations(of: tenant, after: nil, limit: 99)
            let entries = try await stores.count("SELECT count(*) FROM doorstep.audit_log")
            let rows: [LocationRecord] = [
                try .sample("e"), try .sample("a"),
                try .sample("b", name: "B", radius: 5, details: ["phone": "1"]),
            ]
            let outcome = try await stores.administration.importLocations(
                of: tenant, Rows(rows), Self.planning)
            let by: JSONValue = [
                ["first": ["advanced https://example.com/c"], "relation": "experiences", "rows": 1]
            ]
            #expect(
                try Self.plan(outcome) == [
                    "added": 1, "changed": 1, "removed": 2, "unchanged": 1,
                    "plan": [
                        "added": [["identifier": "e"]],
                        "changed": [
                            [
                                "identifier": "b",
                                "changes": [
                                    ["field": "name", "before": "A place", "after": "B"],
                                    ["field": "radius", "before": 100, "after": 5],
                                    ["field": "details.phone", "before": .null, "after": "1"],
                                ],
                            ]
                        ],
                        "cleared": [],
                        "removed": [["identifier": "c"], ["identifier": "d"]],
                        "inUse": ["count": 1, "first": [["identifier": "c", "by": by]]],
                        "removalsAreAllowed": true,
                    ],
                ])
            // Without pruning, the plan has no removals.
            let merging = try await stores.administration.importLocations(
                of: tenant, Rows(rows), ImportOptions(isDryRun: true))
            let merged = try Self.plan(merging)
            #expect(merged["removed"] == 0 && merged["unchanged"] == 1)
            #expect(try await stores.administration.locations(of: tenant, after: nil, limit: 99) == before)
            #expect(try await stores.count("SELECT count(*) FROM doorstep.audit_log") == entries)
        }
    }

    @Test func replacementDeletesItemsMissingInTheFile() async throws {
        try await Self.withTwins { stores, tenant, twin in
            let rows = [try LocationRecord.sample("c"), try .sample("e"), try .sample("a", radius: 5)]
            for counts in [
                ImportCounts(added: 1, changed: 1, removed: 2, unchanged: 1),
                ImportCounts(added: 0, changed: 0, removed: 0, unchanged: 3),
            ] {
                let outcome = try await stores.administration.importLocations(
                    of: tenant, Rows(rows), ImportOptions(prunes: true))
                #expect(outcome == .done(counts))
                #expect(try await identifiers(stores, tenant) == ["a", "c", "e"])
            }
            #expect(try await identifiers(stores, twin) == ["a", "b", "c", "d"])
            let removals = try await stores.count(
                """
                SELECT count(*) FROM doorstep.audit_log
                WHERE relation = 'locations' AND action = 'delete' AND tenant_id = \(tenant.uuid)
                """)
            #expect(removals == 2)
        }
    }

    @Test func itemInUseIsNotDeletedByReplacement() async throws {
        try await Self.withTwins { stores, tenant, _ in
            let expected = RemovalsInUse(
                count: 1,
                first: [
                    ImportPlan.Item(
                        name: "c", detail: "1 experience (advanced https://example.com/c)",
                        members: [
                            "identifier": "c",
                            "by": [
                                [
                                    "first": ["advanced https://example.com/c"], "relation": "experiences",
                                    "rows": 1,
                                ]
                            ],
                        ])
                ])
            await #expect(throws: AdministrationError.removalsInUse(expected)) {
                try await stores.administration.importLocations(
                    of: tenant,
                    Rows([try LocationRecord.sample("a"), try .sample("b"), try .sample("d", radius: 7)]),
                    ImportOptions(prunes: true))
            }
            #expect(
                "\(AdministrationError.removalsInUse(expected))"
                    == "items that would be removed are in use, 1: c by 1 experience (advanced https://example.com/c)"
            )
            let stored = try await stores.administration.locations(of: tenant, after: nil, limit: 99)
            #expect(stored.map(\.region.radius.meters) == [100, 100, 100, 100])
        }
    }

    /// The error names the first hundred of 250 items in use.
    @Test func firstHundredItemsAreNamedAndTheRestCounted() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            let names = (0..<250).map { String(1_000 + $0) }
            try await stores.importLocations(names.map { try .sample($0) }, of: tenant)
            try await stores.importExperiences(
                names.flatMap { name in
                    try ["x", "y"].map {
                        try .sample("https://example.com/\(name)/\($0)", location: name)
                    }
                }, of: tenant)
            let outcome = try await stores.administration.importLocations(
                of: tenant, Rows([try LocationRecord.sample("one")]), Self.planning)
            guard case .planned(let plan) = outcome else { throw NoPlan() }
            #expect(plan.counts == ImportCounts(added: 1, changed: 0, removed: 250, unchanged: 0))
            #expect(plan.removed.map(\.name) == Array(names.prefix(100)))
            #expect(plan.inUse.count == 250 && plan.inUse.first.map(\.name) == Array(names.prefix(100)))
            #expect(plan.inUse.first.first?.detail.hasPrefix("2 experiences (advanced ") == true)
        }
    }

    @Test(arguments: [(nil, 2), (3, 3), (2, 2), (0, 0)] as [(Int?, Int)])
    func moreThanHalfIsDeletedOnlyIfAllowed(allowed: Int?, limit: Int) async throws {
        try await Stores.withTenant { stores, tenant in
            let names = ["a", "b", "c", "d"]
            try await stores.importLocations(names.map { try .sample($0) }, of: tenant)
            for removals in 1...4 {
                let rows = try names.dropFirst(removals).map { try LocationRecord.sample($0) }
                let options = ImportOptions(prunes: true, allowedRemovals: allowed)
                if removals <= limit {
                    let outcome = try await stores.administration.importLocations(
                        of: tenant, Rows(rows), options)
                    #expect(
                        outcome
                            == .done(
                                ImportCounts(
                                    added: 0, changed: 0, removed: removals, unchanged: rows.count)))
                    try await stores.importLocations(names.map { try .sample($0) }, of: tenant)
                } else {
                    let refusal = AdministrationError.tooManyRemovals(removals, of: 4, allowed: limit)
                    await #expect(throws: refusal) {
                        try await stores.administration.importLocations(of: tenant, Rows(rows), options)
                    }
                }
                #expect(try await identifiers(stores, tenant) == names)
            }
        }
    }

    /// If a row is refused, nothing is removed either.
    @Test func rejectedReplacementChangesNothing() async throws {
        try await Self.withTwins { stores, tenant, _ in
            let outcome = try await stores.administration.importLocations(
                of: tenant,
                Rows([try LocationRecord.sample("a", radius: 9), try .sample("c"), try .sample("c")]),
                Self.replacing)
            #expect(outcome.problems == ["4: identifier: it is on line 3 already"])
            #expect(try await identifiers(stores, tenant) == ["a", "b", "c", "d"])
        }
    }

    @Test func experiencesAreReplaced() async throws {
        try await Self.withTwins { stores, tenant, twin in
            let store = stores.administration
            try await stores.importExperiences(
                [.sample("https://example.com/old", kind: .default), .sample("https://example.com/b")],
                of: tenant)
            // A replacement may bring another default experience if it removes the old one.
            let rows = [
                try ExperienceRecord.sample("https://example.com/new", kind: .default),
                try .sample("https://example.com/c", rule: "path:1", title: "T"),
            ]
            let planned = try await store.importExperiences(of: tenant, Rows(rows), Self.planning)
            func named(_ kind: ExperienceKind, _ url: String) throws -> JSONObject {
                ExperienceRecord.members(of: ExperienceID(kind, try URLPrefix(url)))
            }
            var changed = try named(.advanced, "https://example.com/c")
            changed["changes"] = [
                ["field": "location", "before": "c", "after": .null],
                ["field": "identifierRule", "before": .null, "after": "path:1"],
                ["field": "title", "before": .null, "after": "T"],
            ]
            #expect(
                try Self.plan(planned)["plan"] == [
                    "added": [.object(try named(.default, "https://example.com/new"))],
                    "changed": [.object(changed)], "cleared": [["field": "location", "count": 1]],
                    "removed": [
                        .object(try named(.advanced, "https://example.com/b")),
                        .object(try named(.default, "https://example.com/old")),
                    ],
                    "inUse": ["count": 0, "first": []], "removalsAreAllowed": false,
                ])
            let done = try await store.importExperiences(of: tenant, Rows(rows), Self.replacing)
            #expect(done == .done(ImportCounts(added: 1, changed: 1, removed: 2, unchanged: 0)))
            #expect(Set(try await store.experiences(of: tenant)) == Set(rows))
            #expect(try await store.experiences(of: twin).count == 1)
            // If the old default experience stays, another one is refused.
            let second = try await store.importExperiences(
                of: tenant, Rows(rows + [.sample("https://example.com/other", kind: .default)]),
                Self.replacing)
            #expect(
                second.problems == [
                    "4: kind: the clip com.example.MyApp.Clip has a default experience already"
                ])
        }
    }

    @Test func shortCodesAreReplaced() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            try await stores.importShortCodes([.sample("a"), .sample("b")], of: tenant)
            let rows = [try ShortCode.sample("a", "https://example.com/x"), try .sample("c")]
            let planned = try await store.importShortCodes(of: tenant, Rows(rows), Self.planning)
            #expect(
                try Self.plan(planned)["plan"] == [
                    "added": [["code": "c"]],
                    "changed": [
                        [
                            "code": "a",
                            "changes": [
                                [
                                    "field": "url", "before": "https://example.com/long",
                                    "after": "https://example.com/x",
                                ]
                            ],
                        ]
                    ],
                    "cleared": [],
                    "removed": [["code": "b"]], "inUse": ["count": 0, "first": []],
                    "removalsAreAllowed": true,
                ])
            let done = try await store.importShortCodes(of: tenant, Rows(rows), ImportOptions(prunes: true))
            #expect(done == .done(ImportCounts(added: 1, changed: 1, removed: 1, unchanged: 0)))
            #expect(try await store.shortCodes(of: tenant, after: nil, limit: 9) == rows)
        }
    }
}
