import Foundation
import Invocation
import PropertyTesting
import Testing

@Suite struct IdentifierRuleTests {
    @Test(arguments: [
        "path:1", "path:12", "query:location", "hash:c", "coordinates:lat,lon", "coordinates:lat,lon,r",
        "query:a%20b", "query:a:b",
    ])
    func ruleTextRoundTrips(text: String) throws {
        #expect(try IdentifierRule(text).description == text)
    }

    @Test func queryNameBecomesCanonical() throws {
        #expect(try IdentifierRule("query:größe").description == "query:gr%C3%B6%C3%9Fe")
        #expect(try IdentifierRule("query:%6cocation") == .query("location"))
    }

    @Test(arguments: [
        "", "path", "path:", "path:0", "path:-1", "path:01", "path:+1", "path:1a", "path:2049", "Path:1",
        "query:",
        "query:a=b", "query:a&b", "query:a#b", "query:a b", "query:a\\b", "query:%2", "query:a\u{0}", "hash:",
        "hash",
        "other:1", "coordinates:", "coordinates:lat", "coordinates:lat,", "coordinates:lat,lat",
        "coordinates:lat,lon,r,x", "coordinates:lat,lon,lon", "coordinates:lat,sig", "coordinates:lat,lon,",
    ])
    func malformedRuleIsRejected(text: String) {
        let error = #expect(throws: ExperienceError.self) { try IdentifierRule(text) }
        #expect(error?.code == "invalid_identifier_rule")
    }

    private func read(
        _ rule: String, _ invocation: String, after prefix: String = "https://example.com/r"
    ) throws -> IdentifierReading {
        try IdentifierRule(rule).read(InvocationURL(invocation), after: URLPrefix(prefix))
    }

    @Test func pathRuleReadsNthComponent() throws {
        let url = "https://example.com/r/restaurant_a/order%2F1//last"
        #expect(try read("path:1", url) == .identifier(LocationIdentifier("restaurant_a")))
        #expect(try read("path:2", url) == .identifier(LocationIdentifier("order/1")))
        #expect(try read("path:3", url) == .absent)
        #expect(try read("path:4", url) == .identifier(LocationIdentifier("last")))
        #expect(try read("path:5", url) == .absent)
        #expect(try read("path:1", "https://example.com/r/%FF") == .absent)
        #expect(try read("path:1", "https://example.com/r/%00") == .absent)
        #expect(try read("path:1", "https://example.com/r/" + String(repeating: "a", count: 129)) == .absent)
        #expect(try IdentifierRule.path(0).read(InvocationURL(url), after: URLPrefix(url)) == .absent)
    }

    @Test func pathRuleReadsNothingFromDefaultLink() throws {
        let link = "https://appclip.apple.com/id?p=com.example.MyApp.Clip&location=7"
        #expect(try read("path:1", link, after: "https://example.com") == .absent)
        #expect(
            try read("query:location", link, after: "https://example.com")
                == .identifier(LocationIdentifier("7")))
    }

    @Test func pathRuleSkipsGivenNumberOfComponents() throws {
        let url = try InvocationURL("https://example.com/r/restaurant_a?location=7")
        let path = IdentifierRule.path(1)
        #expect(try path.read(url, afterPathComponents: 0) == .identifier(LocationIdentifier("r")))
        #expect(try path.read(url, afterPathComponents: 1) == .identifier(LocationIdentifier("restaurant_a")))
        #expect(path.read(url, afterPathComponents: 2) == .absent)
        #expect(path.read(url, afterPathComponents: -1) == .absent)
        #expect(path.read(url, afterPathComponents: .max) == .absent)
        #expect(path.read(url, afterPathComponents: nil) == .absent)
        #expect(
            try IdentifierRule.query("location").read(url, afterPathComponents: nil)
                == .identifier(LocationIdentifier("7")))
    }

    /// A rule reads the URL's bytes. Its result must agree with the arrays of components and items.
    @Test func readingAgreesWithURLComponentsAndItems() throws {
        let paths = ["/", "/a", "/a", "/b%C3%BC", "/%FF", "%2F", ":8443"]
        let queries = ["x", "=", "=", "&", "&", "x=1", "&x=%C3%BC", "&y=2", "x=%FF", "a"]
        var random = SplitMix64(seed: 5)
        var found = 0
        for _ in 0..<10_000 {
            var text = "https://example.com"
            for _ in 0..<random.below(6) { text += random.pick(paths) }
            text += "?"
            for _ in 0..<random.below(6) { text += random.pick(queries) }
            guard let url = try? InvocationURL(text) else { continue }
            let (count, number) = (random.below(3), 1 + random.below(3))
            let component = url.pathComponents.dropFirst(count + number - 1).first
            let item = url.queryItems.first { $0.name == "x" }
            let identifiers = [component?.removingPercentEncoding, item?.decodedValue].map {
                $0.flatMap { try? LocationIdentifier($0) }.map { IdentifierReading.identifier($0) } ?? .absent
            }
            let readings = [IdentifierRule.path(number), .query("x")].map {
                $0.read(url, afterPathComponents: count)
            }
            found += readings.count { $0 != .absent }
            guard readings == identifiers else {
                Issue.record("\(text): \(readings) instead of \(identifiers)")
                return
            }
        }
        #expect(found > 2_000)
    }

    @Test func queryRuleReadsNamedItem() throws {
        let url = "https://example.com/r?x=1&location=caf%C3%A9+1&location=2&empty&LOCATION=3"
        #expect(try read("query:location", url) == .identifier(LocationIdentifier("café+1")))
        #expect(try read("query:LOCATION", url) == .identifier(LocationIdentifier("3")))
        #expect(try read("query:empty", url) == .absent)
        #expect(try read("query:missing", url) == .absent)
        #expect(
            try read("query:gr%C3%B6%C3%9Fe", "https://example.com/r?größe=1")
                == .identifier(LocationIdentifier("1")))
    }

    @Test func firstQueryItemCountsEvenIfEmpty() throws {
        #expect(try read("query:location", "https://example.com/r?location=&location=2") == .absent)
        #expect(try read("query:location", "https://example.com/r?location=%FF&location=2") == .absent)
    }

    @Test func hashRuleReadsShortCode() throws {
        #expect(try read("hash:c", "https://example.com/r?c=Ab3%2D") == .shortCode("Ab3-"))
        #expect(try read("hash:c", "https://example.com/r?d=1") == .absent)
    }

    @Test func coordinatesRuleReadsPositionRadiusAndSignature() throws {
        let url = "https://example.com/r?a=1&lat=37.334722&lon=-122.008889&r=100&sig=_-8&b=2&sig=AA#top"
        guard case .place(let place) = try read("coordinates:lat,lon,r", url) else {
            Issue.record("no place")
            return
        }
        #expect(place.latitude == 37.334722)
        #expect(place.longitude == -122.008889)
        #expect(place.radius == 100)
        #expect(place.identifier.text == "37.334722,-122.008889")
        #expect(place.signedText == "https://example.com/r?a=1&lat=37.334722&lon=-122.008889&r=100&b=2")
        #expect(place.signature == [0xFF, 0xEF])
        #expect(!place.description.contains("37"))
    }

    @Test func coordinatesRuleReadsPositionWithoutRadius() throws {
        guard
            case .place(let place) = try read(
                "coordinates:lat,lon", "https://example.com/r?lat=1&lon=2&sig=AAAA")
        else {
            Issue.record("no place")
            return
        }
        #expect(place.radius == nil)
        #expect(place.signature == [0, 0, 0])
    }

    @Test(arguments: [
        "lat=1&lon=2", "lat=1&lon=2&r=3", "lat=1&sig=AA&r=3", "lat=1&lon=2&sig=AA",
        "lat=inf&lon=2&r=3&sig=AA",
        "lat=nan&lon=2&r=3&sig=AA", "lat=0x1&lon=2&r=3&sig=AA", "lat=1e1&lon=2&r=3&sig=AA",
        "lat=+1&lon=2&r=3&sig=AA", "lat=1.&lon=2&r=3&sig=AA", "lat=.5&lon=2&r=3&sig=AA",
        "lat=-&lon=2&r=3&sig=AA",
        "lat=1.2.3&lon=2&r=3&sig=AA", "lat=%D9%A1&lon=2&r=3&sig=AA", "lat=&lon=2&r=3&sig=AA",
        "lat=1&lon=2&r=3&sig=", "lat=1&lon=2&r=3&sig=AA%3D%3D", "lat=1&lon=2&r=3&sig=A",
        "lat=1&lon=2&r=3&sig=A/",
        "lat=1&lon=2&r=3&sig=!!", "lat=000000000000000000000000000000001&lon=2&r=3&sig=AA",
    ])
    func incompleteOrMalformedCoordinatesAreAbsent(query: String) throws {
        #expect(try read("coordinates:lat,lon,r", "https://example.com/r?\(query)") == .absent)
    }
}
