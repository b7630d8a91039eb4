import AppStoreSync
import Formats
import Foundation
import HTTPTypes
import Synchronization
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// Stores the results of App Store checks in memory.
final class MemoryLatestChecks: LatestChecks {
    private let checks = Mutex<[TenantID: [BundleID: (LatestCheck, [SyncCheck.Row])]]>([:])

    /// Adds a row to the result for a clip.
    func add(_ row: SyncCheck.Row?, of clip: BundleID, of tenant: TenantID, summary: JSONObject) {
        checks.withLock { checks in
            let rows = (checks[tenant]?[clip]?.1 ?? []) + [row].compactMap(\.self)
            let check = LatestCheck(
                clip: clip, checkedAt: Date(timeIntervalSince1970: 0), summary: summary, failure: nil)
            checks[tenant, default: [:]][clip] = (check, rows)
        }
    }

    /// Connects a clip that has not been checked yet.
    func connect(_ clip: BundleID, of tenant: TenantID, failure: String? = nil) {
        checks.withLock {
            $0[tenant, default: [:]][clip] = (
                LatestCheck(clip: clip, checkedAt: nil, summary: nil, failure: failure), []
            )
        }
    }

    func latest(of tenant: TenantID, clip: BundleID?, summarized: Bool) async throws -> [LatestCheck] {
        checks.withLock { $0[tenant]?.values.map(\.0) ?? [] }.filter { clip == nil || $0.clip == clip }.map {
            LatestCheck(
                clip: $0.clip, checkedAt: $0.checkedAt, summary: summarized ? $0.summary : nil,
                failure: $0.failure)
        }.sorted { $0.clip.text < $1.clip.text }
    }

    func rows(
        of clip: BundleID, of tenant: TenantID, within locations: [String]?, after url: String?, limit: Int
    ) async throws -> [SyncCheck.Row] {
        checks.withLock { $0[tenant]?[clip]?.1 ?? [] }.filter { row in
            row.url > url ?? "" && locations.map { row.location.map($0.contains) ?? false } ?? true
        }.sorted { $0.url < $1.url }.prefix(limit).map(\.self)
    }
}

/// Tests with the database check that the results are correct.
@Suite struct AppStoreEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations: Set = ["getAppStorePlan"]

    private static let path = "/v1/appstore/plan"
    private static let summary: JSONObject = ["version": 1, "inStep": false]

    private static func row(_ number: Int) -> SyncCheck.Row {
        let url = "https://example.com/\(number)"
        return SyncCheck.Row(
            url: url, location: nil, json: ["url": .string(url), "step": "create"])
    }

    @Test func latestAppStoreCheckIsPaged() async throws {
        let api = TestAPI()
        let clip = try BundleID("com.example.MyApp.Clip")
        for number in 1...3 {
            api.appStore.add(
                Self.row(number), of: clip, of: TenantID(number: 1), summary: Self.summary)
        }
        try await api.test { client in
            let first = try await client.send(.get, "\(Self.path)?limit=2", key: api.reader)
            #expect(first.status == 200 && first["clip"] == "com.example.MyApp.Clip", "\(first.text)")
            #expect(first["checkedAt"] == "1970-01-01T00:00:00Z" && first["failure"] == .null)
            #expect(first["summary"] == .object(Self.summary))
            #expect(first["data"] == .array([1, 2].map { .object(Self.row($0).json) }))
            let next = try #require(first["next"]?.stringValue)
            let last = try await client.send(
                .get, "\(Self.path)?clip=com.example.MyApp.Clip&after=\(next)", key: api.reader)
            #expect(last["data"] == [.object(Self.row(3).json)] && last["next"] == .null, "\(last.text)")
            // Only the first page has the summary, which may be long.
            #expect(last["summary"] == .null && last["checkedAt"] == first["checkedAt"])
            for key in [api.publishable, api.secret, api.keyManager] {
                #expect(try await client.send(.get, Self.path, key: key).status == 403)
            }
        }
    }

    @Test func unconnectedOrUncheckedClipIsReported() async throws {
        let api = TestAPI()
        let neighbour = APIKey.generate(.secret)
        try api.admit(neighbour, of: TenantID(number: 9), scopes: "read")
        try await api.test { client in
            for query in ["", "?clip=com.example.MyApp.Clip", "?clip=nonsense%20"] {
                let none = try await client.send(.get, Self.path + query, key: api.reader)
                #expect(none.status == 404 && none.code == "not_connected", "\(query)")
            }
        }
        api.appStore.connect(
            try BundleID("com.example.MyApp.Clip"), of: TenantID(number: 1), failure: "NOT_AUTHORIZED")
        try await api.test { client in
            let unseen = try await client.send(.get, Self.path, key: api.reader)
            #expect(unseen.status == 200 && unseen["checkedAt"] == .null && unseen["summary"] == .null)
            #expect(unseen["failure"] == "NOT_AUTHORIZED" && unseen["data"] == [])
            for query in ["", "?clip=com.example.MyApp.Clip"] {
                #expect(try await client.send(.get, Self.path + query, key: neighbour).status == 404)
            }
        }
        api.appStore.connect(try BundleID("com.example.Other.Clip"), of: TenantID(number: 1))
        try await api.test { client in
            let several = try await client.send(.get, Self.path, key: api.reader)
            #expect(several.status == 400 && several.field == "clip", "\(several.text)")
            let one = try await client.send(
                .get, "\(Self.path)?clip=com.example.Other.Clip", key: api.reader)
            #expect(one.status == 200)
            let unknown = try await client.send(.get, "\(Self.path)?live=true", key: api.reader)
            #expect(unknown.status == 400 && unknown.code == "unknown_parameter")
        }
    }
}
