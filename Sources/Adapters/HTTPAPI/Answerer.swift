import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOCore
import Notifications
import Routing
import Tenancy

/// Answers requests by their routes: at once and where they arrive, or through the router.
struct Answerer: Sendable {
    let routes: [Route]
    let access: AccessControl
    let proxies: TrustedProxies
    let observer: RequestObserver
    let logger: Logger
    /// How long a request's body may take to arrive, and its head once that has begun.
    let bodyTimeout: Duration
    private let concurrency: TenantConcurrency
    private let hiding: ProvedHostMiddleware?
    /// Of each route's answers that are most frequent by far.
    private let successes: [Metrics.Timer]

    init(
        _ routes: [Route], _ access: AccessControl, _ observer: RequestObserver,
        _ settings: APIServer.Settings, logger: Logger, hiding: ProvedHostMiddleware? = nil
    ) {
        self.routes = routes
        self.hiding = hiding
        self.access = access
        self.observer = observer
        self.logger = logger
        proxies = TrustedProxies(settings.trustedProxies)
        bodyTimeout = settings.bodyTimeout
        concurrency = TenantConcurrency(maximum: settings.tenantConcurrency)
        successes = routes.map { observer.timer(.ok, $0.method, route: $0.path) }
    }

    // MARK: At once

    /// Answers a request that is there whole. Never waits.
    /// - Parameter index: of a route from memory.
    func answer(_ request: APIRequest, byRoute index: Int, requestID: String) -> Answer {
        let start = ContinuousClock.now
        let route = routes[index]
        var caller: KeyHolder?
        let answer: Answer
        do throws(Problem) {
            guard case .memory(let scope, let handler) = route.handler else { throw .internalError }
            let admitted = try access.admit(request, for: scope, takesBody: route.takesBody, at: Date())
            caller = admitted.caller
            answer = try admitted.answered(by: handler)
        } catch {
            caller = error.caller
            answer = Answer(error, requestID: requestID)
        }
        observer.record(
            answer.status, route.method, route: route.path,
            timer: answer.status == .ok ? successes[index] : nil, caller: caller,
            limit: answer.problem?.limit, requestID: requestID, duration: start.duration(to: .now), logger)
        return answer
    }

    // MARK: Through the router

    /// Each request is observed and its errors made problems, in this order. A GET route answers HEAD too.
    func router() -> Router<APIContext> {
        let router = Router(context: APIContext.self, options: [.autoGenerateHeadEndpoints])
        var methods: [String: [HTTPRequest.Method]] = [:]
        for route in routes {
            methods[route.path, default: []] += route.method == .get ? [.get, .head] : [route.method]
        }
        router.add(middleware: ObservationMiddleware(observer))
        router.add(
            middleware: ProblemMiddleware(methods: methods, limiter: access.limiter, proxies: proxies))
        if let hiding { router.add(middleware: hiding) }
        for route in routes {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                try await respond(to: request, context, by: route)
            }
        }
        return router
    }

    private func respond(
        to request: Request, _ context: APIContext, by route: Route
    ) async throws -> Response {
        let received = APIRequest(
            client: proxies.client(of: request, context.peer), query: (request.uri.query ?? "")[...],
            parameters: Dictionary(uniqueKeysWithValues: context.parameters.map { ($0.key, $0.value) }),
            authority: request.head.authority, fields: RequestFields(request.headers))
        do {
            switch route.handler {
            case .open(let handler): return Response(try handler(received))
            case .memory(let scope, let handler):
                let admitted = try admit(received, for: scope, by: route, context)
                guard route.takesBody else { return Response(try admitted.answered(by: handler)) }
                return try await withPlace(admitted) {
                    Response(try await self.read(request, into: admitted).answered(by: handler))
                }
            case .stored(let scope, let handler):
                let admitted = try admit(received, for: scope, by: route, context)
                return try await withPlace(admitted) {
                    let whole = route.takesBody ? try await self.read(request, into: admitted) : admitted
                    return Response(try await whole.answered(by: handler))
                }
            }
        } catch let problem as Problem {
            context.caller = problem.caller ?? context.caller
            throw access.limiter.holdingBack(problem, from: received.client)
        }
    }

    private func admit(
        _ request: APIRequest, for scope: Scope, by route: Route, _ context: APIContext
    ) throws(Problem) -> AdmittedRequest {
        let admitted = try access.admit(request, for: scope, takesBody: route.takesBody, at: Date())
        context.caller = admitted.caller
        return admitted
    }

    /// Of what waits for a body or the database only so much of a tenant's may be under way.
    private func withPlace(
        _ request: AdmittedRequest, _ answer: () async throws -> Response
    ) async throws -> Response {
        let isClient = request.caller.kind == .publishable
        return try await concurrency.with(
            request.tenant, client: isClient ? request.client.address : nil, answer)
    }

    /// The request with its body, and the time at which that was there.
    private func read(_ request: Request, into admitted: AdmittedRequest) async throws -> AdmittedRequest {
        var admitted = admitted
        admitted.request.body = try await request.readBody(within: bodyTimeout)
        admitted.now = Date()
        return admitted
    }
}

extension AdmittedRequest {
    fileprivate func answered(
        by handler: (AdmittedRequest) throws(Problem) -> Answer
    ) throws(Problem) -> Answer {
        do throws(Problem) {
            return answered(by: try handler(self))
        } catch {
            throw refused(by: error)
        }
    }

    fileprivate func answered(by handler: (AdmittedRequest) async throws -> Answer) async throws -> Answer {
        do {
            return answered(by: try await handler(self))
        } catch let problem as Problem {
            throw refused(by: problem)
        } catch NotificationStoreError.unavailable {
            throw refused(by: .unavailable)
        }
    }
}

extension Request {
    /// The whole body.
    /// - Throws: A problem: `body_too_large` or `request_timeout`.
    fileprivate func readBody(within limit: Duration) async throws -> ByteBuffer {
        try await withThrowingTaskGroup(of: ByteBuffer?.self) { group in
            group.addTask { try await self.collectBody() }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let bytes = first else {
                throw Problem(.requestTimeout, "request_timeout", "the body did not arrive in time")
            }
            return bytes
        }
    }

    private func collectBody() async throws -> ByteBuffer {
        var collected = ByteBuffer()
        for try await part in body {
            guard collected.readableBytes + part.readableBytes <= Route.maximumBodyLength else {
                throw Problem.bodyTooLarge
            }
            collected.writeImmutableBuffer(part)
        }
        return collected
    }
}

extension Response {
    init(_ answer: Answer) {
        self.init(
            status: answer.status, headers: HTTPFields(answer.header),
            body: answer.body.map { ResponseBody(byteBuffer: $0) } ?? ResponseBody())
    }
}
