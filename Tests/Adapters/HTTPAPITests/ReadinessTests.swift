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
        let client = HTTPTestClient(
            APIResponder(
                api.settings, dependencies, RequestObserver(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        #expect(try await client.send(.get, "/readyz").status == .ok)
        dependencies.readiness.set(connections: 100, of: 100)
        let full = try await client.send(.get, "/readyz")
        #expect(full.status == .serviceUnavailable)
        #expect(String(buffer: full.body).contains("--max-connections"))
        #expect(try await client.send(.get, "/livez").status == .ok)
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
