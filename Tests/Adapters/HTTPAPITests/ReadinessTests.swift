import Foundation
import HTTPServer
import HTTPTestClient
import HTTPTypes
import Logging
import Lookups
import NIOCore
import ServiceLifecycle
import Synchronization
import Testing

@testable import HTTPAPI

@Suite struct ReadinessTests {
    @Test(
        arguments: [
            (0, 10, true), (9, 10, true), (10, 10, false), (98, 100, true), (99, 100, false),
            (9_800, 10_000, true), (9_801, 10_000, false),
        ])
    func serverIsNotReadyNearItsLimitOfConnections(_ count: Int, maximum: Int, isReady: Bool) {
        let readiness = Readiness()
        readiness.set(connections: count, of: maximum)
        #expect((readiness.refusal == nil) == isReady)
        readiness.set(connections: 0, of: maximum)
        #expect(readiness.refusal == nil)
    }

    @Test func readinessEndpointNamesTheReason() async throws {
        let api = TestAPI()
        let dependencies = api.dependencies
        let client = Self.client(api, dependencies)
        #expect(try await client.send(.get, "/readyz").status == .ok)
        dependencies.readiness.set(connections: 100, of: 100)
        let full = try await client.send(.get, "/readyz")
        #expect(full.status == .serviceUnavailable)
        #expect(String(buffer: full.body).contains("--max-connections"))
        #expect(try await client.send(.get, "/livez").status == .ok)
    }

    @Test func oldLookupIndexIsNotReady() async throws {
        let api = TestAPI()
        let table = try #require(api.table.current?.table)
        for (age, isReady) in [(0.0, true), (3_590, true), (3_700, false)] {
            api.table.replace(by: table, from: .database, asOf: Date(timeIntervalSinceNow: -age))
            for maximum in [Duration.seconds(3_600), nil] {
                var dependencies = api.dependencies
                dependencies.maximumIndexAge = maximum
                let response = try await Self.client(api, dependencies).send(.get, "/readyz")
                #expect(response.status == (isReady || maximum == nil ? .ok : .serviceUnavailable), "\(age)")
                guard response.status != .ok else { continue }
                #expect(String(buffer: response.body).contains("--table-max-age"))
            }
        }
    }

    /// Lookups do not depend on writes, so that the status stays 200.
    @Test func readinessEndpointNamesRefusedWrites() async throws {
        let api = TestAPI()
        var dependencies = api.dependencies
        let ready = try await Self.client(api, dependencies).send(.get, "/readyz")
        #expect(String(buffer: ready.body).contains(#""writes":{"status":"ok"}"#))
        dependencies.writeRefusal = { "a standby" }
        let refused = try await Self.client(api, dependencies).send(.get, "/readyz")
        #expect(refused.status == .ok)
        #expect(String(buffer: refused.body).contains(#""writes":{"reason":"a standby","status":"refused"}"#))
    }

    private static func client(_ api: TestAPI, _ dependencies: APIServer.Dependencies) -> HTTPTestClient {
        HTTPTestClient(
            APIResponder(
                api.settings, dependencies, RequestObserver(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
    }

    /// The delay lasts longer than the test, which ends it by cancelling the server.
    @Test(.timeLimit(.minutes(5))) func drainingServerAcceptsConnectionsDuringTheDelay() async throws {
        let api = TestAPI()
        var settings = APIServer.Settings()
        settings.port = 0
        settings.shutdownDelay = .seconds(3_600)
        let (ports, listening) = AsyncStream<Int>.makeStream()
        let log = LogCapture()
        let server = APIServer(
            settings, api.dependencies, logger: Logger(label: "test") { _ in log },
            onListening: { listening.yield($1) })
        let group = ServiceGroup(services: [server], logger: Logger(label: "test") { _ in log })
        let task = Task { try await group.run() }
        var port = 0
        for await first in ports {
            port = first
            break
        }
        let client = HTTPTestClient(port: port)
        #expect(try await client.send(.get, "/readyz").status == .ok)
        await group.triggerGracefulShutdown()
        while try await client.send(.get, "/readyz").status != .serviceUnavailable {}
        // Each request has a connection of its own.
        #expect(try await client.send(.get, "/livez").status == .ok)
        #expect(log.text.contains("shutdown begins"))
        task.cancel()
        _ = try? await task.value
        #expect(log.text.contains("all connections have ended"))
    }
}
