import APNsPayload
import Formats
import Foundation
import HTTPTypes
import Invocation
import Notifications
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

@Suite struct NotificationHistoryEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations: Set = ["listNotifications", "listInstances", "listChannels"]

    private static let paths = ["/v1/notifications", "/v1/instances", "/v1/channels"]
    private static let tenant = TenantID(number: 1)
    private static let now = Date(timeIntervalSince1970: 1_772_368_200)

    private static func notification(
        _ number: Int, clip: String = "com.example.MyApp.Clip", location: String? = "restaurant_a"
    ) throws -> RecordedNotification {
        let createdAt = now + Double(number)
        return RecordedNotification(
            id: NotificationID(.timeOrdered(at: createdAt)), createdAt: createdAt,
            url: "https://example.com/restaurants/restaurant_a",
            experienceURL: "https://example.com/restaurants/restaurant_a", experienceKind: .advanced,
            clip: try BundleID(clip), location: try location.map { try LocationIdentifier($0) },
            audience: try AudienceRequest(["business": true]),
            headers: try NotificationHeaders(pushType: .alert, bundleID: clip),
            payload: Array(#"{"aps":{"alert":"secret text"}}"#.utf8), warnings: [])
    }

    private static func instance(
        _ number: UInt8, clip: String = "com.example.MyApp.Clip", launchedAt: Date = now
    ) throws
        -> InstanceSummary
    {
        InstanceSummary(
            id: InstanceID(UUID(number: number)), clip: try BundleID(clip), app: .clip,
            environment: .production, permission: .ephemeral, launchedAt: launchedAt, launchCount: 1,
            hasToken: true,
            activityCount: 0)
    }

    private static func channel(_ id: String, _ environment: APNsEnvironment) throws -> BroadcastChannel {
        BroadcastChannel(
            id: try #require(ChannelID(id)), clip: try BundleID("com.example.MyApp.Clip"),
            environment: environment, storesLastMessage: false, createdAt: now)
    }

    private static func filledAPI(_ tenant: TenantID = tenant) async throws -> TestAPI {
        let api = TestAPI()
        for number in 0..<3 { api.history.add(try notification(number), of: tenant) }
        api.history.add(try notification(3, clip: "com.example.Other.Clip", location: nil), of: tenant)
        for number in 1...3 { api.history.add(try instance(UInt8(number)), of: tenant) }
        api.history.add(try instance(4, clip: "com.example.Other.Clip"), of: tenant)
        for (id, environment) in [
            ("YQ==", APNsEnvironment.sandbox), ("Yg==", .production), ("Yw==", .production),
        ] {
            try await api.channels.add(channel(id, environment), of: tenant)
        }
        return api
    }

    private static func ids(_ response: TestAPI.APIResponse) -> [String] {
        (response["data"]?.arrayValue ?? []).compactMap { $0.objectValue?["id"]?.stringValue }
    }

    @Test(arguments: paths) func pagingReturnsTheWholeList(path: String) async throws {
        let api = try await Self.filledAPI()
        try await api.test(over: [.task]) { client in
            let whole = try await client.send(.get, path, key: api.reader)
            #expect(whole.status == 200 && whole["next"] == .null && Self.ids(whole).count >= 3)
            var seen: [String] = []
            var next: String? = ""
            while let after = next {
                let query = after.isEmpty ? "" : "&after=\(after)"
                let page = try await client.send(.get, "\(path)?limit=1\(query)", key: api.reader)
                seen += Self.ids(page)
                next = page["next"]?.stringValue
            }
            #expect(seen == Self.ids(whole))
            for text in ["token\"", "secret text", "payload"] { #expect(!whole.text.contains(text)) }
        }
    }

    @Test func instancesAreListedByLatestLaunch() async throws {
        let api = TestAPI()
        for (number, delay) in [(1, 0.000_001), (2, 1), (3, 0), (4, 1), (5, 0.000_002)] {
            api.history.add(
                try Self.instance(UInt8(number), launchedAt: Self.now + delay), of: Self.tenant)
        }
        let path = "/v1/instances?order=latest_launch"
        let restricted = APIKey.generate(.secret)
        try api.admit(restricted, of: Self.tenant, scopes: "read", locations: "restaurant_a")
        try await api.test(over: [.task]) { client in
            var (seen, next) = ([String](), String?(""))
            while let after = next {
                let query = after.isEmpty ? "" : "&after=\(after)"
                let page = try await client.send(.get, "\(path)&limit=1\(query)", key: api.reader)
                seen += Self.ids(page).map { String($0.suffix(1)) }
                next = page["next"]?.stringValue
            }
            #expect(seen == ["2", "4", "5", "1", "3"])
            let other = try await client.send(.get, "\(path)&after=YQ", key: api.reader)
            #expect(other.status == 400 && other.field == "after")
            let refused = try await client.send(.get, path, key: restricted)
            #expect(refused.status == 403, "\(refused.text)")
            let unknown = try await client.send(.get, "/v1/instances?order=newest", key: api.reader)
            #expect(unknown.status == 400 && unknown.field == "order")
        }
    }

    @Test func notificationsAreListedNewestFirst() async throws {
        let api = try await Self.filledAPI()
        try await api.test(over: [.task]) { client in
            let page = try await client.send(.get, "/v1/notifications", key: api.reader)
            let times = (page["data"]?.arrayValue ?? []).compactMap {
                $0.objectValue?["createdAt"]?.stringValue
            }
            #expect(times.count == 4 && times == times.sorted().reversed())
            let first = try #require(page["data"]?.arrayValue?.last?.objectValue)
            let business: JSONValue = ["business": true]
            #expect(first["location"] == "restaurant_a" && first["audience"] == business)
        }
    }

    @Test func listsAreFiltered() async throws {
        let api = try await Self.filledAPI()
        try await api.test(over: [.task]) { client in
            for (path, count) in [
                ("/v1/notifications?clip=com.example.Other.Clip", 1),
                ("/v1/notifications?location=restaurant_a", 3), ("/v1/notifications?location=x", 0),
                ("/v1/instances?clip=com.example.MyApp.Clip", 3), ("/v1/channels?environment=sandbox", 1),
                ("/v1/channels?clip=com.example.Other.Clip", 0),
            ] {
                let page = try await client.send(.get, path, key: api.reader)
                #expect(Self.ids(page).count == count, "\(path)")
            }
            for (path, status, field) in [
                ("/v1/notifications?clip=x", 400, "clip"),
                ("/v1/notifications?location=%00", 400, "location"),
                ("/v1/notifications?after=YQ", 400, "after"), ("/v1/notifications?url=x", 400, "url"),
                ("/v1/instances?url=x", 400, "url"), ("/v1/instances?after=YQ", 400, "after"),
                ("/v1/channels?environment=test", 400, "environment"),
                ("/v1/channels?after=YQ", 400, "after"),
                ("/v1/channels?limit=0", 400, "limit"),
            ] {
                let response = try await client.send(.get, path, key: api.reader)
                #expect(response.status == status && response.field == field, "\(path): \(response.text)")
            }
        }
    }

    @Test(arguments: paths) func historyEndpointsRequireScope(path: String) async throws {
        let api = try await Self.filledAPI()
        try await api.test(over: [.task]) { client in
            for key in [api.publishable, api.secret, api.keyManager] {
                let response = try await client.send(.get, path, key: key)
                #expect(response.status == 403)
            }
        }
    }

    @Test(arguments: paths) func anotherTenantsItemsAreNotListed(path: String) async throws {
        let api = try await Self.filledAPI(TenantID(number: 3))
        try await api.test(over: [.task]) { client in
            let page = try await client.send(.get, path, key: api.reader)
            #expect(page.text == #"{"data":[],"next":null}"#)
        }
    }
}
