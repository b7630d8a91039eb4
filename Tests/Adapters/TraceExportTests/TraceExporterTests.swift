import Formats
import LocalServers
import Logging
import OutboundHTTP
import Synchronization
import Testing
import Tracing

@testable import TraceExport

@Suite struct TraceExporterTests {
    /// The names of the spans in a request, and the path and type of the request.
    private static func names(_ request: LocalWebServer.Request) throws -> [String] {
        #expect(request.method == "POST" && request.path == "/v1/traces")
        #expect(
            request.headers.filter { $0.name.lowercased() == "content-type" }.map(\.value) == [
                "application/json"
            ])
        let document = try #require(try JSONValue(parsing: request.body).objectValue)
        let scopes = document["resourceSpans"]?.arrayValue?.first?.objectValue?["scopeSpans"]
        let spans = try #require(scopes?.arrayValue?.first?.objectValue?["spans"]?.arrayValue)
        return spans.compactMap { $0.objectValue?["name"]?.stringValue }
    }

    /// Exports once to a collector that responds with a status.
    /// - Returns: The exported names by request, and the dropped spans.
    private static func export(
        _ count: Int, status: Int, times: Int = 1
    ) async throws -> (requests: [[String]], dropped: [OTLPTracer.DropReason: Int], left: Int) {
        let dropped = Mutex<[OTLPTracer.DropReason: Int]>([:])
        let tracer = OTLPTracer(sampling: 1) { count, reason in
            dropped.withLock { $0[reason, default: 0] += count }
        }
        for number in 1...count { tracer.withSpan("\(number)") { _ in } }
        let received = Mutex<[LocalWebServer.Request]>([])
        try await LocalWebServer.lend({ request in
            received.withLock { $0.append(request) }
            return .init("{}", status: status)
        }) { collector in
            let settings = OutboundClient.Settings(
                allowed: [try #require(AddressRange("127.0.0.0/8"))], responseBudget: nil)
            let exporter = TraceExporter(
                tracer, to: "http://127.0.0.1:\(collector.port)/v1/traces", by: settings,
                resource: [("service.name", "doorstep")],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            try await OutboundClient.withClient(settings) { client in
                for _ in 0..<times { await exporter.export(by: client) }
            }
        }
        return (
            try received.withLock { $0 }.map(Self.names), dropped.withLock { $0 },
            tracer.take(upTo: .max).count
        )
    }

    @Test func spansAreSentInBatches() async throws {
        let (requests, dropped, left) = try await Self.export(TraceExporter.batch + 2, status: 200)
        #expect(requests.map(\.count) == [TraceExporter.batch, 2])
        #expect(requests.flatMap { $0 } == (1...TraceExporter.batch + 2).map { "\($0)" })
        #expect(dropped.isEmpty && left == 0)
    }

    @Test(arguments: [429, 503]) func spansWaitForCollectorThatIsOverloaded(status: Int) async throws {
        let (requests, dropped, left) = try await Self.export(2, status: status, times: 2)
        #expect(requests == [["1", "2"], ["1", "2"]])
        #expect(dropped.isEmpty && left == 2)
    }

    @Test(arguments: [400, 404, 500]) func refusedSpansAreDroppedAndCounted(status: Int) async throws {
        let (requests, dropped, left) = try await Self.export(2, status: status, times: 2)
        #expect(requests == [["1", "2"]])
        #expect(dropped == [.exportFailed: 2] && left == 0)
    }

    @Test func spansWaitForCollectorThatIsAway() async throws {
        let tracer = OTLPTracer(sampling: 1)
        tracer.withSpan("1") { _ in }
        let settings = OutboundClient.Settings(
            allowed: [try #require(AddressRange("127.0.0.0/8"))], responseBudget: nil)
        let exporter = TraceExporter(
            tracer, to: "http://127.0.0.1:1/v1/traces", by: settings, resource: [],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await OutboundClient.withClient(settings) { await exporter.export(by: $0) }
        #expect(tracer.take(upTo: 2).map(\.name) == ["1"])
    }
}
