import Administration
import Formats
import Foundation
import Geodesy
import Invocation
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@Suite struct LocationDirectoryTests {
    private func place(
        _ identifier: String, _ name: String, _ latitude: Double, _ longitude: Double
    ) throws -> LocationRecord {
        try LocationRecord(
            identifier: LocationIdentifier(identifier), name: DisplayName(name),
            region: CircularRegion(
                center: Coordinate(latitude: latitude, longitude: longitude), radius: Distance(meters: 50)),
            metadata: [:])
    }

    private func withPlaces(_ body: (PostgresAdministrationStore, TenantID) async throws -> Void) async throws
    {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            try await stores.importLocations(
                [
                    place("a1", "Tea room", 52, 13), place("a2", "TEA house", 52.00001, 13.00001),
                    place("b_%", "Café", -17, 179.9), place("b2", "Bar", -17, -179.9),
                    place("c", "Pole", 90, 0),
                ], of: tenant)
            try await stores.importLocations([place("a1", "Tea of others", 52, 13)], of: other)
            try await body(stores.administration, tenant)
        }
    }

    @Test func locationsAreListedByIdentifierAndUse() async throws {
        try await withPlaces { store, tenant in
            let some = try ["b_%", "a2", "none"].map { try LocationIdentifier($0) }
            let expected: [([LocationIdentifier]?, [String])] = [
                (nil, ["a1", "a2", "b2", "b_%", "c"]), (some, ["a2", "b_%"]), ([], []),
            ]
            for (identifiers, names) in expected {
                let found = try await store.places(
                    identifiers, of: tenant, after: nil, limit: 9, confirmationsSince: .distantPast)
                #expect(found.map(\.identifier.text) == names)
                let unused = try await store.places(
                    identifiers, of: tenant, after: nil, limit: 9, unusedSince: .distantPast,
                    countingUpTo: 9)
                #expect(unused.listed == found && unused.count == names.count)
            }
            let rest = try await store.places(
                nil, of: tenant, after: LocationIdentifier("a2"), limit: 2, confirmationsSince: .distantPast)
            #expect(rest.map(\.identifier.text) == ["b2", "b_%"])
            let unused = try await store.places(
                nil, of: tenant, after: LocationIdentifier("a2"), limit: 2, unusedSince: .distantPast,
                countingUpTo: 4)
            #expect(unused.listed == rest && unused.count == 4)
        }
    }

    @Test func locationShowsDayOfLastConfirmation() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.importLocations([place("a", "A", 1, 1), place("b", "B", 1, 2)], of: tenant)
            try await stores.database.withSuperuser { pool in
                try await pool.withTransaction { transaction in
                    // The foreign key is checked as the owner, which sees only rows of the set tenant.
                    try await transaction.setTenant(tenant.description)
                    try await transaction.execute(
                        """
                        INSERT INTO doorstep.confirmations
                            (tenant_id, confirmation_id, location_identifier, outcome, source, minute)
                        SELECT \(tenant.uuid), gen_random_uuid(), 'a', 'inRegion', 'nfc', minute::timestamptz
                        FROM unnest('{2026-01-02T23:59Z,2026-01-05T00:00Z}'::text[]) AS minute
                        """)
                }
            }
            for (start, day) in [(Date.distantPast, "2026-01-05"), (.distantFuture, nil)] as [(Date, String?)]
            {
                let found = try await stores.administration.places(
                    nil, of: tenant, after: nil, limit: 9, confirmationsSince: start)
                #expect(found.map(\.lastConfirmationDay) == [day, nil])
            }
            let unused = try await stores.administration.places(
                nil, of: tenant, after: nil, limit: 9, unusedSince: .distantPast, countingUpTo: 9)
            #expect(unused.listed.map(\.identifier.text) == ["b"] && unused.count == 1)
        }
    }

    @Test func experiencesAndShortCodesOfLocationAreListed() async throws {
        try await withPlaces { store, tenant in
            let stores = TenantItems(store.items.clips, of: tenant, by: "operator:alice")
            try await stores.create(
                Clip(
                    bundleID: BundleID("com.example.MyApp.Clip"), teamID: TeamID("ABCDE12345"),
                    isMultiBusiness: false))
            let experiences = TenantItems(store.items.experiences, of: tenant, by: "operator:alice")
            for (url, location, rule) in [
                ("https://example.com/a", "a1", nil), ("https://example.com/p", nil, "path:1"),
                ("https://example.com/q", nil, "query:p"), ("https://example.com/h", nil, "hash:c"),
                ("https://example.com/b", "b2", nil),
            ] as [(String, String?, String?)] {
                try await experiences.create(.sample(url, location: location, rule: rule))
            }
            let a1 = try LocationIdentifier("a1")
            let found = try await store.experiences(leadingTo: a1, of: tenant, limit: 9)
            #expect(
                found.map(\.experience.url.canonical) == [
                    "https://example.com/a", "https://example.com/p", "https://example.com/q",
                ])
            #expect(try await store.experiences(leadingTo: a1, of: tenant, limit: 1).count == 2)
            try await TenantItems(store.items.shortCodes, of: tenant, by: "operator:alice").create(
                .sample("x", "https://example.com/p/a1"))
            #expect(
                try await store.shortCodes(
                    of: ["https://example.com/p/a1", "https://example.com/a"], of: tenant, limit: 9
                ).map(\.code) == ["x"])
        }
    }
}
