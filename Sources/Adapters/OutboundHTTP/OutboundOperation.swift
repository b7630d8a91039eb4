import AsyncHTTPClient
import Foundation
import NIOHTTP1
import Tracing

/// The purpose of a request, as its span shows it.
public struct OutboundOperation: Sendable {
    private let name: String
    private let passesTraceOn: Bool

    /// - Parameters:
    ///   - name: A name of few words. The span has it with the method.
    ///   - passesTraceOn: Whether the receiver gets the span in `traceparent`.
    public init(_ name: String, passesTraceOn: Bool = false) {
        self.name = name
        self.passesTraceOn = passesTraceOn
    }

    /// Starts the span. It has the host and no other part of the URL, which can contain secrets.
    func span(of request: inout HTTPClientRequest, by tracer: any Tracer) -> any Tracing.Span {
        let span = tracer.startSpan("\(name) \(request.method.rawValue)", ofKind: .client)
        span.attributes["http.request.method"] = request.method.rawValue
        span.attributes["server.address"] = URL(string: request.url)?.host
        if passesTraceOn { tracer.inject(span.context, into: &request.headers, using: HeaderInjector()) }
        return span
    }
}

private struct HeaderInjector: Injector {
    func inject(_ value: String, forKey key: String, into headers: inout HTTPHeaders) {
        headers.replaceOrAdd(name: key, value: value)
    }
}
