import Formats
import Foundation
import HTTPTypes
import Lookups
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// Nearby locations, as clients see them.
@Suite struct NearbyEndpointTests {
    private static let generic = "https://example.com/restaurants"

    /// A person between the two restaurants, which are 2 km apart.
    private static func body(_ changes: String = "{}") throws -> JSONValue {
        var body: JSONObject = [
            "url": .string(generic), "coordinate": ["latitude": 37.333, "longitude": -122.015],
        ]
        for member in try #require(try JSONValue(parsing: changes.utf8).objectValue) {
            body[member.key] = member.value
        }
        return .object(body)
    }

    @Test func nearestLocationsComeFirstWithTheirURLs() async throws {
        try await TestAPI().test { client in
            let response = try await client.post("/v1/nearby", key: client.api.publishable, Self.body())
            #expect(response.status == 200)
            #expect(response.headers[.cacheControl] == "no-store")
            let places = try #require(response["data"]?.arrayValue).compactMap(\.objectValue)
            #expect(places.map { $0["identifier"] } == ["restaurant_a", "restaurant_b"])
            #expect(
                places.map { $0["url"] } == [
                    "https://example.com/restaurants/restaurant_a",
                    "https://example.com/restaurants/restaurant_b",
                ])
            let distances = places.compactMap { $0["distance"]?.numberValue?.double }
            #expect(
                distances.count == 2 && (500...700).contains(distances[0])
                    && (1_400...1_500).contains(distances[1]))
            // Rounded to millimetres.
            #expect(distances.allSatisfy { ($0 * 1_000).rounded() / 1_000 == $0 })
            for place in places {
                let lookup = try await client.lookUp(try #require(place["url"]?.stringValue))
                var location = place
                location["distance"] = nil
                location["url"] = nil
                #expect(lookup["location"] == .object(location))
            }
            for (changes, count) in [
                (#"{"within": 1000}"#, 1), (#"{"limit": 1}"#, 1), (#"{"within": 100}"#, 0),
                (#"{"limit": 50}"#, 2),
                (#"{"coordinate": {"latitude": -37, "longitude": 179.9999, "horizontalAccuracy": 5}}"#, 0),
                (#"{"url": "https://example.com/restaurants/restaurant_b/menu?x#y", "within": 50000}"#, 2),
            ] {
                let some = try await client.post("/v1/nearby", Self.body(changes))
                #expect(some.status == 200 && some["data"]?.arrayValue?.count == count, "\(changes)")
            }
        }
    }

    @Test(
        arguments: [
            (#"{"url": "nonsense"}"#, 400, "invalid_url", "url"),
            (#"{"url": 1}"#, 400, "invalid_field", "url"),
            (#"{"url": "https://other.example"}"#, 404, "does_not_match", nil),
            (#"{"url": "http://example.com/restaurants"}"#, 404, "does_not_match", nil),
            (#"{"coordinate": null}"#, 400, "invalid_field", "coordinate"),
            (#"{"coordinate": {"latitude": 37}}"#, 400, "missing_field", "coordinate.longitude"),
            (
                #"{"coordinate": {"latitude": 91, "longitude": 0}}"#, 400, "invalid_field",
                "coordinate.latitude"
            ),
            (
                #"{"coordinate": {"latitude": 0, "longitude": 181}}"#, 400, "invalid_field",
                "coordinate.longitude"
            ),
            (
                #"{"coordinate": {"latitude": 0, "longitude": 0, "horizontalAccuracy": -1}}"#, 400,
                "invalid_field",
                "coordinate.horizontalAccuracy"
            ),
            (
                #"{"coordinate": {"latitude": 0, "longitude": 0, "x": 1}}"#, 400, "unknown_field",
                "coordinate.x"
            ),
            (#"{"within": 0}"#, 400, "invalid_field", "within"),
            (#"{"within": 50000.1}"#, 400, "invalid_field", "within"),
            (#"{"limit": 0}"#, 400, "invalid_field", "limit"),
            (#"{"limit": 51}"#, 400, "invalid_field", "limit"),
            (#"{"limit": 1.5}"#, 400, "invalid_field", "limit"),
            (#"{"source": "nfc"}"#, 400, "unknown_field", "source"),
        ] as [(String, Int, String, String?)])
    func invalidNearbyRequestIsRejected(
        changes: String, status: Int, code: String, field: String?
    ) async throws {
        try await TestAPI().test { client in
            let response = try await client.post("/v1/nearby", Self.body(changes))
            #expect(
                response.status == status && response.code == code && response.field == field,
                "\(response.text)")
        }
    }

    @Test func nearbyRequestRequiresCoordinate() async throws {
        try await TestAPI().test { client in
            let response = try await client.post("/v1/nearby", ["url": .string(Self.generic)])
            #expect(response.code == "missing_field" && response.field == "coordinate")
        }
    }

    /// The endpoint requires the scope `lookup`. No log contains a person's coordinate.
    @Test func nearbyRequiresScopeLookupAndLogsNoCoordinate() async throws {
        let api = TestAPI()
        try await api.test { client in
            let refused = try await client.post("/v1/nearby", key: client.api.confirmer, Self.body())
            #expect(refused.status == 403)
            for coordinate in [37.3341234, 137.3341234] {
                _ = try await client.post(
                    "/v1/nearby",
                    [
                        "url": .string(Self.generic),
                        "coordinate": ["latitude": .init(finite: coordinate), "longitude": -122.0091234],
                    ])
            }
        }
        #expect(api.log.text.contains("/v1/nearby"))
        for canary in ["7.3341234", "122.0091234"] { #expect(!api.log.text.contains(canary)) }
        #expect(api.recorder.outcomes.isEmpty)
    }

    /// Both tenants have a location at the same point, and the same URLs.
    @Test func nearbyHidesLocationsOfOtherTenants() async throws {
        let api = TestAPI()
        var table = try #require(api.table.current).table
        try table.set(
            .locations, .location(TenantID(number: 2), "theirs", latitude: 37.333, longitude: -122.015))
        try table.set(
            .experiences,
            .experience(
                TenantID(number: 2), "advanced", "https://example.com/restaurants/theirs", location: "theirs")
        )
        api.table.replace(by: table, from: .database, asOf: Date())
        try await api.test { client in
            let response = try await client.post("/v1/nearby", Self.body())
            #expect(response.status == 200 && response["data"]?.arrayValue?.count == 2)
            #expect(!response.text.contains("theirs"))
        }
    }
}
