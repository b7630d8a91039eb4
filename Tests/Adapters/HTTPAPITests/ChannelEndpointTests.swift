import APNsPayload
import Formats
import Foundation
import HTTPTypes
import Notifications
import Synchronization
import Tenancy
import Testing

@testable import HTTPAPI

/// Plays APNs, and keeps whose channels are in memory.
final class MemoryChannels: ChannelManager, ChannelStore {
    private struct State {
        var made = 0
        var channels: [TenantID: [BroadcastChannel]] = [:]
        var refusal: ChannelOutcome<String>?
        /// Whether the tenants are test tenants.
        var areOfTest = false
    }

    private let state = Mutex(State())

    func makeTestTenants() { state.withLock { $0.areOfTest = true } }

    func refuse(_ outcome: ChannelOutcome<String>?) { state.withLock { $0.refusal = outcome } }

    func createChannel(
        of bundleID: BundleID, team: TeamID, environment: APNsEnvironment, storesLastMessage: Bool
    ) async -> ChannelOutcome<String> {
        state.withLock { state in
            if let refusal = state.refusal { return refusal }
            state.made += 1
            return .done(Data("channel \(state.made)".utf8).base64EncodedString())
        }
    }

    func channels(
        of bundleID: BundleID, team: TeamID, environment: APNsEnvironment
    ) async -> ChannelOutcome<[String]> { .done([]) }

    func deleteChannel(
        _ id: String, of bundleID: BundleID, team: TeamID, environment: APNsEnvironment
    ) async -> ChannelOutcome<ChannelDeleted> { .done(ChannelDeleted()) }

    func team(of clip: BundleID, of tenant: TenantID) async throws -> (team: TeamID, isOfTest: Bool)? {
        clip.text.hasSuffix(".Clip") ? (try TeamID("ABCDE12345"), state.withLock { $0.areOfTest }) : nil
    }
    func checkRoom(of clip: BundleID, _ environment: APNsEnvironment, of tenant: TenantID) async throws {}
    func add(_ channel: BroadcastChannel, of tenant: TenantID) async throws {
        state.withLock { $0.channels[tenant, default: []].append(channel) }
    }
    func channels(of tenant: TenantID) async throws -> [BroadcastChannel] {
        state.withLock { $0.channels[tenant] ?? [] }
    }
    func channel(_ id: ChannelID, of tenant: TenantID) async throws -> BroadcastChannel? {
        try await channels(of: tenant).first { $0.id == id }
    }
    func remove(_ channel: BroadcastChannel, of tenant: TenantID) async throws {
        state.withLock { $0.channels[tenant]?.removeAll { $0 == channel } }
    }
}

@Suite struct ChannelEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations = ["createChannel", "deleteChannel"]

    private static let clip: JSONValue = ["clip": "com.example.MyApp.Clip", "storesLastMessage": true]

    @Test func channelIsCreatedListedAndDeleted() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            let made = try await client.post("/v1/channels", Self.clip)
            #expect(made.status == 201 && made["environment"] == "production")
            #expect(made["storesLastMessage"] == true && made["clip"] == "com.example.MyApp.Clip")
            let path = try #require(made["path"]?.stringValue)
            let list = try await client.send(.get, "/v1/channels", key: api.reader)
            #expect(list["data"] == [try #require(made.json)] && list["next"] == .null)
            let deleted = try await client.send(.delete, path, key: api.secret)
            #expect(deleted.status == 204 && deleted.text.isEmpty)
            let again = try await client.send(.delete, path, key: api.secret)
            #expect(again.status == 404 && again.code == "unknown_channel")
            #expect(try await client.send(.get, "/v1/channels", key: api.reader)["data"] == [])

            let next = try await client.post("/v1/channels", Self.clip)
            let id = try #require(next["id"]?.stringValue).utf8.map { "%" + String($0, radix: 16) }.joined()
            #expect(try await client.send(.delete, "/v1/channels/\(id)", key: api.secret).status == 204)
        }
    }

    /// A channel of another tenant gets the same response as a channel that does not exist.
    @Test func testTenantCreatesChannelsInSandboxOnly() async throws {
        let api = TestAPI()
        api.channels.makeTestTenants()
        try await api.test(over: [.task]) { client in
            let clip: JSONValue = ["clip": "com.example.MyApp.Clip"]
            let refused = try await client.post(
                "/v1/channels", ["clip": "com.example.MyApp.Clip", "environment": "production"])
            #expect(refused.status == 422 && refused.code == "sandbox_only" && refused.field == "environment")
            let made = try await client.post("/v1/channels", clip)
            #expect(made.status == 201 && made["environment"] == "sandbox")
        }
    }

    @Test func anotherTenantsChannelIsUnknown() async throws {
        let api = TestAPI()
        let other = TenantID(UUID())
        let id = try #require(ChannelID("bmVpZ2hib3Vy"))
        try await api.channels.add(
            BroadcastChannel(
                id: id, clip: try BundleID("com.example.MyApp.Clip"), environment: .production,
                storesLastMessage: false, createdAt: Date()), of: other)
        try await api.test(over: [.task]) { client in
            #expect(try await client.send(.get, "/v1/channels", key: api.reader)["data"] == [])
            let theirs = try await client.send(.delete, "/v1/channels/\(id.pathComponent)", key: api.secret)
            let nobodys = try await client.send(.delete, "/v1/channels/bm9ib2R5", key: api.secret)
            for response in [theirs, nobodys] {
                #expect(response.status == 404 && response.code == "unknown_channel")
            }
            #expect(theirs["detail"] == nobodys["detail"])
            #expect(theirs.headers[.contentLength] == nobodys.headers[.contentLength])
        }
        #expect(try await api.channels.channels(of: other).count == 1)
    }

    @Test func invalidChannelRequestIsRejected() async throws {
        try await TestAPI().test(over: [.task]) { client in
            for (body, status, code) in [
                ([:], 400, "missing_field"), (["clip": 1], 400, "invalid_field"),
                (["clip": "com.example.MyApp.Clip", "name": "x"], 400, "unknown_field"),
                (["clip": "com.example.MyApp.Clip", "environment": "test"], 400, "invalid_field"),
                (["clip": "com.example.MyApp"], 404, "unknown_clip"), (["clip": "x"], 404, "unknown_clip"),
            ] as [(JSONValue, Int, String)] {
                let response = try await client.post("/v1/channels", body)
                #expect(response.status == status && response.code == code, "\(body): \(response.text)")
            }
            #expect(
                try await client.post("/v1/channels", key: client.api.publishable, Self.clip).status == 403)
        }
    }

    @Test func apnsErrorIsReported() async throws {
        let api = TestAPI()
        try await api.test(over: [.task]) { client in
            api.channels.refuse(.refused(APNsResponse(status: 400, reason: .cannotCreateChannelConfig)))
            let refused = try await client.post("/v1/channels", Self.clip)
            #expect(refused.status == 502 && refused.code == "apns_refused")
            #expect(refused["apnsReason"] == "CannotCreateChannelConfig" && refused["apnsStatus"] == 400)
            api.channels.refuse(.notSent(.noKey))
            let unasked = try await client.post("/v1/channels", Self.clip)
            #expect(unasked.code == "apns_not_reached" && unasked["failure"] == "no_key")
            api.channels.refuse(.unanswered(.timedOut))
            #expect(try await client.post("/v1/channels", Self.clip).code == "apns_unanswered")
        }
    }

    @Test func channelCreationWithoutAPNsKeysIsUnavailable() async throws {
        var api = TestAPI()
        api.hasNotifications = false
        try await api.test(over: [.task]) { client in
            let response = try await client.post("/v1/channels", Self.clip)
            #expect(response.status == 503 && response.code == "notifications_not_configured")
        }
    }
}
