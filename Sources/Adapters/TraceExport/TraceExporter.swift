import AsyncHTTPClient
import JSON
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
            while await hasSlept() { await export(by: client) }
            await export(by: client)
        }
    }

    /// Waits for the next export. False once the server ends.
    private func hasSlept() async -> Bool {
        await cancelWhenGracefulShutdown { (try? await Task.sleep(for: Self.interval)) != nil }
    }

    /// Sends the waiting spans in batches until one fails. If the collector can accept the batch later, its spans wait for the
    /// next export.
    func export(by client: OutboundClient) async {
        while true {
            let spans = tracer.take(upTo: Self.batch)
            guard !spans.isEmpty else { return }
            var request = HTTPClientRequest(url: endpoint)
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(OTLPDocument.json(spans, of: resource).serialized())
            let failure: String
            do throws(OutboundError) {
                let response = try await client.execute(request, limit: Self.responseLimit)
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
            }
            logger.warning(
                "trace spans cannot be exported",
                metadata: ["count": "\(spans.count)", "error": "\(failure)"]
            )
            return
        }
    }
}
