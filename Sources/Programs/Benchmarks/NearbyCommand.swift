import ArgumentParser
import Formats
import Foundation
import Geodesy
import Invocation
import Lookups

/// Measures the search for nearby places among many places.
struct NearbyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nearby",
        abstract: "Time finding the places around a person, and keeping what they are found by.",
        discussion: """
            The places are made up: in 2,000 towns on a band around the Earth, half of them within 2 km of their town's \
            centre and half within 20. Asked is within 5 km of places anywhere among them, for 20 places with their URLs, \
            as the API does unless told otherwise. Prints JSON. Build with -c release.

            A figure of a question is one call, taken over all calls. A change moves one place in a copy of the table while \
            the table before is still read, as when a row has changed.
            """)

    @Option(help: "How many places there are.")
    var places = 1_000_000

    @Option(help: "How many questions to time.")
    var questions = 20_000

    @Option(help: "How many changes to time.")
    var changes = 200

    func validate() throws {
        guard places > 0, questions > 0, changes > 0 else {
            throw ValidationError("--places, --questions and --changes must be positive")
        }
    }

    func run() throws {
        // A URL for each location, or one rule for all.
        print(JSONValue.array(try [true, false].map { try measure(bound: $0) }).prettyPrinted())
    }

    private static let generic = "https://example.com/restaurants"

    private func measure(bound: Bool) throws -> JSONValue {
        var table = try LookupIndex.ofOneClip()
        try table.addExperience(Self.generic, rule: "path:1")
        let load = try ContinuousClock().measure {
            for number in 0..<places {
                let center = try Self.center(number)
                try table.setLocation(
                    "place-\(number)", name: "Place \(number)", latitude: center.latitude,
                    longitude: center.longitude)
                if bound {
                    try table.addExperience("\(Self.generic)/r/\(number)", location: "place-\(number)")
                }
            }
            table.compact()
        }
        let url = try InvocationURL(Self.generic)
        let mine = table.of(LookupIndex.tenant)
        // Any step that does not divide the number of places visits all of them.
        let origins = try (0..<questions).map { try Self.center($0 &* 7_919 % places, aside: 0.005) }
        let found = try origins.prefix(1_000).reduce(0) {
            try $0 + mine.nearby(mine.launch(by: url), from: $1).locations.count
        }
        let search = try Measurement("nearby", callsPerBatch: 1, over: origins, preparing: { _ in }) {
            try mine.nearby(mine.launch(by: url), from: $0)
        }
        let write = try Measurement("nearby as JSON", callsPerBatch: 1, over: origins, preparing: { _ in }) {
            try mine.nearby(mine.launch(by: url), from: $0).response
        }
        return [
            "places": JSONValue(places), "urls": .string(bound ? "bound" : "path:1"),
            "foundPerQuestion": JSONValue(finite: Double(found) / Double(min(questions, 1_000))),
            "indexBytesPerPlace": JSONValue(finite: Double(table.nearbyMemory) / Double(places)),
            "tableBytesPerPlace": JSONValue(finite: Double(table.memory) / Double(places)),
            "loadSeconds": JSONValue(finite: load / .seconds(1)), "question": search.json,
            "questionAndAnswer": write.json, "change": try change(table).json,
        ]
    }

    private func change(_ table: LookupIndex) throws -> Measurement {
        let numbers = (0..<changes).map { $0 &* 7_919 % places }
        return try Measurement("change", callsPerBatch: 1, over: numbers, preparing: { _ in }) { number in
            var copy = table
            let center = try Self.center(number, aside: 0.001)
            try copy.setLocation(
                "place-\(number)", name: "Moved", latitude: center.latitude, longitude: center.longitude,
                isNew: false)
            return copy.locationCount
        }
    }

    /// The coordinate of a place. Towns, and the places in them, are spread evenly by the golden angle, in the same way each time.
    /// - Parameter aside: degrees to the north.
    private static func center(_ number: Int, aside: Double = 0) throws -> Coordinate {
        let (town, place) = (Double(number % 2_000), number / 2_000)
        let turns = Double(place) * 0.618_033_988_75
        let part = turns - turns.rounded(.down)
        let degrees = (place % 2 == 0 ? 2_000 : 20_000) / 111_200 * part.squareRoot()
        let latitude = -50 + town * 100 / 2_000 + degrees * sin(Double(place))
        let longitude = (town * 137.507_764).truncatingRemainder(dividingBy: 360) - 180
        let widening = cos(latitude * .pi / 180)
        let east = longitude + degrees * cos(Double(place)) / widening
        return try Coordinate(
            latitude: latitude + aside, longitude: east > 180 ? east - 360 : east < -180 ? east + 360 : east)
    }
}
