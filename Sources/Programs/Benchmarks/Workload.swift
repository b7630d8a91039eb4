import Codes
import Confirmations
import Formats
import Foundation
import Geodesy
import HTTPTypes
import Invocation
import LandingPages
import Lookups
import Notifications
import Tenancy

/// Something to time, with its input at hand.
struct Workload {
    let name: String
    /// Takes the number of batches.
    let measure: (Int) throws -> Measurement

    @inline(__always)
    private init<Result>(_ name: String, _ body: @escaping (Int) throws -> Result) {
        self.name = name
        measure = { try Measurement(name, batches: $0, body) }
    }
}

extension Workload {
    /// In the order in which a request meets them.
    static func all() throws -> [Workload] {
        try [
            canonicalise(), match(), distance(), containment(), confirm(), compose(), parse(), read(),
            write(), lookUp(), showPage(), writePage("write a page without its QR code", drawingCodes: false),
            writePage("write a page", drawingCodes: true), draw(), matchMost(), nearbyMost(), nearbyNothing(),
            parseMost(),
        ]
    }

    // MARK: The most that one request can take

    /// A URL with hundreds of query items, at a host that registers all pairs of these.
    private static func matchMost() throws -> Workload {
        var table = try LookupIndex.ofOneClip()
        let items = (0..<300).map { String($0, radix: 36) }
        for (index, item) in items.enumerated() {
            for other in items.dropFirst(index + 1) {
                try table.addExperience("https://example.com?" + min(item, other) + "&" + max(item, other))
            }
        }
        let mine = table.of(LookupIndex.tenant)
        let url = try InvocationURL("https://example.com?" + items.joined(separator: "&"))
        return Workload("match, the most combinations") { _ in mine.match(url) }
    }

    /// Fifty locations are found among very many, and written.
    private static func nearbyMost() throws -> Workload {
        var table = try LookupIndex.ofOneClip()
        try table.addExperience("https://example.com/restaurants", rule: "path:1")
        for number in 0..<40_000 {
            try table.setLocation(
                "place-\(number)", name: "Place \(number)", latitude: 48 + Double(number / 200) / 100,
                longitude: 11 + Double(number % 200) / 100)
        }
        table.settle()
        let mine = table.of(LookupIndex.tenant)
        let url = try InvocationURL("https://example.com/restaurants")
        return Workload("nearby, 50 locations") {
            try mine.nearby(
                mine.launch(by: url),
                from: Coordinate(latitude: 48.5 + Double($0 % 100) / 100, longitude: 12),
                within: NearbyLocation.maximumDistance, limit: 50
            ).response
        }
    }

    /// Very many locations are at one spot, so that the search reaches its limit.
    private static func nearbyNothing() throws -> Workload {
        var table = try LookupIndex.ofOneClip()
        try table.addExperience("https://example.com/restaurants", rule: "path:1")
        for number in 0..<25_000 {
            try table.setLocation("place-\(number)", name: "Place", latitude: 48, longitude: 11)
        }
        table.settle()
        let mine = table.of(LookupIndex.tenant)
        let url = try InvocationURL("https://example.com/restaurants")
        let here = try Coordinate(latitude: 48, longitude: 11)
        return Workload("nearby, the most work") { _ in
            try mine.nearby(mine.launch(by: url), from: here, limit: 50).response
        }
    }

    /// The longest body that an event loop reads, 2 KiB of short members.
    private static func parseMost() -> Workload {
        let body = Array(("{" + (100..<355).map { "\"\($0)\":1" }.joined(separator: ",") + "}").utf8)
        return Workload("parse the longest body") { _ in try JSONValue(parsing: body) }
    }

    // MARK: Invocation

    private static func canonicalise() -> Workload {
        let text = "https://example.com/restaurants/restaurant_a/order/1234?table=12&lang=en&from=qr"
        return Workload("canonicalise") { _ in try InvocationURL(text) }
    }

    // MARK: Routing

    private static func match() throws -> Workload {
        let restaurant = try Restaurant()
        return Workload("match") { _ in restaurant.table.match(restaurant.order) }
    }

    private static func confirm() throws -> Workload {
        let restaurant = try Restaurant()
        let request = ConfirmationRequest(
            url: restaurant.order, source: .nfc, access: .allowed,
            evidence: .coordinate(
                try Coordinate(latitude: 37.334753, longitude: -122.008934),
                horizontalAccuracy: Distance(meters: 12.5)))
        return Workload("confirm") { _ in
            Confirmation(of: request, at: restaurant.table.lookUp(request.url).location)
        }
    }

    private static let now = Date(timeIntervalSince1970: 1_772_368_200)

    // MARK: Geodesy

    private static func distance() throws -> Workload {
        let places = try places()
        return Workload("distance") { places.center.distance(to: places.around[$0 % places.around.count]) }
    }

    private static func containment() throws -> Workload {
        let places = try places()
        let region = try CircularRegion(center: places.center, radius: Distance(meters: 100))
        let accuracy = Distance(meters: 12)
        return Workload("containment") {
            region.containment(
                of: places.around[$0 % places.around.count], horizontalAccuracy: accuracy)
        }
    }

    /// Places in all directions, 50 to 500 metres from one at a middle latitude.
    private static func places() throws -> (center: Coordinate, around: [Coordinate]) {
        let center = try Coordinate(latitude: 48.137_222, longitude: 11.575_556)
        let around = try (0..<64).map { index in
            let meters = 50 + 450 * Double(index) / 63
            let bearing = 2.4 * Double(index)
            return try Coordinate(
                latitude: center.latitude + meters * cos(bearing) / 111_200,
                longitude: center.longitude + meters * sin(bearing) / 74_500)
        }
        return (center, around)
    }

    // MARK: Notifications

    /// The notification of "Enabling notifications in App Clips". [Apple]
    private static func compose() throws -> Workload {
        let restaurant = try Restaurant()
        let request = NotificationRequest(
            url: restaurant.order,
            aps: [
                "alert": [
                    "title": "Order Status", "subtitle": "Restaurant A", "body": "Your order is ready.",
                ],
                "category": "order_status",
            ],
            custom: ["order": 1234], headers: ["collapseID": "order-1234"])
        return Workload("compose") { _ in
            try NotificationComposer.compose(request, for: restaurant.experience, at: now)
        }
    }

    // MARK: Pages

    private static let path = "/restaurants/restaurant_a/order/1234"

    /// A complete lookup, from the text of the URL to the JSON of the response.
    private static func lookUp() throws -> Workload {
        let restaurant = try Restaurant()
        let text = "https://example.com" + path
        return Workload("look up and answer") { _ in
            let url = try InvocationURL(text)
            return try restaurant.table.lookUp(url).response(to: url)
        }
    }

    /// The page of the same URL, with its header, to whom is not the first to scan it since the table changed.
    private static func showPage() throws -> Workload {
        let (state, request) = try page()
        let site = LandingSite()
        return Workload("show a page again") { _ in
            state.provedHost("example.com").map { site.response(request, at: $0, in: state) }
        }
    }

    /// The same page to the first one.
    private static func writePage(_ name: String, drawingCodes: Bool) throws -> Workload {
        let (state, request) = try page()
        return Workload(name) { _ in
            let site = LandingSite(drawingCodes: drawingCodes)
            return state.provedHost("example.com").map { site.response(request, at: $0, in: state) }
        }
    }

    private static func page() throws -> (LiveLookupIndex.State, HTTPRequest) {
        var table = try LookupIndex.ofOneClip()
        try table.setLocation(
            "restaurant_a", name: "Restaurant A", latitude: 37.334722, longitude: -122.008889)
        try table.addExperience(
            Restaurant.url, location: "restaurant_a", title: "Restaurant A", subtitle: "Order at your table",
            cardImage: String(repeating: "9f", count: 32))
        try table.addDomain("example.com", pages: .on)
        let live = LiveLookupIndex()
        live.replace(by: table, from: .database, asOf: now)
        guard let state = live.current else { throw CompositionRefusal.doesNotMatch }
        return (state, HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: path))
    }

    // MARK: QR codes

    /// With its image; of 55 bytes, version 4.
    private static func draw() -> Workload {
        let text = "https://example.com/restaurants/restaurant_a/order/1234"
        return Workload("draw a QR code") { _ in try QRSymbol(text).svg }
    }

    // MARK: JSON

    private static let confirmation = """
        {"url": "https://example.com/restaurants/restaurant_a/order/1234?table=12", "source": "nfc", \
        "locationAccess": "allowed", "coordinate": {"latitude": 37.334753, "longitude": -122.008934, \
        "horizontalAccuracy": 12.5}}
        """

    private static func parse() -> Workload {
        let body = Array(confirmation.utf8)
        return Workload("parse a confirmation request") { _ in try JSONValue(parsing: body) }
    }

    private static func read() throws -> Workload {
        let body = try JSONValue(parsing: confirmation.utf8)
        return Workload("read a confirmation request") { _ in
            var fields = try JSONObjectReader(body)
            let texts = try (
                fields.requiredString("url"), fields.requiredString("source"),
                fields.requiredString("locationAccess")
            )
            var coordinate = try fields.requiredObject("coordinate")
            let numbers = try (
                coordinate.requiredDouble("latitude"), coordinate.requiredDouble("longitude"),
                coordinate.optionalDouble("horizontalAccuracy")
            )
            try coordinate.finish()
            try fields.finish()
            return (texts, numbers)
        }
    }

    private static func write() -> Workload {
        let response: JSONValue = [
            "url": "https://example.com/restaurants/restaurant_a/order/1234",
            "experience": [
                "url": "https://example.com/restaurants/restaurant_a", "kind": "advanced",
                "clip": "com.example.MyApp.Clip",
            ],
            "location": [
                "identifier": "restaurant_a", "name": "Restaurant A",
                "region": [
                    "center": ["latitude": 37.334722, "longitude": -122.008889], "radius": 100,
                    "identifier": "restaurant_a",
                ],
            ],
        ]
        return Workload("write a lookup response") { _ in response.serialized() }
    }
}
