import Formats
import Foundation
import HTTPTypes
import Logging
import Synchronization
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI
@testable import Lookups

/// The log of requests at the default level.
@Suite struct LogTests {
    /// Logs from `info` on.
    private struct InfoLog: LogHandler {
        let capture = LogCapture()
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { nil }
            set {}
        }

        func log(event: LogEvent) { capture.log(event: event) }
    }

    private let handler = InfoLog()
    private let observer = RequestObserver()

    private var logger: Logger { Logger(label: "test") { [handler] _ in handler } }

    private func answered(
        _ status: HTTPResponse.Status, to caller: KeyHolder? = nil, endpoint: String = "/v1/lookup",
        limit: String? = nil, at level: Logger.Level = .info
    ) {
        var logger = logger
        logger.logLevel = level
        observer.record(
            status, .get, endpoint: endpoint, caller: caller, limit: limit, requestID: "a", duration: .zero,
            logger)
    }

    /// The lines since the last call.
    private func take() -> [String] {
        handler.capture.lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    private static func holder(_ number: UInt8) -> KeyHolder {
        KeyHolder(
            tenant: TenantID(number: number), key: KeyID(UUID(number: number)), kind: .secret, scopes: [],
            locations: nil, limits: RequestLimits(), tenantIsSuspended: false)
    }

    @Test func unauthenticatedClientsAndMonitorsAreNotLogged() {
        answered(.ok, endpoint: "/livez")
        answered(.notFound, endpoint: "none")
        answered(.methodNotAllowed)
        answered(.unauthorized)
        answered(.notModified, to: Self.holder(1))
        #expect(take().isEmpty)
        answered(.serviceUnavailable)
        answered(.forbidden, to: Self.holder(1))
        #expect(take().count == 2)
    }

    /// The first refusal of a kind has a line. A count of further refusals follows, with key and reason.
    @Test func rejectionsAreLoggedByCount() throws {
        for _ in 0..<21_000 { answered(.tooManyRequests, to: Self.holder(1), limit: "concurrency") }
        for _ in 0..<2 { answered(.tooManyRequests, to: Self.holder(1), limit: "client") }
        for _ in 0..<3 { answered(.notFound, to: Self.holder(2)) }
        answered(.serviceUnavailable)
        let first = take()
        #expect(first.count == 4 && first.allSatisfy { $0.contains(" answered ") })
        observer.tellOfRefusalsNow(to: logger)
        let counts = take()
        #expect(counts.count == 3 && counts.allSatisfy { $0.contains(" refused ") })
        let flood = try #require(counts.first { $0.contains("concurrency") })
        #expect(flood.contains("\"count\": 20999") && flood.contains("\"status\": 429"))
        #expect(flood.contains(TenantID(number: 1).description))
        #expect(flood.contains(KeyID(UUID(number: 1)).description))
        // During a flood, no refusal counts as the first of its kind. After it, the next one does.
        answered(.tooManyRequests, to: Self.holder(1), limit: "concurrency")
        answered(.serviceUnavailable)
        #expect(take().count == 1)
    }

    @Test func serverErrorsAreWarningsWithCause() throws {
        answered(.serviceUnavailable, to: Self.holder(1), endpoint: "/v1/keys", limit: "lock_timeout")
        let line = try #require(take().first)
        #expect(line.hasPrefix("warning ") && line.contains("\"cause\": lock_timeout"), "\(line)")
        #expect(line.contains("/v1/keys") && line.contains("\"request_id\": a"), "\(line)")
        answered(.tooManyRequests, to: Self.holder(1), limit: "concurrency")
        let refused = try #require(take().first)
        #expect(refused.hasPrefix("info ") && refused.contains("\"limit\": concurrency"), "\(refused)")
    }

    @Test func unavailableProblemNamesCauseOfLog() {
        let problem = Problem.unavailable(StoreUnavailable("disk_full"))
        #expect(problem.limit == "disk_full" && problem.json["cause"] == "disk_full")
        let unknown = Problem.unavailable(StoreUnavailable())
        #expect(unknown.limit == nil && unknown.json["cause"] == nil)
    }

    @Test func accessLogHasLineForEachRequest() throws {
        let log = handler
        var logger = logger
        logger.logLevel = .error
        for (cutsAddresses, v4, v6) in [
            (false, "198.51.100.77", "2001:db8:1:2:3:4:5:6"),
            (true, "198.51.100.0/24", "2001:db8:1:2::/64"),
        ] {
            let observer = RequestObserver(
                AccessLog(Logger(label: "access") { _ in log }, cutsAddresses: cutsAddresses))
            for (client, text) in [("198.51.100.77", v4), ("2001:db8:1:2:3:4:5:6", v6)] {
                for status in [HTTPResponse.Status.ok, .tooManyRequests, .serviceUnavailable] {
                    for _ in 0..<2 {
                        observer.record(
                            status, .get, endpoint: "/v1/lookup", caller: Self.holder(1), limit: "a",
                            client: IPAddress(client), bytes: 77, requestID: "r", duration: .milliseconds(3),
                            logger)
                        let line = try #require(take().first)
                        for part in [
                            "info request", "\"client\": \(text)", "\"route\": /v1/lookup", "\"method\": GET",
                            "\"status\": \(status.code)", "\"duration_us\": 3000", "\"bytes\": 77",
                            "\"tenant\": \(TenantID(number: 1))", "\"key\": \(KeyID(UUID(number: 1)))",
                            "\"request_id\": r",
                        ] {
                            #expect(line.contains(part), "\(part) in \(line)")
                        }
                    }
                }
            }
            observer.record(
                .ok, .get, endpoint: "pages", caller: nil, requestID: "r", duration: .zero, logger)
            let unknown = try #require(take().first)
            #expect(!unknown.contains("client") && !unknown.contains("bytes"), "\(unknown)")
        }
    }

    /// Requests with and without a body and with a refusal, from the event loop and from tasks.
    @Test func accessLogNamesEndpointsAndNoQueries() async throws {
        var api = TestAPI()
        let log = LogCapture()
        api.settings.accessLog = AccessLog(Logger(label: "access") { _ in log }, cutsAddresses: false)
        let (secret, publishable) = (api.secret, api.publishable)
        try await api.test { client in
            let query = "?url=https%3A%2F%2Fexample.com%2Frestaurants%2Frestaurant_a"
            for (method, path, key, route) in [
                (HTTPRequest.Method.get, "/v1/lookup" + query, publishable as APIKey?, "/v1/lookup"),
                (.head, "/v1/lookup" + query, publishable, "/v1/lookup"),
                (.get, "/v1/lookup" + query, nil, "/v1/lookup"),
                (.get, "/v1/locations/hunter2", secret, "/v1/locations/{identifier}"),
                (.get, "/hunter2" + query, nil, "none"),
            ] {
                log.lines.withLock { $0 = [] }
                let response = try await client.send(method, path, key: key)
                let lines = log.lines.withLock { $0 }
                #expect(lines.count == 1, "\(lines)")
                let line = try #require(lines.first)
                #expect(
                    line.contains("\"route\": \(route)") && line.contains("\"status\": \(response.status)"),
                    "\(line)")
                #expect(line.contains("\"bytes\": \(response.text.utf8.count)"), "\(line)")
                for text in ["restaurant_a", "hunter2", "url=", key?.text].compactMap(\.self) {
                    #expect(!line.contains(text), "\(text) in \(line)")
                }
            }
        }
    }

    @Test func rateLimitedUnauthenticatedRequestsAreCounted() {
        for _ in 0..<5_000 { answered(.tooManyRequests, limit: "client") }
        #expect(take().count == 1)
        observer.tellOfRefusalsNow(to: logger)
        #expect(take().count == 1)
    }

    /// The server logs the last count when it ends.
    @Test(.timeLimit(.minutes(30))) func lastCountIsLoggedAtShutdown() async {
        for _ in 0..<2 { answered(.tooManyRequests, limit: "client") }
        _ = take()
        let telling = Task { await observer.tellOfRefusals(to: logger) }
        telling.cancel()
        await telling.value
        #expect(take().count == 1)
    }

    @Test func everyRejectionIsLoggedAtDebugLevel() {
        for _ in 0..<50 { answered(.tooManyRequests, limit: "client", at: .debug) }
        #expect(take().count == 50)
    }
}
