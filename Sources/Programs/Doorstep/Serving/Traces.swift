import Formats
import HTTPAPI
import Logging
import Metrics
import OutboundHTTP
import Platform
import PostgreSQL
import TraceExport
import Tracing

/// Creates the tracer of a server, and connects it with the parts that know no tracer.
enum Traces {
    static func tracer(_ destination: TraceDestination) -> OTLPTracer {
        // Shown as 0 from the start: Prometheus does not see the increase of a counter that begins with 1.
        let dropped = Dictionary(
            uniqueKeysWithValues: OTLPTracer.DropReason.allCases.map {
                ($0, Counter(label: "doorstep_trace_spans_dropped", dimensions: [("reason", $0.rawValue)]))
            })
        return OTLPTracer(sampling: destination.ratio) { count, reason in
            dropped[reason]?.increment(by: count)
        }
    }

    static func exporter(
        _ tracer: OTLPTracer, to destination: TraceDestination, by outbound: OutboundClient.Settings,
        logger: Logger
    ) -> TraceExporter {
        // The operator decides where the server connects to.
        let everywhere = ["0.0.0.0/0", "::/0"].compactMap { AddressRange($0) }
        return TraceExporter(
            tracer, to: destination.url,
            by: OutboundClient.Settings(
                authorities: outbound.authorities, allowed: everywhere, timeout: .seconds(10),
                responseBudget: nil),
            resource: [
                ("service.name", "doorstep"), ("service.version", BuildInfo.current.version),
            ], logger: logger)
    }

    /// Records a span for each database operation of a traced request. Statements of background work have none.
    static func observer(_ tracer: OTLPTracer) -> PoolConfiguration.Observer {
        { operation in
            guard let context = ServiceContext.current else { return nil }
            let span = tracer.startSpan("database", context: context, ofKind: operation.kind)
            guard span.isRecording else { return nil }
            span.operationName = operation.name
            span.attributes["db.system.name"] = "postgresql"
            return { error in
                if let error {
                    span.attributes["error.type"] = error.sqlState ?? error.code
                    span.setStatus(.init(code: .error))
                }
                span.end()
            }
        }
    }
}

extension PoolConfiguration.Operation {
    fileprivate var name: String {
        switch self {
        case .waitForConnection: "wait for a connection"
        case .statement(let query): query.summary
        case .script: "script"
        case .commit: "COMMIT"
        }
    }

    fileprivate var kind: SpanKind {
        if case .waitForConnection = self { .internal } else { .client }
    }
}

extension OutboundClient.Settings {
    func traced(by tracer: OTLPTracer?) -> Self {
        var settings = self
        settings.tracer = tracer
        return settings
    }
}

extension APIServer.Settings {
    func traced(by tracer: OTLPTracer?) -> Self {
        var settings = self
        settings.tracer = tracer
        return settings
    }
}
