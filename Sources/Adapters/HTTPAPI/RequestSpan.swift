import Formats
import HTTPTypes
import Lookups
import Tracing

/// The span of a request, of kind server.
///
/// It has the endpoint's path and never the URL, so that it contains no query values, keys and coordinates.
struct RequestSpan {
    private let span: any Tracing.Span
    /// The trace with this span, for the request's log lines and events.
    let trace: TraceContext?

    /// - Parameter caller: The trace that the caller named.
    init(by tracer: any Tracer, in caller: TraceContext?) {
        span = TraceContext.$current.withValue(caller) {
            tracer.startSpan("request", context: .topLevel, ofKind: .server)
        }
        var field = ""
        tracer.inject(span.context, into: &field, using: FieldInjector())
        trace = TraceContext(traceparent: field)
    }

    /// The parent of the spans that the request causes.
    var context: ServiceContext { span.context }

    /// - Parameter cause: For a status of 500 and above.
    func end(
        _ status: HTTPResponse.Status, _ method: HTTPRequest.Method, endpoint: String, caller: KeyHolder?,
        cause: String?
    ) {
        defer { span.end() }
        guard span.isRecording else { return }
        let method = RequestObserver.name(of: method)
        span.operationName = "\(method) \(endpoint)"
        var attributes = SpanAttributes()
        attributes["http.request.method"] = method
        attributes["http.route"] = endpoint
        attributes["http.response.status_code"] = Int(status.code)
        if let caller {
            attributes["doorstep.tenant"] = "\(caller.tenant)"
            attributes["doorstep.key"] = "\(caller.key)"
        }
        if status.code >= 500 {
            attributes["error.type"] = cause ?? "\(status.code)"
            span.setStatus(.init(code: .error))
        }
        span.attributes = attributes
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into field: inout String) {
        if key == "traceparent" { field = value }
    }
}
