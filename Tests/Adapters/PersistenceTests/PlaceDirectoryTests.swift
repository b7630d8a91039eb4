import Administration
import Foundation
import Geodesy
import Invocation
import JSON
import Persistence
import Tenancy
import Testing

@Suite struct PlaceDirectoryTests {
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

    @Test func findsByWhatAnIdentifierBeginsWithAndANameHolds() async throws {
        try await withPlaces { store, tenant in
            let expected: [(PlaceSelection, [String])] = [
                (PlaceSelection(), ["a1", "a2", "b2", "b_%", "c"]),
                (PlaceSelection(text: "tea"), ["a1", "a2"]),
                (PlaceSelection(text: "b_"), ["b_%"]), (PlaceSelection(text: "%"), []),
                (PlaceSelection(text: "A1"), []), (PlaceSelection(text: "CAFÉ"), ["b_%"]),
                (
                    PlaceSelection(text: "tea", identifiers: [try LocationIdentifier("a2")]), ["a2"]
                ), (PlaceSelection(identifiers: []), []),
                (PlaceSelection(unusedSince: .distantPast), ["a1", "a2", "b2", "b_%", "c"]),
            ]
            for (selection, identifiers) in expected {
                let found = try await store.places(
                    selection, of: tenant, after: nil, limit: 9, confirmedSince: .distantPast)
                #expect(found.map(\.identifier.text) == identifiers, "\(selection)")
                #expect(try await store.count(selection, of: tenant, upTo: 9) == identifiers.count)
            }
            #expect(try await store.count(PlaceSelection(), of: tenant, upTo: 3) == 3)
            let rest = try await store.places(
                PlaceSelection(), of: tenant, after: LocationIdentifier("a2"), limit: 2,
                confirmedSince: .distantPast)
            #expect(rest.map(\.identifier.text) == ["b2", "b_%"])
        }
    }

    @Test func putsTogetherWhatIsNearOnTheMapAndNothingFarAway() async throws {
        try await withPlaces { store, tenant in
            let world = try #require(MapGrid(south: -85, west: -180, north: 90, east: 180, zoom: 1))
            let cells = try await store.cells(PlaceSelection(), of: tenant, in: world)
            #expect(cells.reduce(0) { $0 + $1.count } == 5)
            let pair = try #require(cells.first { $0.count == 2 })
            #expect(pair.place == nil && abs(pair.center.latitude - 52.000005) < 1e-9)
            #expect(cells.count { $0.place != nil } == 3)
            // Beyond the antimeridian the map goes on.
            let fiji = try #require(MapGrid(south: -20, west: 178, north: -10, east: 182, zoom: 8))
            let both = try await store.cells(PlaceSelection(), of: tenant, in: fiji)
            #expect(Set(both.compactMap(\.place?.identifier.text)) == ["b_%", "b2"])
            // So near nothing is put together.
            let door = try #require(MapGrid(south: 51.9, west: 12.9, north: 52.1, east: 13.1, zoom: 18))
            #expect(try await store.cells(PlaceSelection(), of: tenant, in: door).count == 2)
            #expect(try await store.cells(PlaceSelection(text: "room"), of: tenant, in: door).count == 1)
        }
    }

    @Test(arguments: [
        (1.0, 0.0, 0.0, 1.0, 3), (0, 0, 1, 1, 19), (0, 0, 1, 1, -1), (-91, 0, 1, 1, 3), (0, -541, 1, 1, 3),
        (0, 1, 1, 1, 3), (.nan, 0, 1, 1, 3),
    ])
    func whatIsNoBoxOfTheMapIsRefused(
        south: Double, west: Double, north: Double, east: Double, zoom: Int
    ) {
        #expect(MapGrid(south: south, west: west, north: north, east: east, zoom: zoom) == nil)
    }

    @Test func listsWhatURLsToAPlaceAreMadeOf() async throws {
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
