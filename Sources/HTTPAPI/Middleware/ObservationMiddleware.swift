import Administration
import HTTPTypes
import Hummingbird
import Logging
import Metrics

/// Gives each request its ID, one log line and its metrics.
///
/// The log has the route and never the URL: query values, keys and coordinates are in neither.
struct ObservationMiddleware: RouterMiddleware {
    private let active = Meter(label: "http_server_active_requests")
    /// Methods that are named in metrics; a client can invent any number of others.
    private static let knownMethods: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .delete, .options, .patch,
    ]

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.requestID = request.headers.requestID.flatMap(Self.accepted) ?? RequestID().description
        context.logger[metadataKey: "request_id"] = "\(context.requestID)"
        context.logger[metadataKey: "hb.request.id"] = nil

        let clock = ContinuousClock()
        let start = clock.now
        active.increment()
        defer { active.decrement() }
        var response = try await next(request, context)
        // The router takes the body from answers of GET routes only; a body after HEAD would be read as the next answer.
        if request.method == .head { response = response.createHeadResponse() }
        response.headers.requestID = context.requestID
        record(response.status, request.method, context, after: start.duration(to: clock.now))
        return response
    }

    private func record(
        _ status: HTTPResponse.Status, _ method: HTTPRequest.Method, _ context: APIContext,
        after duration: Duration
    ) {
        let route = context.endpointPath ?? "none"
        let method = Self.knownMethods.contains(method) ? method.rawValue : "other"
        let dimensions = [("route", route), ("method", method), ("status", "\(status.code)")]
        Metrics.Timer(label: "http_server_request_duration_seconds", dimensions: dimensions)
            .recordNanoseconds(Int64(duration / .nanoseconds(1)))
        var metadata: Logger.Metadata = [
            "method": "\(method)", "route": "\(route)", "status": "\(status.code)",
            "duration_us": "\(Int64(duration / .microseconds(1)))",
        ]
        if let principal = context.principal {
            metadata["tenant"] = "\(principal.tenant)"
            metadata["key"] = "\(principal.key)"
        }
        context.logger.info("answered", metadata: metadata)
    }

    /// Takes a caller's ID that is safe to repeat in a header and a log.
    private static func accepted(_ text: String) -> String? {
        let isSafe =
            (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."):
                    true
                default: false
                }
            }
        return isSafe ? text : nil
    }
}

extension HTTPFields {
    /// `X-Request-ID`, which proxies and clients agree on without a standard.
    fileprivate var requestID: String? {
        get { HTTPField.Name("X-Request-ID").flatMap { self[$0] } }
        set {
            guard let name = HTTPField.Name("X-Request-ID") else { return }
            self[name] = newValue
        }
    }
}
