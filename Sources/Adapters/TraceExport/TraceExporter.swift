import AsyncHTTPClient
import Formats
public import Logging
import NIOHTTP1
public import OutboundHTTP
public import ServiceLifecycle

/// Sends the spans of a tracer to a collector every second, and the last ones when the server ends (OTLP/HTTP in JSON).
public struct TraceExporter: Service {
    private let tracer: OTLPTracer
    private let endpoint: String
    private let client: OutboundClient.Settings
    private let resource: [(name: String, value: String)]
    private let logger: Logger

    /// The interval between two exports. [ours]
    private static let interval = Duration.seconds(1)
    /// The maximum duration of the last export, after which the remaining spans are dropped. [ours]
    private static let lastExport = Duration.seconds(5)
    /// The maximum number of spans in one request: the default of OpenTelemetry's batch processor.
    static let batch = 512
    private static let responseLimit = 65_536

    /// - Parameters:
    ///   - endpoint: The whole URL, such as `http://127.0.0.1:4318/v1/traces`.
    ///   - resource: The attributes of the server, such as `service.name`.
    public init(
        _ tracer: OTLPTracer, to endpoint: String, by client: OutboundClient.Settings,
        resource: [(name: String, value: String)], logger: Logger
    ) {
        self.tracer = tracer
        self.endpoint = endpoint
        self.client = client
        self.resource = resource
        self.logger = logger
    }

    public func run() async throws {
        try await OutboundClient.withClient(client) { client in
            while await hasSlept() {
                await cancelWhenGracefulShutdown { await export(by: client) }
            }
            await export(by: client, until: .now + Self.lastExport)
            tracer.drop(tracer.take(upTo: .max))
        }
    }

    /// Waits for the next export. False once the server ends.
    private func hasSlept() async -> Bool {
        await cancelWhenGracefulShutdown { (try? await Task.sleep(for: Self.interval)) != nil }
    }

    /// Sends the waiting spans in batches until one fails. If the collector can accept the batch later, its spans wait for the
    /// next export.
    /// - Parameter end: The time at which the export ends; nil for no limit.
    func export(by client: OutboundClient, until end: ContinuousClock.Instant? = nil) async {
        while end.map({ $0 > .now }) != false {
            let spans = tracer.take(upTo: Self.batch)
            guard !spans.isEmpty else { return }
            var request = HTTPClientRequest(url: endpoint)
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(OTLPDocument.json(spans, of: resource).serialized())
            let failure: String
            do throws(OutboundError) {
                let response = try await client.execute(
                    request, limit: Self.responseLimit,
                    timeout: end.map { ContinuousClock.now.duration(to: $0) })
                if (200..<300).contains(response.status) { continue }
                failure = "status \(response.status)"
                // The statuses that OTLP/HTTP lets a client repeat.
                if [429, 502, 503, 504].contains(response.status) {
                    tracer.putBack(spans)
                } else {
                    tracer.drop(spans)
                }
            } catch {
                failure = error.reason
                tracer.putBack(spans)
                // The server is ending, and the last export follows.
                guard !Task.isCancelled else { return }
            }
            logger.warning(
                "trace spans cannot be exported",
                metadata: ["count": "\(spans.count)", "error": "\(failure)"]
            )
            return
        }
    }
}
