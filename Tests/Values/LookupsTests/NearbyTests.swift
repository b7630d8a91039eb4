import Foundation
import Geodesy
import Invocation
import PropertyTesting
import Tenancy
import Testing
import ValueFixtures

@testable import Lookups

/// Compares the nearby search with a search that examines all locations.
@Suite struct NearbyTests {
    private static let tenants = [TenantID(number: 1), TenantID(number: 2)]
    private static let clips = ["com.example.A.Clip", "com.example.B.Clip", "com.example.C.Clip"]

    private struct Place {
        let identifier: String
        let center: Coordinate
    }

    private struct Registered {
        let kind: ExperienceKind
        let url: String
        let clip: String
        var location: String?
        var rule: String?
    }

    /// The rows of a tenant, and an exhaustive search over them.
    private struct Catalogue {
        var places: [Place] = []
        var experiences: [Registered] = []

        func add(to table: inout LookupIndex, of tenant: TenantID) throws {
            try table.set(.tenants, .tenant(tenant))
            // In this order, experiences are set before their locations.
            for row in experiences {
                try table.set(
                    .experiences,
                    .experience(
                        tenant, row.kind.rawValue, row.url, clip: row.clip, location: row.location,
                        rule: row.rule))
            }
            for place in places { try table.set(.locations, NearbyTests.row(place, of: tenant)) }
        }

        /// Every URL that could launch the clip at a location.
        private func urls(_ identifier: String, of clip: String) -> [String] {
            let encoded = identifier.utf8.map { byte in
                Character(Unicode.Scalar(byte)).isLetter && byte < 0x80 || (48...57).contains(byte)
                    ? String(Unicode.Scalar(byte)) : (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }.joined()
            return experiences.filter { $0.clip == clip }.flatMap { row -> [String] in
                if row.location.map({ Array($0.utf8) == Array(identifier.utf8) }) == true { return [row.url] }
                let parts = row.url.split(separator: "?", maxSplits: 1).map(String.init)
                let query = parts.count > 1 ? parts[1] : ""
                switch row.rule {
                case "path:1": return [parts[0] + "/" + encoded + (query.isEmpty ? "" : "?" + query)]
                case "query:l": return [row.url + (query.isEmpty ? "?" : "&") + "l=" + encoded]
                default: return []
                }
            }
        }

        func nearby(
            _ clip: String, from origin: Coordinate, within reach: Double, limit: Int, in table: TenantTable
        ) throws -> [String] {
            var found: [(distance: Double, identifier: String)] = []
            for place in places where NearbyTests.couldBe(place.center, within: reach, of: origin) {
                let distance = origin.distance(to: place.center).meters
                guard distance <= reach else { continue }
                let isReached = try urls(place.identifier, of: clip).contains { text in
                    guard case .found(let experience, let location) = try table.lookUp(InvocationURL(text))
                    else { return false }
                    return experience.clip.text == clip
                        && Array(location.identifier.text.utf8) == Array(place.identifier.utf8)
                }
                if isReached { found.append((distance, place.identifier)) }
            }
            found.sort {
                $0.distance == $1.distance
                    ? $0.identifier.utf8.lexicographicallyPrecedes($1.identifier.utf8)
                    : $0.distance < $1.distance
            }
            return found.prefix(limit).map { "\($0.identifier) \($0.distance)" }
        }
    }

    private static func row(_ place: Place, of tenant: TenantID) -> IndexRow {
        .location(
            tenant, place.identifier, name: "Place", latitude: place.center.latitude,
            longitude: place.center.longitude)
    }

    /// The distance on a sphere, with an error below 1 %. Geodesics of all pairs would take minutes.
    private static func couldBe(_ place: Coordinate, within reach: Double, of origin: Coordinate) -> Bool {
        let radians = Double.pi / 180
        let latitudes = sin((place.latitude - origin.latitude) * radians / 2)
        let longitudes = sin((place.longitude - origin.longitude) * radians / 2)
        let square =
            latitudes * latitudes
            + cos(place.latitude * radians) * cos(origin.latitude * radians) * longitudes * longitudes
        return 2 * 6_371_009 * asin(min(1, square.squareRoot())) <= reach * 1.01 + 1
    }

    // MARK: Random catalogues

    private static let centers = [
        (90.0, 0.0), (-90, 0), (0, 180), (0, -180), (52.5, 13.4), (-17, 180), (71.2, -179.99), (0, 0),
        (89.9, 45),
    ]

    /// Near one of the centers, exactly there, or anywhere.
    private static func coordinate(_ random: inout SplitMix64) throws -> Coordinate {
        if random.oneIn(20) {
            return try Coordinate(
                latitude: .random(in: -90...90, using: &random),
                longitude: .random(in: -180...180, using: &random))
        }
        let (latitude, longitude) = random.pick(centers)
        // From metres to the maximum distance. Sometimes mirrored, so that distances are equal.
        let scale = random.pick([0, 0.000_01, 0.001, 0.05, 0.4])
        let steps = random.oneIn(2) ? Double(random.below(5)) - 2 : .random(in: -2...2, using: &random)
        let other = random.oneIn(2) ? Double(random.below(5)) - 2 : .random(in: -2...2, using: &random)
        let east =
            abs(latitude) > 89 ? Double.random(in: -180...180, using: &random) : longitude + other * scale
        return try Coordinate(
            latitude: min(90, max(-90, latitude + steps * scale)),
            longitude: east > 180 ? east - 360 : east < -180 ? east + 360 : east)
    }

    private static func identifier(_ random: inout SplitMix64, _ number: Int) -> String {
        switch random.below(12) {
        case 0: random.pick([".", "..", "a/b", "é", "e\u{301}", "a b", "100%", "?", "x&l=y"]) + "\(number)"
        case 1: random.pick([".", "..", "shop", "menu", "é", "e\u{301}"])
        default: "place \(number)"
        }
    }

    private static func catalogue(_ random: inout SplitMix64) throws -> Catalogue {
        var catalogue = Catalogue()
        var known: Set<[UInt8]> = []
        for number in 0..<300 {
            let identifier = identifier(&random, number)
            guard known.insert(Array(identifier.utf8)).inserted else { continue }
            catalogue.places.append(Place(identifier: identifier, center: try coordinate(&random)))
        }
        let generic = [
            ("https://a.example/shops", clips[0], "path:1"), ("https://a.example", clips[1], "query:l"),
            ("https://b.example/find?x", clips[1], "query:l"), ("https://b.example/go?y", clips[0], "path:1"),
            ("https://a.example/shops?l=shop", clips[1], "query:l"),
            ("https://c.example", clips[2], "path:2"),
        ]
        for (url, clip, rule) in generic where random.below(5) > 0 {
            catalogue.experiences.append(Registered(kind: .advanced, url: url, clip: clip, rule: rule))
        }
        var urls = Set(catalogue.experiences.map(\.url))
        for number in 0..<150 {
            // Some of these experiences shadow URLs of a rule.
            let name = random.pick(catalogue.places).identifier
            let encoded = try LocationIdentifier(name).percentEncoded
            let url = random.pick([
                "https://a.example/shops/\(encoded)", "https://a.example/r/\(number)",
                "https://b.example/find?x&l=\(encoded)",
                "https://d.example/\(number)",
            ])
            guard let prefix = try? URLPrefix(url), urls.insert(prefix.canonical).inserted else { continue }
            let location =
                random.oneIn(4)
                ? "nowhere" : random.oneIn(3) ? name : random.pick(catalogue.places).identifier
            catalogue.experiences.append(
                Registered(
                    kind: random.pick([.advanced, .advanced, .default, .demo]), url: prefix.canonical,
                    clip: random.pick(clips), location: location))
        }
        return catalogue
    }

    private static func list(_ found: [NearbyLocation]) -> [String] {
        found.map { "\($0.location.identifier.text) \($0.distance.meters)" }
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>) func nearbyAgreesWithExhaustiveSearch(seed: UInt64) throws
    {
        var random = SplitMix64(seed: seed)
        var table = LookupIndex()
        let catalogues = try Self.tenants.map { _ in try Self.catalogue(&random) }
        for (tenant, catalogue) in zip(Self.tenants, catalogues) { try catalogue.add(to: &table, of: tenant) }
        if seed % 2 == 0 { table.compact() }
        var count = 0
        for _ in 0..<60 {
            let number = random.below(2)
            let mine = table.of(Self.tenants[number])
            let row = random.pick(catalogues[number].experiences)
            let url = try InvocationURL(row.url)
            let clip = try #require(mine.match(url)).experience.clip.text
            let origin = try Self.coordinate(&random)
            let reach = random.pick([0.0, 1, 500, 5_000, 50_000])
            let limit = random.pick([1, 3, 20, 50])
            let (search, _) = try mine.nearby(
                mine.launch(by: url), from: origin, within: Distance(meters: reach), limit: limit,
                mostSteps: .max / 2)
            let expected = try catalogues[number].nearby(
                clip, from: origin, within: reach, limit: limit, in: mine)
            let found = search.locations
            #expect(Self.list(found) == expected && !search.isTruncated)
            // The work limit leaves out the farthest locations, and the result says so.
            let limited = try mine.nearby(
                mine.launch(by: url), from: origin, within: Distance(meters: reach), limit: limit)
            #expect(found.starts(with: limited.locations))
            #expect(limited.isTruncated || limited.locations == found)
            #expect((1...NearbySearch.mostLookups).contains(limited.lookups))
            // Each result's URL leads to its location and launches the requested clip.
            for place in found {
                let lookup = mine.lookUp(place.url)
                #expect(lookup.location == place.location && lookup.experience?.clip.text == clip)
            }
            count += found.count
        }
        #expect(count > 100)
    }

    // MARK: Single cases

    private static func table(
        _ places: [(String, Double, Double)], _ experiences: [Registered]
    ) throws -> TenantTable {
        var table = LookupIndex()
        try Catalogue(
            places: places.map {
                Place(identifier: $0.0, center: try Coordinate(latitude: $0.1, longitude: $0.2))
            },
            experiences: experiences
        ).add(to: &table, of: tenants[0])
        return table.of(tenants[0])
    }

    private static let generic = Registered(
        kind: .advanced, url: "https://a.example/shops", clip: clips[0], rule: "path:1")

    private static func urls(_ table: TenantTable, _ limit: Int = 50) throws -> [String] {
        try table.nearby(
            table.launch(by: InvocationURL("https://a.example/shops")),
            from: Coordinate(latitude: 0, longitude: 0),
            within: NearbyLocation.maximumDistance, limit: limit
        ).locations.map(\.url.canonical)
    }

    @Test func boundExperiencePrecedesRule() throws {
        let table = try Self.table(
            [("a", 0, 0), ("b", 0, 0.1), ("c d", 0, 0.2), ("..", 0, 0.001)],
            [
                Self.generic,
                Registered(kind: .default, url: "https://b.example/b", clip: Self.clips[0], location: "b"),
                Registered(
                    kind: .advanced, url: "https://b.example/longer", clip: Self.clips[0], location: "b"),
                Registered(
                    kind: .advanced, url: "https://b.example/other", clip: Self.clips[1], location: "a"),
            ])
        // A path drops the segment `..`, so the location `..` has no URL. Both clips have the location `a`.
        #expect(
            try Self.urls(table) == [
                "https://a.example/shops/a", "https://b.example/longer", "https://a.example/shops/c%20d",
            ])
        #expect(try Self.urls(table, 2) == ["https://a.example/shops/a", "https://b.example/longer"])
        let refusal = #expect(throws: LookupRefusal.self) {
            try table.nearby(
                table.launch(by: InvocationURL("https://nowhere.example")),
                from: Coordinate(latitude: 0, longitude: 0))
        }
        #expect(refusal?.code == "does_not_match")
    }

    @Test func movedOrDeletedLocationIsNoLongerNearby() throws {
        let tenant = Self.tenants[0]
        var table = LookupIndex()
        let bound = Registered(
            kind: .advanced, url: "https://a.example/b", clip: Self.clips[0], location: "b")
        let here = try Coordinate(latitude: 0, longitude: 0)
        let places = ["a", "b"].map { Place(identifier: $0, center: here) }
        try Catalogue(places: places, experiences: [Self.generic, bound]).add(to: &table, of: tenant)
        let before = table
        func urls(_ table: LookupIndex) throws -> [String] { try Self.urls(table.of(tenant)) }
        let (a, b) = ("https://a.example/shops/a", "https://a.example/b")
        #expect(try urls(table) == [a, b])
        try table.set(.locations, .location(tenant, "a", latitude: 10, longitude: 10))
        #expect(try urls(table) == [b])
        try table.set(.locations, .location(tenant, "a", latitude: 0, longitude: 0.1))
        #expect(try urls(table) == [b, a])
        table.remove(.experiences, of: tenant, key: ["advanced", b])
        #expect(try urls(table) == ["https://a.example/shops/b", a])
        table.remove(.locations, of: tenant, key: ["b"])
        #expect(try urls(table) == [a])
        try table.set(.experiences, .experience(tenant, "advanced", Self.generic.url, clip: Self.clips[0]))
        #expect(try urls(table) == [])
        table.removeAll(.experiences, of: tenant)
        try table.set(
            .experiences,
            .experience(tenant, "advanced", Self.generic.url, clip: Self.clips[0], rule: "path:1"))
        #expect(try urls(table) == [a])
        table.removeAll(.locations, of: tenant)
        #expect(try urls(table) == [])
        #expect(try urls(before) == [a, b])
        #expect(
            table.nearby.allSatisfy {
                $0.locations.count == 0 && $0.bound.count == 0 && $0.readers.count == 1
            })
    }

    /// More locations are at one point than a search examines. The search ends, and finds the nearer location and some of these.
    @Test(.timeLimit(.minutes(30))) func searchIsBoundedAndReportsTruncation() throws {
        var places = [("near", 0.0, 0.0)]
        for number in 0..<2 * LocationsByDistance.mostSteps { places.append(("\(number)", 0, 0.01)) }
        let table = try Self.table(places, [Self.generic])
        let (search, steps) = try Self.search(table)
        #expect(search.locations.first?.url.canonical == "https://a.example/shops/near")
        #expect(search.locations.count > 20)
        #expect(search.isTruncated && (2...NearbySearch.mostLookups).contains(search.lookups))
        #expect(steps < LocationsByDistance.mostSteps + LocationsByDistance.stepsOfLookup)
        #expect(try !Self.search(table, limit: 1).search.isTruncated)
    }

    private static func search(
        _ table: TenantTable, _ url: String = "https://a.example/shops", limit: Int = 50
    ) throws -> (search: NearbySearch, steps: Int) {
        try table.nearby(
            table.launch(by: InvocationURL(url)), from: Coordinate(latitude: 0, longitude: 0),
            within: NearbyLocation.maximumDistance, limit: limit, mostSteps: LocationsByDistance.mostSteps)
    }

    /// Twelve query items have 4,096 combinations. The index has one of them.
    @Test func searchCountsTheProbesThatItsLookupsMake() throws {
        let url = "https://a.example/shops?" + (1...12).map { "item\($0)=\($0)" }.joined(separator: "&")
        let reader = Registered(kind: .advanced, url: url, clip: Self.clips[0], rule: "path:1")
        let places = (0..<10).map { ("\($0)", 0.0, 0.001 * Double($0)) }
        let (search, _) = try Self.search(Self.table(places, [reader]), url, limit: 10)
        #expect(search.locations.count == 10 && !search.isTruncated)
    }

    /// All pairs of a hundred query items are registered, so finding the URL's clip exceeds the work limit of a search.
    @Test func searchCountsTheProbesOfItsLaunch() throws {
        let items = (100..<200).map { "\($0)" }
        let pairs = items.indices.flatMap { one in
            items[(one + 1)...].map {
                Registered(
                    kind: .advanced, url: "https://a.example/shops?\(items[one])&\($0)", clip: Self.clips[0])
            }
        }
        let table = try Self.table([("near", 0.0, 0.0)], [Self.generic] + pairs)
        let url = "https://a.example/shops?" + items.joined(separator: "&")
        let (search, steps) = try Self.search(table, url)
        #expect(search.isTruncated && search.lookups == NearbySearch.mostLookups)
        #expect(search.locations.isEmpty && steps == 0)
        #expect(try Self.search(table).search.locations.count == 1)
    }

    /// Counts steps, because time depends on the machine.
    @Test(arguments: [false, true]) func searchSkipsLocationsOfOtherClips(isChangedLater: Bool) throws {
        let tenant = Self.tenants[0]
        var table = LookupIndex()
        try table.set(.tenants, .tenant(tenant))
        func add(_ number: Int, isNew: Bool) throws {
            let identifier = "\(number)"
            try table.set(
                .locations, .location(tenant, identifier, latitude: 0, longitude: 0.001), isNew: isNew)
            try table.set(
                .experiences,
                .experience(
                    tenant, "advanced", "https://a.example/\(identifier)", clip: Self.clips[0],
                    location: identifier), isNew: isNew)
        }
        for number in 0..<3_000 { try add(number, isNew: !isChangedLater) }
        for (identifier, longitude) in [("far", 0.3), ("farther", 0.4)] {
            try table.set(
                .locations, .location(tenant, identifier, latitude: 0, longitude: longitude),
                isNew: !isChangedLater)
            try table.set(
                .experiences,
                .experience(
                    tenant, "advanced", "https://b.example/\(identifier)", clip: Self.clips[1],
                    location: identifier), isNew: !isChangedLater)
        }
        table.settle()
        let other = try Self.search(table.of(tenant), "https://b.example/far")
        #expect(other.search.locations.map(\.location.identifier.text) == ["far", "farther"])
        #expect(!other.search.isTruncated && other.search.lookups <= 3, "\(other.steps) steps")
        // A second experience of one location is added and removed.
        try table.set(
            .experiences,
            .experience(tenant, "advanced", "https://b.example/2", clip: Self.clips[1], location: "far"))
        table.remove(.experiences, of: tenant, key: ["advanced", "https://b.example/2"])
        #expect(try Self.search(table.of(tenant), "https://b.example/far").search == other.search)
        table.remove(.experiences, of: tenant, key: ["advanced", "https://b.example/far"])
        let one = try Self.search(table.of(tenant), "https://b.example/farther").search
        #expect(one.locations.map(\.location.identifier.text) == ["farther"])
    }

    /// A hostile catalogue: each location has many URLs, and none leads to it.
    @Test func urlsLeadingElsewhereCountTowardsWorkLimit() throws {
        let identifiers = (0..<200).map { "\($0)" }
        let readers = (0..<8).map {
            Registered(kind: .advanced, url: "https://a.example/\($0)", clip: Self.clips[0], rule: "path:1")
        }
        let others = identifiers.flatMap { identifier in
            (0..<8).map {
                Registered(
                    kind: .advanced, url: "https://a.example/\($0)/\(identifier)", clip: Self.clips[1])
            }
        }
        let table = try Self.table(identifiers.map { ($0, 0, 0.001) }, readers + others)
        let (search, steps) = try Self.search(table, "https://a.example/0")
        #expect(search.locations.isEmpty && search.isTruncated)
        #expect(steps < LocationsByDistance.mostSteps + LocationsByDistance.stepsOfLookup)
    }

    /// The number of distant locations does not affect the search.
    @Test func distantLocationsAreNotVisited() throws {
        var random = SplitMix64(seed: 3)
        var places = [("a", 0.0, 0.0), ("b", 0, 0.001)]
        for number in 0..<20_000 {
            places.append(
                ("\(number)", .random(in: 1...80, using: &random), .random(in: -180...180, using: &random)))
        }
        #expect(
            try Self.urls(Self.table(places, [Self.generic])) == [
                "https://a.example/shops/a", "https://a.example/shops/b",
            ])
    }

    @Test func cellsPartitionPositionsAndBoundDistance() throws {
        var random = SplitMix64(seed: 4)
        for _ in 0..<500 {
            let (one, other) = try (Self.coordinate(&random), Self.coordinate(&random))
            let smallest = LocationCell(of: one.position)
            #expect(smallest.codes.count == 1 && smallest.chord(from: one.position) < 0.001)
            var cell = LocationCell.whole
            while cell.level < LocationCell.lastLevel {
                var parts: [LocationCell] = []
                cell.forEachPart { parts.append($0) }
                #expect(parts.count == 8 && parts[0].codes.lowerBound == cell.codes.lowerBound)
                #expect(parts[7].codes.upperBound == cell.codes.upperBound)
                let holding = parts.filter { $0.codes.contains(smallest.codes.lowerBound) }
                #expect(holding.count == 1)
                cell = holding[0]
                #expect(cell.chord(from: one.position) < 0.001)
                #expect(cell.chord(from: other.position) <= one.distance(to: other).meters + 0.001)
            }
        }
    }
}
