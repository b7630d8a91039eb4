import APNsPayload
import APNsSimulator
import Crypto
import Foundation
import Logging
import Notifications
import Synchronization
import Tenancy

@testable import APNsClient

/// A client, and the simulator to which it sends.
struct SimulatedService {
    let client: APNsClient
    let simulator: APNsSimulator
    let log: RecordedLog

    static let team = (try? TeamID("TEAM123456"))!
    static let keyID = "KEY1234567"
    static let bundleID = (try? BundleID("com.example.Coffee.Clip"))!
    static let key = P256.Signing.PrivateKey()

    /// The simulated team, and its key for the client.
    static func knownTeam(
        environments: Set<APNsEnvironment> = Set(APNsEnvironment.allCases)
    ) -> APNsSimulator.Team {
        APNsSimulator.Team(
            id: team.text,
            keys: [
                APNsSimulator.Key(
                    id: keyID, publicKey: key.publicKey.pemRepresentation, environments: environments)
            ])
    }

    /// Runs the closure with a client and a simulator.
    static func lend<Result: Sendable>(
        rules: [Rule] = [], clientNow: @escaping @Sendable () -> Date = { Date() },
        clientUptime: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
        keys: [APNsKey]? = nil,
        options change: (inout APNsSimulator.Options) -> Void = { _ in },
        settings changeSettings: (inout APNsClient.Settings) -> Void = { _ in },
        _ body: (SimulatedService) async throws -> Result
    ) async throws -> Result {
        var options = APNsSimulator.Options(teams: [knownTeam()])
        change(&options)
        return try await APNsSimulator.withSimulator(options) { simulator in
            simulator.setRules(rules)
            let authorities = FileManager.default.temporaryDirectory
                .appending(path: "apns-\(UUID().uuidString).pem").path
            try (simulator.authority ?? "").write(toFile: authorities, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: authorities) }
            var settings = APNsClient.Settings()
            settings.sandbox = APNsClient.Service(
                APNsClient.Address(host: "localhost", port: simulator.port))
            settings.production = settings.sandbox
            settings.authorities = authorities
            settings.connections = 1
            // Long timeouts, because the machine may be busy. Tests end waits themselves.
            settings.requestTimeout = .seconds(600)
            settings.connectTimeout = .seconds(600)
            settings.pingTimeout = .seconds(600)
            settings.firstPause = .milliseconds(10)
            changeSettings(&settings)
            let log = RecordedLog()
            let client = try APNsClient(
                settings, keys: try keys ?? [clientKey()], logger: log.logger, now: clientNow,
                uptime: clientUptime)
            do {
                let result = try await body(
                    SimulatedService(client: client, simulator: simulator, log: log))
                await client.shutDown()
                return result
            } catch {
                await client.shutDown()
                throw error
            }
        }
    }

    static func clientKey() throws -> APNsKey {
        try APNsKey(team: team, id: keyID, pem: key.pemRepresentation)
    }

    static let tenant = TenantID(UUID())

    /// A notification for a new device, unless one is named.
    static func request(
        device: String = randomHex(32), id: UUID = UUID(), pushType: PushType = .alert,
        payload: String = #"{"aps":{"alert":"Ready"}}"#, team: TeamID = team,
        environment: APNsEnvironment = .sandbox, tenant: TenantID = tenant,
        bundleID: String = bundleID.text
    ) throws -> PushRequest {
        PushRequest(
            tenant: tenant, team: team, environment: environment,
            destination: .device(PushToken(hex: device)!),
            headers: try NotificationHeaders(
                pushType: pushType, bundleID: bundleID, expiration: .immediate, id: id.uuidString),
            payload: Array(payload.utf8))
    }

    static func randomHex(_ bytes: Int) -> String {
        (0..<bytes).map { _ in String(format: "%02x", UInt8.random(in: 0...255)) }.joined()
    }

    /// Sends a notification to a new device.
    func send(id: UUID = UUID(), device: String = randomHex(32)) async throws -> PushOutcome {
        await client.send(try Self.request(device: device, id: id))
    }

    /// Whether APNs accepts another notification.
    func isAccepted(team: TeamID = team) async throws -> Bool {
        await client.send(try Self.request(team: team)).isAccepted
    }

    /// Makes all requests time out.
    func expire() async {
        await client.expire(after: .seconds(601))
    }

    /// Returns when this number of requests wait for a stream.
    func waitUntilThereAreWaiting(_ count: Int) async {
        while await client.waiting < count { await Task.yield() }
    }

    /// Sends this number of notifications at once.
    func send(_ count: Int) async throws -> [PushOutcome] {
        try await withThrowingTaskGroup(of: PushOutcome.self) { group in
            for _ in 0..<count {
                let request = try Self.request()
                group.addTask { await client.send(request) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// The number of requests with each ID at the simulator.
    var timesReceived: [String: Int] {
        simulator.received.reduce(into: [:]) { $0[$1.id, default: 0] += 1 }
    }
}

extension PushOutcome {
    var isAccepted: Bool {
        if case .answered(let response) = self { response.status == 200 } else { false }
    }

    var reason: APNsReason? {
        if case .answered(let response) = self { response.reason } else { nil }
    }
}

/// All lines of the log, at every level.
final class RecordedLog: Sendable {
    private let storage = Mutex([String]())

    var lines: [String] { storage.withLock { $0 } }

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(log: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = self.metadata.merging(event.metadata ?? [:]) { $1 }
            log.storage.withLock { $0.append("\(event.level) \(event.message) \(metadata)") }
        }
    }
}
