import Administration
import Cards
import Formats
import Geodesy
import Invocation
import Lookups
import Persistence
import PostgreSQL
import Synchronization
import Tenancy
import TestSupport
import Testing

/// An import does not change fields that the file lacks. It clears fields that the file contains without a value.
@Suite struct ImportMergeTests {
    private static let columns = "identifier,name,latitude,longitude,radius"

    private static func chunks(_ text: String) -> FileChunks {
        let rest = Mutex<[UInt8]?>(Array(text.utf8))
        return FileChunks {
            rest.withLock { rest in
                defer { rest = nil }
                return rest
            }
        }
    }

    private static func rows<Item: WritableResource>(
        csv text: String
    ) -> FileRows<FileChunks, TableReader<Item>> {
        FileRows(chunks(text), TableReader())
    }

    private static func rows<Item: WritableResource>(
        lines text: String
    ) -> FileRows<FileChunks, JSONLineReader<Item>> {
        FileRows(chunks(text), JSONLineReader(maximumLineLength: 1 << 20))
    }

    private static func card() throws -> Card {
        var place = Place()
        place.names = ["Café"]
        place.phone = Place.PhoneNumber("+1 555", type: .landline)
        return Card(
            action: .open,
            texts: [
                .english: try CardText(title: "Café", subtitle: "Cakes"), .japanese: try CardText(title: "J"),
            ],
            place: place)
    }

    private static func full(_ identifier: String, radius: Double = 100) throws -> LocationRecord {
        try .sample(
            identifier, radius: radius, metadata: ["cuisine": "Italian", "chef": "Ann"],
            details: ["phone": "1", "menu": "/m"], card: card())
    }

    /// Runs the closure with a tenant whose locations `a` and `b` have every field.
    private static func withLocations(_ body: (Stores, TenantID) async throws -> Void) async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations([full("a"), full("b")], of: tenant)
            try await body(stores, tenant)
        }
    }

    private static func stored(_ stores: Stores, _ tenant: TenantID) async throws -> [LocationRecord] {
        try await stores.administration.locations(of: tenant, after: nil, limit: 99)
    }

    private static func plan(_ outcome: ImportOutcome) throws -> ImportPlan {
        guard case .planned(let plan) = outcome else { throw NoPlan() }
        return plan
    }

    private struct NoPlan: Error {}

    @Test func absentColumnsLeaveFieldsUnchanged() async throws {
        try await Self.withLocations { stores, tenant in
            let outcome = try await stores.administration.importLocations(
                of: tenant,
                Self.rows(
                    csv: """
                        \(Self.columns)
                        a,A place,37.334722,-122.008889,250
                        b,A place,37.334722,-122.008889,100
                        c,New,1,2,3

                        """))
            #expect(outcome == .done(1, 1, 1))
            #expect(
                try await Self.stored(stores, tenant) == [
                    Self.full("a", radius: 250), Self.full("b"),
                    .sample("c", name: "New", latitude: 1, longitude: 2, radius: 3),
                ])
        }
    }

    @Test func emptyCellClearsOnlyItsField() async throws {
        try await Self.withLocations { stores, tenant in
            let outcome = try await stores.administration.importLocations(
                of: tenant,
                Self.rows(
                    csv: """
                        \(Self.columns),cuisine,details.phone,card.texts.en.subtitle,card.place.names,card.action
                        a,A place,37.334722,-122.008889,100,,,,,
                        b,A place,37.334722,-122.008889,100,Thai,2,Pies,Bistro,VIEW

                        """))
            #expect(outcome == .done(0, 2, 0))
            let places = try await Self.stored(stores, tenant)
            #expect(places.map(\.metadata) == [["chef": "Ann"], ["chef": "Ann", "cuisine": "Thai"]])
            #expect(places.map(\.details.texts) == [["menu": "/m"], ["menu": "/m", "phone": "2"]])
            var (cleared, set) = (try Self.card(), try Self.card())
            cleared.action = nil
            cleared.place?.names = nil
            cleared.texts[.english] = try CardText(title: "Café")
            set.action = .view
            set.place?.names = ["Bistro"]
            set.texts[.english] = try CardText(title: "Café", subtitle: "Pies")
            #expect(places.map(\.card) == [cleared, set])
        }
    }

    @Test func jsonLineIsAMergePatch() async throws {
        try await Self.withLocations { stores, tenant in
            let own = #""name":"A place","latitude":37.334722,"longitude":-122.008889,"radius":100"#
            let outcome = try await stores.administration.importLocations(
                of: tenant,
                Self.rows(
                    lines: """
                        {"identifier":"a",\(own),"metadata":{"chef":null,"year":"1999"},"card":{"place":null}}
                        {"identifier":"b",\(own),"details":null,"card":null}
                        {"identifier":"c",\(own),"metadata":{"chef":null}}
                        """))
            #expect(outcome == .done(1, 2, 0))
            var a = try Self.full("a")
            a.metadata = ["cuisine": "Italian", "year": "1999"]
            a.card.place = nil
            var b = try Self.full("b")
            b.details = .none
            b.card = Card()
            #expect(try await Self.stored(stores, tenant) == [a, b, .sample("c")])
        }
    }

    /// An object whose members are all null becomes empty and is removed (RFC 7396 §2).
    @Test func jsonLineClearsAllMembersOfAnObject() async throws {
        try await Self.withLocations { stores, tenant in
            let own = #""name":"A place","latitude":37.334722,"longitude":-122.008889,"radius":100"#
            let address = #"{"fullAddress":null,"structuredAddress":{"locality":null}}"#
            let outcome = try await stores.administration.importLocations(
                of: tenant,
                Self.rows(
                    lines: """
                        {"identifier":"a",\(own),"card":{"place":{"phoneNumber":{"number":null,"type":null},\
                        "mainAddress":\(address),"displayPoint":{"coordinates":{"latitude":null}}}}}
                        {"identifier":"c",\(own),"card":{"place":{"mainAddress":\(address)}}}
                        """))
            #expect(outcome == .done(1, 1, 0), "\(outcome)")
            var a = try Self.full("a")
            a.card.place?.phone = nil
            #expect(try await Self.stored(stores, tenant) == [a, Self.full("b"), .sample("c")])
        }
    }

    @Test func replacementClearsFieldsThatRowsOmit() async throws {
        try await Self.withLocations { stores, tenant in
            let outcome = try await stores.administration.importLocations(
                of: tenant, Self.rows(csv: "\(Self.columns)\na,A place,37.334722,-122.008889,100\n"),
                ImportOptions(prunes: true, replaces: true))
            #expect(outcome == .done(ImportCounts(added: 0, changed: 1, removed: 1, unchanged: 0)))
            #expect(try await Self.stored(stores, tenant) == [.sample("a")])
        }
    }

    @Test func prunedImportKeepsFieldsWithoutColumn() async throws {
        try await Self.withLocations { stores, tenant in
            let outcome = try await stores.administration.importLocations(
                of: tenant, Self.rows(csv: "\(Self.columns)\na,A place,37.334722,-122.008889,100\n"),
                ImportOptions(prunes: true))
            #expect(outcome == .done(ImportCounts(added: 0, changed: 0, removed: 1, unchanged: 1)))
            #expect(try await Self.stored(stores, tenant) == [Self.full("a")])
        }
    }

    @Test func planShowsOldAndNewValues() async throws {
        try await Self.withLocations { stores, tenant in
            let plan = try Self.plan(
                await stores.administration.importLocations(
                    of: tenant,
                    Self.rows(
                        csv: """
                            \(Self.columns),cuisine,details.fax,card.texts.EN.title
                            a,B place,37.334722,-122.008889,250,,3,Bar
                            b,A place,37.334722,-122.008889,100,Italian,,Café

                            """), ImportOptions(isDryRun: true)))
            #expect(plan.counts == ImportCounts(added: 0, changed: 1, unchanged: 1))
            #expect(
                plan.changed.map(\.detail) == [
                    """
                    name: A place → B place, radius: 100 → 250, metadata.cuisine: Italian → (empty), \
                    details.fax: (empty) → 3, card.texts.EN.title: Café → Bar
                    """
                ])
            #expect(
                plan.changed.first?.members["changes"]?.arrayValue?.prefix(2) == [
                    ["field": "name", "before": "A place", "after": "B place"],
                    ["field": "radius", "before": 100, "after": 250],
                ])
            #expect(plan.cleared == [ImportPlan.Clearing(field: "metadata.cuisine", count: 1)])
            #expect(try await Self.stored(stores, tenant) == [Self.full("a"), Self.full("b")])
        }
    }

    @Test func replacementPlanCountsClearedFields() async throws {
        try await Self.withLocations { stores, tenant in
            let plan = try Self.plan(
                await stores.administration.importLocations(
                    of: tenant,
                    Self.rows(
                        csv: """
                            \(Self.columns),cuisine
                            a,A place,37.334722,-122.008889,100,Italian
                            b,A place,37.334722,-122.008889,100,

                            """), ImportOptions(prunes: true, replaces: true, isDryRun: true)))
            #expect(
                plan.cleared.map { "\($0.field) \($0.count)" } == [
                    "card.action 2", "card.place.names 2", "card.place.phoneNumber 2", "card.texts.EN 2",
                    "card.texts.JA 2", "details.menu 2", "details.phone 2", "metadata.chef 2",
                    "metadata.cuisine 1",
                ])
        }
    }

    @Test func longValuesAreTruncatedInThePlan() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations([.sample("a")], of: tenant)
            let text = String(repeating: "é", count: 1_000)
            let plan = try Self.plan(
                await stores.administration.importLocations(
                    of: tenant,
                    Self.rows(csv: "\(Self.columns),note\na,A place,37.334722,-122.008889,100,\(text)\n"),
                    ImportOptions(isDryRun: true)))
            let cut = String(repeating: "é", count: 200) + "…"
            #expect(plan.changed.map(\.detail) == ["metadata.note: (empty) → \(cut)"])
        }
    }

    @Test func invalidMergedValuesAreRejectedByLine() async throws {
        try await Self.withLocations { stores, tenant in
            let text = String(repeating: "x", count: LocationDetails.maximumLength - 20)
            let long = try await stores.administration.importLocations(
                of: tenant,
                Self.rows(
                    csv: """
                        \(Self.columns),details.long
                        b,A place,37.334722,-122.008889,100,
                        a,A place,37.334722,-122.008889,100,\(text)

                        """))
            #expect(long.problems == ["3: details: details are at most 4096 bytes as JSON"])
            let phone = try await stores.administration.importLocations(
                of: tenant,
                Self.rows(
                    csv: """
                        \(Self.columns),card.place.phoneNumber.number
                        a,A place,37.334722,-122.008889,100,

                        """))
            #expect(phone.problems == ["2: The field card.place.phoneNumber.number is missing"])
            #expect(try await Self.stored(stores, tenant) == [Self.full("a"), Self.full("b")])
        }
    }

    /// Imports parts of the cards of `a`, whose card has this part already, and `b`, which has no card.
    private static func importPartialCards(_ stores: Stores, _ tenant: TenantID) async throws -> ImportOutcome
    {
        let own = #""name":"A place","latitude":37.334722,"longitude":-122.008889,"radius":100"#
        return try await stores.administration.importLocations(
            of: tenant,
            rows(
                lines: """
                    {"identifier":"a",\(own),"card":{"action":"OPEN"}}
                    {"identifier":"b",\(own),"card":{"action":"OPEN"}}

                    """), ImportOptions(replaces: false))
    }

    @Test(.timeLimit(.minutes(30))) func partialCardImportLocksUnchangedRows() async throws {
        try await Stores.withTenant { stores, tenant in
            let action = Card(action: .open)
            try await stores.importLocations(
                [.sample("a", card: action), .sample("b", card: Card(texts: Self.card().texts))], of: tenant)
            let importing = try await stores.database.withPool(as: .admin) { pool in
                try await pool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute(
                        "SELECT FROM doorstep.locations WHERE identifier = 'b' FOR UPDATE")
                    let importing = Task { try await Self.importPartialCards(stores, tenant) }
                    try await stores.waitForWaiters()
                    // Without the lock, this change succeeds and the import overwrites it.
                    try await stores.administer(
                        tenant,
                        """
                        UPDATE doorstep.locations SET card = '{"action": "OPEN", "texts": {"EN": {"title": "New"}}}'
                        WHERE identifier IN (
                            SELECT identifier FROM doorstep.locations WHERE identifier = 'a' FOR UPDATE SKIP LOCKED)
                        """)
                    #expect(
                        try await stores.count(
                            "SELECT count(*) FROM doorstep.locations WHERE card #>> '{texts,EN,title}' = 'New'"
                        ) == 0)
                    return importing
                }
            }
            #expect(try await importing.value == .done(0, 1, 1))
            var merged = try Self.card()
            (merged.action, merged.place) = (.open, nil)
            #expect(try await Self.stored(stores, tenant).map(\.card) == [action, merged])
        }
    }

    @Test(.timeLimit(.minutes(30))) func partialCardImportConflictsWithConcurrentlyAddedRow() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations([.sample("b", card: Self.card())], of: tenant)
            let importing = try await stores.database.withPool(as: .admin) { pool in
                try await pool.withTransaction { transaction in
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute(
                        """
                        INSERT INTO doorstep.locations (tenant_id, identifier, name, latitude, longitude, radius, card)
                        SELECT tenant_id, 'a', name, latitude, longitude, radius, card FROM doorstep.locations
                        """)
                    let importing = Task { try await Self.importPartialCards(stores, tenant) }
                    try await stores.waitForWaiters()
                    return importing
                }
            }
            await #expect(throws: AdministrationError.conflict) { _ = try await importing.value }
            #expect(try await Self.stored(stores, tenant).map(\.card) == [Self.card(), Self.card()])
        }
    }

    @Test func experiencesKeepFieldsThatTheFileOmits() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            try await stores.importLocations([.sample("a")], of: tenant)
            func full(_ path: String, location: String? = nil, rule: String? = nil) throws -> ExperienceRecord
            {
                var record = try ExperienceRecord.sample(
                    "https://example.com/\(path)", location: location, rule: rule, title: "T", subtitle: "S")
                record.card = try Self.card()
                return record
            }
            func stored() async throws -> [ExperienceRecord] {
                try await stores.administration.items.experiences.items(
                    of: tenant, after: nil, limit: 9, where: [:])
            }
            try await stores.importExperiences(
                [full("a", location: "a"), full("b", rule: "path:1")], of: tenant)
            let kept = try await stores.administration.importExperiences(
                of: tenant,
                Self.rows(
                    csv: """
                        clip,url
                        com.example.MyApp.Clip,https://example.com/a
                        com.example.MyApp.Clip,https://example.com/b

                        """))
            #expect(kept == .done(0, 0, 2))

            // An experience has a location or a rule. Setting one clears the other.
            let changed = try await stores.administration.importExperiences(
                of: tenant,
                Self.rows(
                    csv: """
                        clip,url,identifier_rule,title
                        com.example.MyApp.Clip,https://example.com/a,,
                        com.example.MyApp.Clip,https://example.com/b,,New
                        com.example.MyApp.Clip,https://example.com/c,path:2,C

                        """))
            #expect(changed == .done(1, 2, 0))
            let bound = try await stores.administration.importExperiences(
                of: tenant,
                Self.rows(
                    csv: """
                        clip,url,location
                        com.example.MyApp.Clip,https://example.com/c,a

                        """))
            #expect(bound == .done(0, 1, 0))
            let found = try await stored()
            #expect(found.map(\.title) == [nil, "New", "C"] && found.map(\.subtitle) == ["S", "S", nil])
            #expect(
                found.map(\.experience.binding) == [
                    .location(try LocationIdentifier("a")), .unbound, .location(try LocationIdentifier("a")),
                ])
            #expect(found.map(\.card) == [try Self.card(), try Self.card(), Card()])
        }
    }
}
