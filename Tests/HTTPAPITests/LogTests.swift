import Foundation
import HTTPTypes
import Logging
import RateLimiting
import RoutingSupport
import Synchronization
import Tenancy
import Testing

@testable import HTTPAPI
@testable import Routing

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

    private func answered(
        _ status: HTTPResponse.Status, to caller: KeyHolder? = nil, route: String = "/v1/locations"
    ) {
        let handler = handler
        observer.record(
            status, .get, route: route, caller: caller, requestID: "a", duration: .zero,
            Logger(label: "test") { _ in handler })
    }

    private var lines: [String] { handler.capture.lines.withLock { $0 } }

    private static func holder(_ number: UInt8) -> KeyHolder {
        KeyHolder(
            tenant: TenantID(number: number), key: KeyID(UUID(number: number)), kind: .secret, scopes: [],
            limits: RequestLimits(), tenantIsSuspended: false)
    }

    @Test func strangersAndMonitorsHaveNoLines() {
        answered(.ok, route: "/livez")
        answered(.notFound, route: "none")
        answered(.methodNotAllowed)
        answered(.unauthorized)
        answered(.notModified, to: Self.holder(1))
        #expect(lines.isEmpty)
        answered(.serviceUnavailable)
        answered(.forbidden, to: Self.holder(1))
        #expect(lines.count == 2)
    }

    /// One tenant's flood is a hundred lines and a count; another's refusals have a line each all the same.
    @Test func aFloodOfRefusalsIsLoggedByItsCount() throws {
        for _ in 0..<5_000 { answered(.tooManyRequests, to: Self.holder(1)) }
        for _ in 0..<10 { answered(.forbidden, to: Self.holder(2)) }
        let before = lines
        let others = before.filter { $0.contains(TenantID(number: 2).description) }
        #expect(others.count == 10)
        // A machine that takes seconds for this gets ten more for each.
        let own = before.count - others.count
        #expect((100..<2_500).contains(own))
        let logger = Logger(label: "test") { [handler] _ in handler }
        observer.logUnlogged(logger)
        let count = try #require(lines.dropFirst(before.count).first)
        #expect(lines.count == before.count + 1)
        #expect(count.contains("\"count\": \(5_000 - own)"))
        #expect(count.contains(TenantID(number: 1).description))
        #expect(count.contains(KeyID(UUID(number: 1)).description))
        #expect(count.contains("\"status\": 429"))
        observer.logUnlogged(logger)
        #expect(lines.count == before.count + 1)
    }

    @Test func aFloodOfStrangersIsLoggedByItsCount() throws {
        for _ in 0..<5_000 { answered(.tooManyRequests) }
        let before = lines.count
        #expect((100..<2_500).contains(before))
        observer.logUnlogged(Logger(label: "test") { [handler] _ in handler })
        #expect(lines.count == before + 1)
    }
}
