import Confirmations
import Formats
import Foundation
import HTTPTypes
import Invocation
import Lookups
import NIOCore
import Receipts
import Synchronization
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// Stores the counted lookups and launch reports.
final class MemoryLaunches: LaunchCounter {
    private let counted = Mutex<[String]>([])

    /// Each as `kind location experience source`.
    var all: [String] { counted.withLock { $0 } }

    func count(_ kind: CountedLaunch.Kind, _ launch: CountedLaunch, of tenant: TenantID, at now: Date) {
        let text =
            "\(kind) \(launch.location?.text ?? "-") \(launch.experience.split(separator: "/").last ?? "") \(launch.source)"
        counted.withLock { $0.append(text) }
    }
}

@Suite struct StatisticsEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations: Set = ["listStatistics"]

    private static func add(_ location: String?, day: Int, to api: TestAPI, of tenant: TenantID) throws {
        api.confirmations.add(
            RecordedConfirmation(
                id: UUID(),
                record: ConfirmationRecord(
                    location: try location.map { try LocationIdentifier($0) }, outcome: .inRegion,
                    source: .nfc, minute: Date(timeIntervalSince1970: Double(day) * 86_400))), of: tenant)
    }

    @Test func statisticsAreListedByEachAttributeOnlyForTheirTenant() async throws {
        let api = TestAPI()
        let (tenant, other) = (TenantID(number: 1), TenantID(number: 3))
        let neighbour = APIKey.generate(.secret)
        try api.admit(neighbour, of: other, scopes: "read")
        for (location, day) in [("a", 0), ("b", 0), ("a", 1), (nil, 2)] {
            try Self.add(location, day: day, to: api, of: tenant)
        }
        try await api.test(over: [.task]) { client in
            func groups(_ query: String) async throws -> [JSONValue] {
                let response = try await client.send(.get, "/v1/statistics\(query)", key: api.reader)
                let by = query.contains("by=") ? query.split(separator: "=").last.map(String.init) : "day"
                return try #require(response["data"]?.arrayValue, "\(response.text)").compactMap {
                    $0.objectValue?[by ?? ""]
                }
            }
            #expect(try await groups("") == ["1970-01-01", "1970-01-02", "1970-01-03"])
            #expect(try await groups("?by=location") == [.null, "a", "b"])
            #expect(try await groups("?by=source") == ["nfc"])
            #expect(try await groups("?location=a") == ["1970-01-01", "1970-01-02"])
            #expect(try await groups("?from=1970-01-02") == ["1970-01-02", "1970-01-03"])
            let first = try await client.send(.get, "/v1/statistics?to=1970-01-01", key: api.reader)
            #expect(
                first.text == """
                    {"data":[{"confirmations":2,"day":"1970-01-01","inRegion":2,"launchReports":0,"lookups":0}],"next":null}
                    """)
            var seen: [String] = []
            var query = "?by=location&limit=1"
            while true {
                let page = try await client.send(.get, "/v1/statistics\(query)", key: api.reader)
                seen += (page["data"]?.arrayValue ?? []).map {
                    $0.objectValue?["location"]?.stringValue ?? "-"
                }
                guard let next = page["next"]?.stringValue else { break }
                query = "?by=location&limit=1&after=\(next)"
            }
            #expect(seen == ["-", "a", "b"])
            let cursor = try #require(
                try await client.send(.get, "/v1/statistics?by=location&limit=1", key: api.reader)["next"]?
                    .stringValue)
            for (query, field) in [
                ("?by=weather", "by"), ("?by=", "by"), ("?from=1", "from"), ("?to=2026-13-01", "to"),
                ("?location=%00", "location"), ("?after=AA", "after"), ("?limit=0", "limit"),
                // A cursor of another list.
                ("?by=source&after=\(cursor)", "after"),
            ] {
                let response = try await client.send(.get, "/v1/statistics\(query)", key: api.reader)
                #expect(response.status == 400 && response.field == field, "\(query): \(response.text)")
            }
            let theirs = try await client.send(.get, "/v1/statistics", key: neighbour)
            #expect(theirs.status == 200 && theirs["data"]?.arrayValue?.isEmpty == true)
            for key in [api.publishable, api.secret, api.keyManager] {
                #expect(try await client.send(.get, "/v1/statistics", key: key).status == 403)
            }
        }
    }

    // MARK: Counted requests

    private static let order = "https://example.com/restaurants/restaurant_a/order/1234"

    private static func target(_ url: String, _ source: String? = nil) -> String {
        let encoded = url.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return "/v1/lookup?url=\(encoded)" + (source.map { "&source=\($0)" } ?? "")
    }

    @Test func lookupsAreCountedIfAnExperienceMatches() async throws {
        let api = TestAPI()
        try await api.test { client in
            let before = api.launches.all.count
            func lookUp(
                _ url: String, _ source: String? = nil, key: APIKey? = api.publishable
            ) async throws -> Int {
                try await client.send(.get, Self.target(url, source), key: key).status
            }
            let statuses = [try await lookUp(Self.order, "nfc"), try await lookUp(Self.order)]
            #expect(statuses == [200, 200])
            // The experience's rule finds an identifier that no location has.
            #expect(try await lookUp("https://example.com/restaurants/unknown", "qr_code") == 404)
            // Not counted: no experience, a refused request, an unknown source.
            #expect(try await lookUp("https://example.org/") == 404)
            #expect(try await lookUp(Self.order, key: nil) == 401)
            #expect(try await lookUp(Self.order, "fax") == 400)
            #expect(
                Array(api.launches.all.dropFirst(before)) == [
                    "lookup restaurant_a restaurant_a nfc", "lookup restaurant_a restaurant_a unknown",
                    "lookup - restaurants qrCode",
                ])
        }
    }

    /// A client sends a report again when a token or the permission changes.
    @Test func launchIsCountedAtItsFirstReport() async throws {
        let api = TestAPI()
        try await api.test { client in
            let before = api.launches.all.count
            let id = UUID().uuidString
            func report(_ url: String?, _ launchedAt: String, _ source: String? = nil) async throws -> Int {
                var body: JSONObject = [
                    "environment": "production", "permission": "ephemeral", "launchedAt": .string(launchedAt),
                ]
                body["url"] = url.map { .string($0) }
                body["source"] = source.map { .string($0) }
                return try await client.send(
                    .put, "/v1/instances/\(id)", key: api.publishable,
                    headers: [.contentType: "application/json"],
                    body: ByteBuffer(bytes: JSONValue.object(body).serialized())
                ).status
            }
            let statuses = [
                try await report(Self.order, "2026-03-01T12:00:00Z", "app_clip_code"),
                try await report(Self.order, "2026-03-01T12:00:00Z", "app_clip_code"),
                try await report(Self.order, "2026-03-01T11:00:00Z"),
            ]
            #expect(statuses == [201, 200, 200])
            // A launch without a URL has no experience.
            #expect(try await report(nil, "2026-03-01T13:00:00Z") == 200)
            #expect(try await report(Self.order, "2026-03-01T14:00:00Z") == 200)
            // A clock that is ahead gives each report the present time.
            for _ in 0..<3 { #expect(try await report(Self.order, "2126-03-01T14:00:00Z") == 200) }
            #expect(try await report(Self.order, "2026-03-01T15:00:00Z", "fax") == 400)
            #expect(
                Array(api.launches.all.dropFirst(before)) == [
                    "report restaurant_a restaurant_a appClipCode",
                    "report restaurant_a restaurant_a unknown",
                    "report restaurant_a restaurant_a unknown",
                ])
        }
    }
}
