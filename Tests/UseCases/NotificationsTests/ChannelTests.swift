import APNsPayload
import Foundation
import Notifications
import Synchronization
import Tenancy
import Testing

@Suite struct ChannelTests {
    private static let tenant = TenantID(UUID())
    private static let now = Date(timeIntervalSince1970: 1_772_368_200)

    private struct Lost: Error {}
    private struct NoRoom: Error {}

    private final class MemoryStore: ChannelStore {
        let clip: BundleID
        private let kept = Mutex<[BroadcastChannel]>([])
        var channels: [BroadcastChannel] { kept.withLock { $0 } }
        let isLost: Bool
        let hasRoom: Bool
        let isOfTest: Bool

        init(isLost: Bool = false, hasRoom: Bool = true, isOfTest: Bool = false) throws {
            clip = try BundleID("com.example.MyApp.Clip")
            self.isLost = isLost
            self.hasRoom = hasRoom
            self.isOfTest = isOfTest
        }

        func team(of clip: BundleID, of tenant: TenantID) throws -> (team: TeamID, isOfTest: Bool)? {
            clip == self.clip && tenant == ChannelTests.tenant ? (try TeamID("ABCDE12345"), isOfTest) : nil
        }
        func checkRoom(of clip: BundleID, _ environment: APNsEnvironment, of tenant: TenantID) throws {
            if !hasRoom { throw NoRoom() }
        }
        func add(_ channel: BroadcastChannel, of tenant: TenantID) throws {
            if isLost { throw Lost() }
            kept.withLock { $0.append(channel) }
        }
        func channels(of tenant: TenantID) -> [BroadcastChannel] {
            tenant == ChannelTests.tenant ? channels : []
        }
        func channel(_ id: ChannelID, of tenant: TenantID) -> BroadcastChannel? {
            channels(of: tenant).first { $0.id == id }
        }
        func remove(_ channel: BroadcastChannel, of tenant: TenantID) {
            kept.withLock { $0.removeAll { $0 == channel } }
        }
    }

    private final class ScriptedManager: ChannelManager {
        let made: ChannelOutcome<String>
        let deletion: ChannelOutcome<ChannelDeleted>
        private let deletions = Mutex<[String]>([])
        private let creations = Mutex(0)
        var createdCount: Int { creations.withLock { $0 } }
        var deleted: [String] { deletions.withLock { $0 } }

        init(
            made: ChannelOutcome<String> = .done("dHN0LXNyY2gtY2hubA=="),
            deletion: ChannelOutcome<ChannelDeleted> = .done(ChannelDeleted())
        ) {
            self.made = made
            self.deletion = deletion
        }

        func createChannel(
            of bundleID: BundleID, team: TeamID, environment: APNsEnvironment, storesLastMessage: Bool
        ) async -> ChannelOutcome<String> {
            creations.withLock { $0 += 1 }
            return made
        }

        func channels(
            of bundleID: BundleID, team: TeamID, environment: APNsEnvironment
        ) async -> ChannelOutcome<[String]> { .done([]) }

        func deleteChannel(
            _ id: String, of bundleID: BundleID, team: TeamID, environment: APNsEnvironment
        ) async -> ChannelOutcome<ChannelDeleted> {
            deletions.withLock { $0.append(id) }
            return deletion
        }
    }

    private static func create(
        _ manager: ScriptedManager, _ store: MemoryStore
    ) async throws -> BroadcastChannel {
        try await ChannelDirectory(manager, store).create(
            of: store.clip, .sandbox, storesLastMessage: true, of: tenant, at: now)
    }

    @Test(arguments: [
        ("dHN0LXNyY2gtY2hubA==", "dHN0LXNyY2gtY2hubA"), ("+/+/", "-_-_"), ("YQ==", "YQ"), ("YWI=", "YWI"),
    ]) func channelIDHasPathForm(text: String, pathComponent: String) throws {
        let id = try #require(ChannelID(text))
        #expect(id.pathComponent == pathComponent)
        #expect(ChannelID(pathComponent: pathComponent) == id)
        #expect(ChannelID(pathComponent: text) == id)
    }

    @Test(arguments: ["", "a", "!!!!", "YQ", String(repeating: "YWJj", count: 33), "YQ==\r\n"])
    func nonBase64ChannelIDIsRejected(text: String) {
        #expect(ChannelID(text) == nil)
    }

    @Test func channelIsCreatedStoredAndDeleted() async throws {
        let (manager, store) = (ScriptedManager(), try MemoryStore())
        let directory = ChannelDirectory(manager, store)
        let channel = try await Self.create(manager, store)
        #expect(channel.storesLastMessage && channel.environment == .sandbox && channel.createdAt == Self.now)
        #expect(store.channels == [channel])
        await #expect(throws: ChannelDirectory.Refusal.unknownChannel) {
            try await directory.delete(channel.id, of: TenantID(UUID()))
        }
        #expect(manager.deleted.isEmpty)
        try await directory.delete(channel.id, of: Self.tenant)
        #expect(manager.deleted == [channel.id.text])
        #expect(store.channels.isEmpty)
        await #expect(throws: ChannelDirectory.Refusal.unknownChannel) {
            try await directory.delete(channel.id, of: Self.tenant)
        }
    }

    @Test func channelOfTestTenantIsInSandbox() async throws {
        let (manager, store) = (ScriptedManager(), try MemoryStore(isOfTest: true))
        let directory = ChannelDirectory(manager, store)
        await #expect(throws: ChannelDirectory.Refusal.sandboxOnly) {
            try await directory.create(
                of: store.clip, .production, storesLastMessage: false, of: Self.tenant, at: Self.now)
        }
        #expect(manager.createdCount == 0 && store.channels.isEmpty)
        let channel = try await directory.create(
            of: store.clip, nil, storesLastMessage: false, of: Self.tenant, at: Self.now)
        #expect(channel.environment == .sandbox)
    }

    @Test func channelIsInProductionIfNoEnvironmentIsNamed() async throws {
        let store = try MemoryStore()
        let channel = try await ChannelDirectory(ScriptedManager(), store).create(
            of: store.clip, nil, storesLastMessage: false, of: Self.tenant, at: Self.now)
        #expect(channel.environment == .production)
    }

    @Test func channelOfOtherTenantsClipIsRejected() async throws {
        let store = try MemoryStore()
        let directory = ChannelDirectory(ScriptedManager(), store)
        await #expect(throws: ChannelDirectory.Refusal.unknownClip) {
            try await directory.create(
                of: store.clip, .production, storesLastMessage: false, of: TenantID(UUID()), at: Self.now)
        }
    }

    @Test(arguments: [
        (ChannelOutcome<String>.notSent(.noKey), ChannelDirectory.Refusal.notSent(.noKey)),
        (.unanswered(.timedOut), .unanswered(.timedOut)),
        (
            .refused(APNsResponse(status: 400, reason: .cannotCreateChannelConfig)),
            .refused(APNsResponse(status: 400, reason: .cannotCreateChannelConfig))
        ),
        (.done("no base64!"), .refused(APNsResponse(status: 200))),
    ]) func failedChannelCreationIsNotStored(
        outcome: ChannelOutcome<String>, refusal: ChannelDirectory.Refusal
    ) async throws {
        let store = try MemoryStore()
        await #expect(throws: refusal) { try await Self.create(ScriptedManager(made: outcome), store) }
        #expect(store.channels.isEmpty)
    }

    @Test func channelBeyondQuotaIsNotRequestedFromAPNs() async throws {
        let manager = ScriptedManager()
        await #expect(throws: NoRoom.self) {
            try await Self.create(manager, try MemoryStore(hasRoom: false))
        }
        #expect(manager.createdCount == 0 && manager.deleted.isEmpty)
        _ = try await Self.create(manager, try MemoryStore())
        #expect(manager.createdCount == 1)
    }

    /// Otherwise APNs would have an unknown channel.
    @Test func unstorableChannelIsDeletedAtAPNs() async throws {
        let manager = ScriptedManager()
        await #expect(throws: Lost.self) { try await Self.create(manager, try MemoryStore(isLost: true)) }
        #expect(manager.deleted == ["dHN0LXNyY2gtY2hubA=="])
    }

    @Test func channelStaysUntilAPNsDeletesIt() async throws {
        for (deletion, isKept) in [
            (ChannelOutcome<ChannelDeleted>.unanswered(.timedOut), true), (.notSent(.notConnected), true),
            (.refused(APNsResponse(status: 403, reason: .topicMismatch)), true),
            (.refused(APNsResponse(status: 400, reason: .channelNotRegistered)), false),
        ] {
            let (manager, store) = (ScriptedManager(deletion: deletion), try MemoryStore())
            let channel = try await Self.create(manager, store)
            try? await ChannelDirectory(manager, store).delete(channel.id, of: Self.tenant)
            #expect(!store.channels.isEmpty == isKept)
        }
    }
}
