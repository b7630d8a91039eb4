import APNsSimulator
import Crypto
import EmbeddedPostgreSQL
import Formats
import Foundation
import Notifications
import PostgreSQL
import PropertyTesting
import Synchronization
import TestSupport
import Testing

/// Deliveries under all possible failures: the server is killed, PostgreSQL is stopped immediately, APNs cuts connections, resets
/// streams, sends GOAWAY and does not respond. A seed decides the order.
@Suite struct DeliveryChaosTests {
    /// The number of faults: `DOORSTEP_TEST_CYCLES`, default 20.
    private static let cycles =
        ProcessInfo.processInfo.environment["DOORSTEP_TEST_CYCLES"].flatMap { Int($0) } ?? 20
    private static let seed =
        ProcessInfo.processInfo.environment["DOORSTEP_TEST_SEED"].flatMap { UInt64($0) }
        ?? .random(in: .min ... .max)

    @Test func acceptedNotificationsAreNeitherLostNorDuplicated() async throws {
        print("delivery chaos: seed \(Self.seed), \(Self.cycles) cycles")
        let directory = try TemporaryDirectory()
        let postgres = MortalPostgres(directory)
        try await postgres.start()
        do {
            try await Self.run(postgres, directory)
            try postgres.leave()
        } catch {
            try? postgres.leave()
            throw error
        }
    }

    private static func run(_ postgres: MortalPostgres, _ directory: TemporaryDirectory) async throws {
        var installation = try await Installation.make(postgres.conninfo)
        try await installation.binary.succeed(
            "tenant", "limit", Installation.tenant, "--key", "1000000", "--client", "1000000")
        let key = ProviderKey(in: directory)
        var options = key.simulator
        options.devices = [
            .init(token: Device.token(Device.goneNumber), state: .unregistered(since: Date()))
        ]
        try await APNsSimulator.withSimulator(options) { simulator in
            // A lease of a delivery lasts for two timeouts.
            let settings = try key.settings(for: simulator)
            installation.binary.environment.merge(settings) { $1 }
            installation.binary.environment["DOORSTEP_APNS_TIMEOUT"] = "5"
            let server = try SupervisedServer(installation.binary)
            try await server.start()
            do {
                let devices = try await register(server, installation)
                let sender = NotificationLoad(server, installation, deviceCount: devices.count)
                async let running: Void = sender.run()
                await inflict(on: server, postgres, simulator, sender)
                simulator.setRules([])
                sender.stop()
                await running
                #expect(sender.problems == [], "seed \(seed)")
                try await expectIntegrity(of: sender.accepted, devices, postgres, simulator)
                try await server.stop()
                expectSilence(of: server.log, key, installation)
            } catch {
                await server.kill()
                throw error
            }
        }
    }

    // MARK: Devices

    struct Device {
        let instance: String
        let number: Int

        static let count = 20
        /// APNs says that this device is gone.
        static let goneNumber = 7

        var token: String { Self.token(number) }

        static func token(_ number: Int) -> String {
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 64 - digits.count) + digits
        }
    }

    private static func register(
        _ server: SupervisedServer, _ installation: Installation
    ) async throws -> [Device] {
        try await (0..<Device.count).asyncMap { number in
            let device = Device(instance: UUID().uuidString.lowercased(), number: number)
            let status = try await server.send(
                "PUT", "/v1/instances/\(device.instance)", key: installation.publishable,
                [
                    "url": .string(NotificationLoad.url), "token": .string(device.token),
                    "environment": "production", "permission": "ephemeral",
                ]
            ).status
            #expect((200...201).contains(status))
            return device
        }
    }

    // MARK: Faults

    private static func inflict(
        on server: SupervisedServer, _ postgres: MortalPostgres, _ simulator: APNsSimulator,
        _ sender: NotificationLoad
    ) async {
        var random = SplitMix64(seed: seed)
        for cycle in 1...cycles {
            await sender.wait(forMore: 1 + random.below(6))
            do {
                switch random.below(7) {
                case 0:
                    await server.kill()
                    try await server.start()
                case 1:
                    try await postgres.stopImmediately()
                    try await postgres.start()
                case 2: simulator.cutConnections()
                case 3: simulator.goAway(reason: "Shutdown")
                case 4: simulator.add(Rule(.never, times: 1 + random.below(20)))
                case 5:
                    simulator.add(
                        Rule(.reset(code: [2, 7, 8][random.below(3)]), times: 1 + random.below(20)))
                default: simulator.add(Rule(.cut, times: 1 + random.below(3)))
                }
            } catch {
                Issue.record("cycle \(cycle) of seed \(seed): \(error)")
                return
            }
        }
    }

    // MARK: Invariants

    private struct Stored {
        let id: String
        let notification: String
        let instance: String
        let state: String
        let reason: String?
        let lostReplies: Int
    }

    private static func expectIntegrity(
        of accepted: [String], _ devices: [Device], _ postgres: MortalPostgres, _ simulator: APNsSimulator
    ) async throws {
        let stored = try await postgres.withPool { pool in
            try await waitUntilNothingIsDue(pool)
            return try await pool.withConnection { connection in
                try await connection.execute(
                    """
                    SELECT delivery_id::text, notification_id::text, instance_id::text, state, reason, lost_replies
                    FROM doorstep.deliveries
                    """
                ).map { row in
                    let (id, notification, instance, state, reason, lost) = try row.decode(
                        String.self, String.self, String.self, String.self, String?.self, Int16.self)
                    return Stored(
                        id: id, notification: notification, instance: instance, state: state, reason: reason,
                        lostReplies: Int(lost))
                }
            }
        }
        let taken = Dictionary(
            grouping: simulator.received.filter { $0.status == 200 || $0.status == nil }, by: \.id)
        let tokens = Dictionary(uniqueKeysWithValues: devices.map { ($0.instance, $0.token) })
        let gone = Device.token(Device.goneNumber)
        // Not lost: each notification that a client saw accepted is stored, with a delivery for each instance.
        #expect(Set(stored.map(\.notification)) == Set(accepted), "seed \(seed)")
        #expect(stored.count == accepted.count * devices.count, "seed \(seed)")
        #expect(Set(taken.keys).isSubset(of: Set(stored.map(\.id))), "seed \(seed)")
        for delivery in stored {
            let requests = taken[delivery.id] ?? []
            let comment: Comment = "seed \(seed): \(delivery), taken \(requests.map(\.status))"
            #expect(requests.allSatisfy { $0.device == tokens[delivery.instance] }, comment)
            // Duplicates occur only after lost replies, at most once for each.
            #expect(requests.count <= 1 + delivery.lostReplies, comment)
            switch delivery.state {
            case "delivered": #expect(requests.contains { $0.status == 200 }, comment)
            case "uncertain": #expect(delivery.lostReplies > 0, comment)
            case "refused":
                #expect(tokens[delivery.instance] == gone && delivery.reason == "Unregistered", comment)
            case "skipped":
                #expect(tokens[delivery.instance] == gone && delivery.reason == "token_dead", comment)
            default: Issue.record(comment)
            }
        }
        let counts = Dictionary(grouping: stored, by: \.state).mapValues(\.count)
        let doubled = taken.values.filter { $0.count > 1 }.count
        print("delivery chaos: \(accepted.count) notifications, \(counts), \(doubled) sent more than once")
        #expect(counts["delivered", default: 0] > 0, "seed \(seed)")
    }

    /// At the level trace, the log contains no tokens, keys or content of notifications.
    private static func expectSilence(
        of log: String, _ provider: ProviderKey, _ installation: Installation
    ) {
        #expect(log.contains("listening"))
        let keyText = provider.key.pemRepresentation.split(separator: "\n")[1]
        let secrets = [
            String(keyText), String(installation.secret.dropFirst(8)),
            String(installation.publishable.dropFirst(8)),
            "a secret of the tests", NotificationLoad.alert, "order/1234", "bearer ey", "eyJ", "37.334722",
        ]
        for secret in secrets + (0..<Device.count).map(Device.token) {
            #expect(!log.lowercased().contains(secret.lowercased()), "seed \(seed): \(secret)")
        }
    }

    private static func waitUntilNothingIsDue(_ pool: ConnectionPool) async throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while true {
            let due: Int = try await pool.withConnection {
                try await $0.execute("SELECT count(*) FROM doorstep.deliveries WHERE due_at IS NOT NULL")
                    .one()
                    .decode(at: 0)
            }
            if due == 0 { return }
            guard .now < deadline else {
                Issue.record("seed \(seed): \(due) deliveries are still due")
                return
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Result>(
        _ transform: (Element) async throws -> Result
    ) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
