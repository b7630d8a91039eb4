import Foundation
import HTTPTypes
import JSON
import Logging
import LookupsSupport
import RateLimiting
import Synchronization
import Tenancy
import Testing

@testable import HTTPAPI
@testable import Lookups

/// What a server's log says of requests, at the level that it has unless it is told otherwise.
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

    /// What was logged since this was last asked.
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

    /// The first of a kind has a line, and those that follow a count: whose they were, and why they were refused.
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
        // In the midst of a flood nothing is the first of its kind; after it, the next is.
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

    @Test func unavailableProblemNamesCauseInLogOnly() {
        let problem = Problem.unavailable(StoreUnavailable("disk_full"))
        #expect(problem.limit == "disk_full" && problem.json["cause"] == nil)
        #expect(Problem.unavailable(StoreUnavailable()).limit == nil)
    }

    @Test func rateLimitedUnauthenticatedRequestsAreCounted() {
        for _ in 0..<5_000 { answered(.tooManyRequests, limit: "client") }
        #expect(take().count == 1)
        observer.tellOfRefusalsNow(to: logger)
        #expect(take().count == 1)
    }

    /// Once more when the server ends.
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
