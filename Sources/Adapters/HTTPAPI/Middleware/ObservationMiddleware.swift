import HTTPTypes
import Hummingbird
import Logging
import Metrics

/// Gives each request its ID, one log line and its metrics.
struct ObservationMiddleware: RouterMiddleware {
    let observer: RequestObserver
    private let active = Meter(label: "doorstep_http_active_requests")

    init(_ observer: RequestObserver) {
        self.observer = observer
    }

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.requestID = RequestID.of(request.headers[.requestID])
        context.logger[metadataKey: "request_id"] = "\(context.requestID)"
        context.logger[metadataKey: "hb.request.id"] = nil

        let clock = ContinuousClock()
        let start = clock.now
        active.increment()
        defer { active.decrement() }
        var response = try await next(request, context)
        // The router takes the body from answers of GET routes only; a body after HEAD would be read as the next answer.
        if request.method == .head { response = response.createHeadResponse() }
        response.headers[.requestID] = context.requestID
        observer.record(
            response.status, request.method, endpoint: context.endpointPath ?? "none", caller: context.caller,
            limit: context.limit, requestID: context.requestID, duration: start.duration(to: clock.now),
            context.logger)
        return response
    }
}
