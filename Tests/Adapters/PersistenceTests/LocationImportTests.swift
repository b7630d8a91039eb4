import Administration
import Confirmations
import Formats
import Foundation
import Geodesy
import Invocation
import Lookups
import Persistence
import PostgreSQL
import PropertyTesting
import Tenancy
import Testing

@Suite struct LocationImportTests {
    private struct FeedFailed: Error {}

    @Test func importCountsAddedChangedAndUnchangedRows() async throws {
        try await Stores.withTenant { stores, tenant in
            let first = try [LocationRecord.sample("a"), .sample("b"), .sample("c")]
            #expect(try await stores.importLocations(first, of: tenant) == .done(3, 0, 0))
            #expect(try await stores.importLocations(first, of: tenant) == .done(0, 0, 3))
            let second = try [
                LocationRecord.sample("a"), .sample("b", radius: 101), .sample("d"),
                .sample("c", metadata: ["city": "Bern"]),
            ]
            #expect(try await stores.importLocations(second, of: tenant) == .done(1, 2, 1))
            #expect(
                try await stores.administration.locations(of: tenant, after: nil, limit: 10)
                    == [second[0], second[1], second[3], second[2]])
        }
    }

    /// One import for each column that can differ, and one without a difference.
    @Test func differenceInAnyColumnIsAChange() async throws {
        try await Stores.withTenant { stores, tenant in
            let versions = try [
                LocationRecord.sample("a"), .sample("a", name: "B"), .sample("a", latitude: 1),
                .sample("a", longitude: 1), .sample("a", radius: 1), .sample("a", metadata: ["k": "v"]),
                .sample("a", details: ["k": "v"]), .sample("a", details: ["k": "w"]),
            ]
            try await stores.importLocations([versions[0]], of: tenant)
            for version in versions.dropFirst() {
                #expect(try await stores.importLocations([version], of: tenant) == .done(0, 1, 0))
                #expect(try await stores.importLocations([version], of: tenant) == .done(0, 0, 1))
                #expect(
                    try await stores.administration.locations(of: tenant, after: nil, limit: 9) == [version])
            }
        }
    }

    /// COPY and JSON give special meaning to some characters.
    @Test func importKeepsEveryCharacterAndDigit() async throws {
        try await Stores.withTenant { stores, tenant in
            let texts = ["\\N", "\\", "a\"b'c", "é", "e\u{301}", "日本", "🍩", "{}", "\\.", "a,b", "%_"]
            var random = SplitMix64(seed: 1)
            let records = try texts.enumerated().map { index, text in
                try LocationRecord.sample(
                    text, name: text, latitude: Double.random(in: -90...90, using: &random),
                    longitude: index == 0 ? -180 : Double.random(in: -180...180, using: &random),
                    radius: index == 0 ? 500 : Double.random(in: 0.001...500, using: &random),
                    metadata: ["k\(text)": .string(text), "\t\n\r\u{1}": "\u{7F}\t\n"],
                    details: index == 0 ? [:] : ["d\(text)": .string(text), "\t\n\r\u{1}": "\u{7F}\t\n"])
            }
            #expect(try await stores.importLocations(records, of: tenant) == .done(texts.count, 0, 0))
            #expect(try await stores.importLocations(records, of: tenant) == .done(0, 0, texts.count))
            let stored = try await stores.administration.locations(of: tenant, after: nil, limit: 99)
            #expect(Set(stored) == Set(records) && stored.count == records.count)
            let table = try await stores.loadTable()
            for record in records {
                let found = table.of(tenant).location(record.identifier)
                #expect(found?.region == record.region && found?.name == record.name.text)
                #expect(found?.details == record.details)
            }
        }
    }

    /// The schema accepts details up to the limit of the code, with any number of texts and any characters.
    @Test(arguments: [1, 2, 150]) func detailsUpToTheMaximumLengthAreAccepted(count: Int) async throws {
        var details = JSONObject()
        for number in 1...count { details["\(number)"] = "é\n\"\u{1}" }
        let rest = LocationDetails.maximumLength - JSONValue.object(details).serialized().count
        details["1"] = .string("é\n\"\u{1}" + String(repeating: "x", count: rest))
        let record = try LocationRecord.sample("a", details: details)
        #expect(record.details.json.count == LocationDetails.maximumLength)
        details["1"] = .string("é\n\"\u{1}" + String(repeating: "x", count: rest + 1))
        #expect(throws: LocationDetailsError.tooLong) { try LocationDetails(details) }
        try await Stores.withTenant { stores, tenant in
            #expect(try await stores.importLocations([record], of: tenant) == .done(1, 0, 0))
            let stored = try await stores.administration.location(record.identifier, of: tenant)
            #expect(stored == record)
        }
    }

    @Test func locationsArePagedByIdentifier() async throws {
        try await Stores.withTenant { stores, tenant in
            let identifiers = ["A", "Z", "a", "b", "é"]
            try await stores.importLocations(identifiers.reversed().map { try .sample($0) }, of: tenant)
            var pages: [[String]] = []
            var after: LocationIdentifier?
            while true {
                let page = try await stores.administration.locations(of: tenant, after: after, limit: 2)
                if page.isEmpty { break }
                pages.append(page.map(\.identifier.text))
                after = page.last?.identifier
            }
            #expect(pages == [["A", "Z"], ["a", "b"], ["é"]])
        }
    }

    @Test func duplicatesAreNamedByLine() async throws {
        try await Stores.withTenant { stores, tenant in
            let outcome = try await stores.importLocations(
                ["a", "b", "a", "c", "b", "a"].map { try .sample($0) }, of: tenant)
            #expect(
                outcome.problems == [
                    "4: identifier: it is on line 2 already", "6: identifier: it is on line 3 already",
                    "7: identifier: it is on line 2 already",
                ])
            #expect(try await stores.administration.locations(of: tenant, after: nil, limit: 9) == [])
        }
    }

    @Test func rejectedImportChangesNothing() async throws {
        try await Stores.withTenant { stores, tenant in
            let kept = try LocationRecord.sample("a")
            try await stores.importLocations([kept], of: tenant)
            let entries = try await stores.count("SELECT count(*) FROM doorstep.audit_log")
            let outcome = try await stores.administration.importLocations(
                of: tenant,
                Rows([
                    { .row(try .sample("a", radius: 7), line: 2) }, { .row(try .sample("b"), line: 3) },
                    { .refused(ImportProblem(line: 4, reason: "radius: not a number")) },
                    { .row(try .sample("b"), line: 5) },
                ]))
            #expect(
                outcome.problems == ["4: radius: not a number", "5: identifier: it is on line 3 already"])
            #expect(try await stores.administration.locations(of: tenant, after: nil, limit: 9) == [kept])
            #expect(try await stores.count("SELECT count(*) FROM doorstep.audit_log") == entries)
        }
    }

    @Test func importWithThrowingSourceChangesNothing() async throws {
        try await Stores.withTenant { stores, tenant in
            await #expect(throws: FeedFailed.self) {
                // More rows than the writer buffers, so that PostgreSQL has some of them already.
                let rows = (0..<2_000).map { number -> Rows<LocationRecord>.Step in
                    { .row(try .sample("\(number)"), line: number + 2) }
                }
                return try await stores.administration.importLocations(
                    of: tenant, Rows(rows + [{ throw FeedFailed() }]))
            }
            let stored = try await stores.administration.locations(of: tenant, after: nil, limit: 9)
            #expect(stored == [])
            #expect(try await stores.importLocations([.sample("a")], of: tenant) == .done(1, 0, 0))
        }
    }

    @Test func emptyFileChangesNothing() async throws {
        try await Stores.withTenant { stores, tenant in
            let outcome = try await stores.importLocations([], of: tenant)
            #expect(outcome == .done(0, 0, 0))
        }
    }

    /// The first import locks the tenant. The second one waits and then sees the rows of the first one.
    @Test func importsOfOneTenantAreSerialized() async throws {
        try await Stores.withTenant { stores, tenant in
            let records = try (0..<300).map { try LocationRecord.sample("\($0)") }
            let outcomes = try await withThrowingTaskGroup(of: ImportOutcome.self) { group in
                for _ in 0..<3 {
                    group.addTask { try await stores.importLocations(records.shuffled(), of: tenant) }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(outcomes == [.done(300, 0, 0), .done(0, 0, 300)])
        }
    }

    @Test func importsOfTwoTenantsDoNotBlockEachOther() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            // An import of another tenant finishes during this one: no deadlock, no wait, no shared row.
            let outcome = try await stores.administration.importLocations(
                of: tenant,
                Rows([
                    { .row(try .sample("a", radius: 1), line: 2) },
                    {
                        #expect(
                            try await stores.importLocations([.sample("a", radius: 2)], of: other)
                                == .done(1, 0, 0))
                        return .row(try .sample("b"), line: 3)
                    },
                ]))
            #expect(outcome == .done(2, 0, 0))
            for (tenant, radii) in [(tenant, [1.0, 100.0]), (other, [2.0])] {
                let stored = try await stores.administration.locations(of: tenant, after: nil, limit: 9)
                #expect(stored.map(\.region.radius.meters) == radii)
            }
        }
    }

    @Test func tenantCanBeSuspendedDuringImport() async throws {
        try await Stores.withTenant { stores, tenant in
            let outcome = try await stores.administration.importLocations(
                of: tenant,
                Rows([
                    { .row(try .sample("a"), line: 2) },
                    {
                        let suspended = try await stores.administration.setSuspended(true, TenantSlug("acme"))
                        #expect(suspended.suspendedAt != nil)
                        return .row(try .sample("b"), line: 3)
                    },
                ]))
            #expect(outcome == .done(2, 0, 0))
        }
    }

    @Test func deletedLocationIsUnknown() async throws {
        try await Stores.withTenant { stores, tenant in
            let (store, a) = (stores.administration, try LocationIdentifier("a"))
            try await stores.importLocations([.sample("a"), .sample("b")], of: tenant)
            _ = try await store.deleteLocation(a, of: tenant, cascade: false)
            #expect(
                try await store.locations(of: tenant, after: nil, limit: 9).map(\.identifier.text) == ["b"])
            await #expect(throws: AdministrationError.unknownLocation(a)) {
                try await store.deleteLocation(a, of: tenant, cascade: false)
            }
        }
    }
}
