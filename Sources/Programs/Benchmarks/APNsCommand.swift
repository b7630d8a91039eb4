import APNsClient
import APNsPayload
import APNsSimulator
import ArgumentParser
import Crypto
import Formats
import Foundation
import Logging
import Notifications
import Platform
import Tenancy

struct APNsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns",
        abstract: "Time the APNs client against the APNs simulator, in one process over loopback.")

    @Option(help: "The requests in all.") var requests = 200_000
    @Option(help: "The requests that wait or are under way at once.") var concurrency = 2_000
    @Option(help: "The connections.") var connections = 2
    @Option(help: "Print JSON or a table.") var format = Format.table

    enum Format: String, ExpressibleByArgument {
        case table
        case json
    }

    func run() async throws {
        let key = P256.Signing.PrivateKey()
        let team = try TeamID("TEAM123456")
        var options = APNsSimulator.Options(teams: [
            APNsSimulator.Team(
                id: team.text, keys: [.init(id: "KEY1234567", publicKey: key.publicKey.pemRepresentation)])
        ])
        options.environment = .production
        options.recordLimit = 0
        try await APNsSimulator.withSimulator(options) { simulator in
            let authorities = FileManager.default.temporaryDirectory
                .appending(path: "benchmark-\(UUID().uuidString).pem").path
            try (simulator.authority ?? "").write(toFile: authorities, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: authorities) }
            var settings = APNsClient.Settings()
            settings.production = APNsClient.Service(
                APNsClient.Address(host: "localhost", port: simulator.port))
            settings.authorities = authorities
            settings.connections = connections
            let apnsKey = try APNsKey(team: team, id: "KEY1234567", pem: key.pemRepresentation)
            let client = try APNsClient(
                settings, keys: [apnsKey], logger: Logger(label: "apns") { _ in SwiftLogNoOpLogHandler() })
            let clip = try BundleID("com.example.Coffee.Clip")
            // Connections, tokens and code paths are warm.
            try await send(5_000, by: client, team: team, bundleID: clip)
            let start = ContinuousClock.now
            let (used, served) = (ProcessorTime.ofProcess, try await simulator.processorTime())
            let accepted = try await send(requests, by: client, team: team, bundleID: clip)
            let elapsed = ContinuousClock.now - start
            let all = ProcessorTime.ofProcess - used
            let simulated = try await simulator.processorTime() - served
            await client.shutDown()
            report(accepted: accepted, elapsed: elapsed, all: all, simulated: simulated)
        }
    }

    /// Sends so many, by as many tasks as there may be requests at once; returns how many were accepted.
    @discardableResult
    private func send(
        _ count: Int, by client: APNsClient, team: TeamID, bundleID: BundleID
    ) async throws -> Int {
        let payload = Array(
            #"{"aps":{"alert":{"title":"Order 7","body":"Your coffee is ready."},"sound":"default"}}"#.utf8)
        let tenant = TenantID(UUID())
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<concurrency {
                group.addTask {
                    var accepted = 0
                    for index in stride(from: worker, to: count, by: concurrency) {
                        var token = [UInt8](repeating: 0xA5, count: 32)
                        withUnsafeBytes(of: index) { token.replaceSubrange(0..<8, with: $0) }
                        guard let token = PushToken(token) else { continue }
                        let request = PushRequest(
                            tenant: tenant, team: team, environment: .production,
                            destination: .device(token),
                            headers: try NotificationHeaders(
                                pushType: .alert, bundleID: bundleID.text, expiration: .immediate,
                                id: UUID().uuidString), payload: payload)
                        if case .answered(let response) = await client.send(request), response.status == 200 {
                            accepted += 1
                        }
                    }
                    return accepted
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private func report(accepted: Int, elapsed: Duration, all: Duration, simulated: Duration) {
        let rate = Double(accepted) / (elapsed / .seconds(1))
        let perRequest = (all - simulated) / .microseconds(1) / Double(requests)
        let perResponse = simulated / .microseconds(1) / Double(requests)
        switch format {
        case .json:
            let object: JSONValue = [
                "requests": JSONValue(requests), "accepted": JSONValue(accepted),
                "requestsPerSecond": JSONValue(finite: rate),
                "clientMicrosecondsPerRequest": JSONValue(finite: perRequest),
                "simulatorMicrosecondsPerRequest": JSONValue(finite: perResponse),
            ]
            print(object.text)
        case .table:
            print("\(accepted) of \(requests) accepted, \(Int(rate)) a second")
            print(
                "processor time per request: client \(Self.tenths(perRequest)) µs, simulator \(Self.tenths(perResponse)) µs"
            )
        }
    }

    private static func tenths(_ value: Double) -> String {
        "\((value * 10).rounded() / 10)"
    }
}
