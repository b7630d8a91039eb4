import Administration
import Foundation
import Geodesy
import Invocation
import Lookups
import PropertyTesting
import Tenancy
import Testing
import ValueFixtures

@Suite struct MapGridTests {
    private static let tenant = TenantID(UUID())
    private static let others = TenantID(UUID())

    private typealias Place = (String, String, Double, Double)

    private static func table(_ places: [Place]) throws -> TenantTable {
        var rows = LookupIndex()
        try rows.set(.tenants, .tenant(tenant))
        try rows.set(.tenants, .tenant(others))
        for (identifier, name, latitude, longitude) in places {
            try rows.set(
                .locations,
                .location(tenant, identifier, name: name, latitude: latitude, longitude: longitude))
        }
        try rows.set(.locations, .location(others, "a1", name: "Tea of others"))
        return rows.of(tenant)
    }

    private static let places: [Place] = [
        ("a1", "Tea room", 52.0, 13.0), ("a2", "TEA house", 52.00001, 13.00001), ("b_%", "Café", -17, 179.9),
        ("b2", "Bar", -17, -179.9), ("c", "Pole", 90, 0),
    ]

    @Test func gridClustersOnlyNearbyLocations() throws {
        let table = try Self.table(Self.places)
        #expect(table.locationCount == 5)
        let world = try #require(MapGrid(south: -85, west: -180, north: 90, east: 180, zoom: 1))
        let cells = world.cells(of: table).cells
        #expect(cells.reduce(0) { $0 + $1.count } == 5)
        let pair = try #require(cells.first)
        #expect(pair.count == 2 && pair.place == nil && abs(pair.center.latitude - 52.000005) < 1e-9)
        #expect(cells.count { $0.place != nil } == 3)
        // The map continues beyond the antimeridian.
        let fiji = try #require(MapGrid(south: -20, west: 178, north: -10, east: 182, zoom: 8))
        #expect(Set(fiji.cells(of: table).cells.compactMap(\.place?.identifier.text)) == ["b_%", "b2"])
        // At this zoom, locations are not grouped.
        let door = try #require(MapGrid(south: 51.9, west: 12.9, north: 52.1, east: 13.1, zoom: 18))
        #expect(door.cells(of: table).cells.map(\.place?.identifier.text) == ["a1", "a2"])
        #expect(
            door.cells(of: table, matching: LocationText("room")).cells.map(\.place?.name.text) == [
                "Tea room"
            ])
        let listed = door.cells(of: table).cells.compactMap(\.place)
        #expect(world.cells(of: listed).cells.map(\.count) == [2])
    }

    /// At each zoom, each location in the box is counted once, a cell with one location names it, and the bounds are right.
    @Test(arguments: 0..<20) func gridCountsEachLocationInBoxOnce(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let places = (0..<60).map { number -> Place in
            (
                "p\(number)", "Place", Double.random(in: -90...90, using: &random),
                Double.random(in: -180...180, using: &random)
            )
        }
        let table = try Self.table(places)
        let zoom = Int.random(in: MapGrid.zooms, using: &random)
        let south = Double.random(in: -90..<60, using: &random)
        let west = Double.random(in: -180..<150, using: &random)
        let grid = try #require(
            MapGrid(south: south, west: west, north: south + 30, east: west + 30, zoom: zoom))
        let inside = places.filter {
            (south...south + 30).contains($0.2) && (west...west + 30).contains($0.3)
        }
        let map = grid.cells(of: table)
        let cells = map.cells
        #expect(cells.reduce(0) { $0 + $1.count } == inside.count)
        #expect(map.bounds?.south == inside.map(\.2).min() && map.bounds?.north == inside.map(\.2).max())
        #expect(map.bounds?.west == inside.map(\.3).min() && map.bounds?.east == inside.map(\.3).max())
        let single = cells.compactMap(\.place?.identifier.text)
        #expect(Set(single).isSubset(of: inside.map(\.0)))
        #expect(single.count == cells.count { $0.count == 1 })
    }

    @Test(arguments: [
        (1.0, 0.0, 0.0, 1.0, 3), (0, 0, 1, 1, 19), (0, 0, 1, 1, -1), (-91, 0, 1, 1, 3), (0, -541, 1, 1, 3),
        (0, 1, 1, 1, 3), (.nan, 0, 1, 1, 3),
    ])
    func invalidMapBoxIsRejected(
        south: Double, west: Double, north: Double, east: Double, zoom: Int
    ) {
        #expect(MapGrid(south: south, west: west, north: north, east: east, zoom: zoom) == nil)
    }

    @Test func searchMatchesIdentifierPrefixOrNamePart() throws {
        let table = try Self.table(Self.places)
        let expected = [
            ("tea", ["a1", "a2"]), ("b_", ["b_%"]), ("%", []), ("A1", []), ("CAFÉ", ["b_%"]),
            ("cafe\u{301}", []), ("a room", ["a1"]), ("rooms", []), ("o", ["a1", "a2", "c"]),
            ("b", ["b2", "b_%"]),
            ("tea room and more", []), ("a", ["a1", "a2", "b2", "b_%"]),
        ]
        for (text, identifiers) in expected {
            let found = LocationText(text).places(in: table, after: nil, limit: 9)
            #expect(found.first.map(\.identifier.text) == identifiers, "\(text)")
            #expect(found.count == identifiers.count, "\(text)")
        }
        let rest = LocationText("a").places(in: table, after: try LocationIdentifier("a1"), limit: 2)
        #expect(rest.first.map(\.identifier.text) == ["a2", "b2"] && rest.count == 4)
    }

    @Test func restrictedTableShowsOnlyItsLocations() throws {
        let table = try Self.table(Self.places).restricted(
            to: [LocationIdentifier("a2"), LocationIdentifier("gone")])
        #expect(table.locationCount == 1)
        let world = try #require(MapGrid(south: -85, west: -180, north: 90, east: 180, zoom: 1))
        #expect(world.cells(of: table).cells.map(\.place?.identifier.text) == ["a2"])
    }
}
