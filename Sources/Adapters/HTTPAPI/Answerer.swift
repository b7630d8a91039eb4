import Foundation
import HTTPTypes
import Hummingbird
import IPAddresses
import Logging
import NIOCore
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
    /// Long bodies have a file each.
    private let uploads = TenantConcurrency(
        maximum: 1, refusal: .uploadIsUnderWay, ofAll: Upload.maximumAtOnce, refusalOfAll: .tooManyUploads)
    private let hiding: ProvedHostMiddleware?
    private let pages: LandingPageMiddleware?
    /// Whether clients are limited in how often they read what needs no key: monitors at a port of their own are not.
    private let limitsReaders: Bool
    /// Those of `routes` that are answered at once.
    let memoryRoutes: [MemoryRoute]

    init(
        _ routes: [Route], _ access: AccessControl, _ observer: RequestObserver,
        _ settings: APIServer.Settings, logger: Logger, hiding: ProvedHostMiddleware? = nil,
        showing pages: APIServer.Dependencies.LandingPages? = nil, limitingReaders limitsReaders: Bool = true
    ) {
        self.limitsReaders = limitsReaders
        self.routes = routes
        self.hiding = hiding
        self.access = access
        self.observer = observer
        self.logger = logger
        let proxies = TrustedProxies(settings.trustedProxies)
        self.proxies = proxies
        self.pages = pages.map {
            LandingPageMiddleware($0, table: access.table, limiter: access.limiter, proxies: proxies)
        }
        bodyTimeout = settings.bodyTimeout
        concurrency = TenantConcurrency(maximum: settings.tenantConcurrency)
        memoryRoutes = routes.compactMap { MemoryRoute($0, observer) }
    }

    // MARK: At once

    /// Answers a request that is there whole. Never waits.
    func answer(
        _ request: APIRequest, body: ByteBuffer, by memoryRoute: MemoryRoute, requestID: String
    ) -> Answer {
        let start = ContinuousClock.now
        let route = memoryRoute.route
        var caller: KeyHolder?
        let answer: Answer
        do throws(Problem) {
            let admitted = try access.admit(request, for: memoryRoute.scope, by: route, at: Date())
            caller = admitted.caller
            answer = access.charging(
                try admitted.answered(by: memoryRoute.handler, body: route.takesBody ? body : nil),
                to: admitted)
        } catch {
            caller = error.caller
            answer = Answer(error, requestID: requestID)
        }
        observer.record(
            answer.status, route.method, route: route.path,
            timer: answer.status == .ok ? memoryRoute.successes : nil, caller: caller,
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
        if let pages { router.add(middleware: pages) }
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
            authority: request.head.authority, target: request.head.path ?? "",
            fields: RequestFields(request.headers))
        switch route.handler {
        case .open(let handler):
            // A trusted proxy that asks for itself, as for its health check, is no client.
            let isLimited =
                limitsReaders
                && !(received.client.isBehindProxy && received.client.address == Client.Address(context.peer))
            if isLimited { try access.limiter.admitReader(from: received.client, times: route.limitFactor) }
            let answer = try handler(received)
            if isLimited, let body = answer.body, request.method != .head {
                access.limiter.chargeReader(body.count, from: received.client, times: route.limitFactor)
            }
            return Response(answer)
        case .openStored(let handler):
            do {
                return Response(try await handler(received))
            } catch is StoreUnavailable {
                throw access.limiter.holdingBack(.unavailable, from: received.client)
            }
        case .memory(let scope, let handler):
            let verify = received.fields.assertion == nil ? nil : route.verifySignature
            return try await respond(to: request, received, context, by: route, scope, waits: route.takesBody)
            {
                (admitted, body) in
                guard let verify, let body else {
                    return access.charging(try admitted.answered(by: handler, body: body), to: admitted)
                }
                return try await admitted.answered(
                    by: { admitted in
                        try handler(
                            try await verify(admitted, route.method, Array(body.readableBytesView)))
                    }, body: body)
            }
        case .stored(let scope, let handler):
            return try await respond(to: request, received, context, by: route, scope, waits: true) {
                (admitted, body) in
                try await admitted.answered(by: handler, body: body)
            }
        case .streamed(let scope, let handler):
            return try await respond(to: request, received, context, by: route, scope, waits: true) {
                (admitted, _) in
                try await admitted.answered(
                    by: { admitted in
                        let take = try handler(admitted)
                        return try await uploads.with(admitted.tenant) {
                            context.wantBody(of: request)
                            return try await take(
                                try await request.withUpload(of: route.bodyTypes[0], within: bodyTimeout) {
                                    try await SpooledBody($0)
                                })
                        }
                    }, body: nil)
            }
        case .storedWithin(let scope, let handler):
            return try await respond(to: request, received, context, by: route, scope, waits: true) {
                (admitted, body) in
                let locations = admitted.table.visibleLocations
                return try await admitted.answered(by: { try await handler($0, locations) }, body: body)
            }
        case .anySecretKey(let handler):
            return try await respond(to: request, received, context, by: route, nil, waits: true) {
                (admitted, body) in
                try await admitted.answered(by: handler, body: body)
            }
        }
    }

    /// - Parameter waits: whether it waits for a body or the database: only so much of a tenant's may be under way.
    private func respond(
        to request: Request, _ received: APIRequest, _ context: APIContext, by route: Route, _ scope: Scope?,
        waits: Bool, _ answer: (AdmittedRequest, ByteBuffer?) async throws -> Answer
    ) async throws -> Response {
        do {
            let admitted = try access.admit(received, for: scope, by: route, at: Date())
            context.caller = admitted.caller
            guard waits else { return Response(try await answer(admitted, nil)) }
            let isClient = admitted.caller.kind == .publishable
            return try await concurrency.with(
                admitted.tenant, client: isClient ? admitted.asker : nil
            ) {
                guard route.takesBody else { return Response(try await answer(admitted, nil)) }
                context.wantBody(of: request)
                var body = try await request.readBody(within: bodyTimeout)
                if route.isBodyOptional {
                    if body.readableBytes == 0 {
                        body.writeStaticString("{}")
                    } else {
                        try received.fields.checkType(of: route)
                    }
                }
                var admitted = admitted
                admitted.now = Date()
                return Response(try await answer(admitted, body))
            }
        } catch let problem as Problem {
            context.caller = problem.caller ?? context.caller
            throw access.limiter.holdingBack(problem, from: received.client)
        }
    }
}

extension AdmittedRequest {
    fileprivate func answered(
        by handler: (AdmittedRequest) throws(Problem) -> Answer, body: ByteBuffer?
    ) throws(Problem) -> Answer {
        do throws(Problem) {
            guard let body else { return answered(by: try handler(self)) }
            return answered(by: try handler(try reading(body)))
        } catch {
            throw refused(by: error)
        }
    }

    fileprivate func answered(
        by handler: (AdmittedRequest) async throws -> Answer, body: ByteBuffer?
    ) async throws -> Answer {
        do {
            guard let body else { return answered(by: try await handler(self)) }
            return answered(by: try await handler(try reading(body)))
        } catch let problem as Problem {
            throw refused(by: problem)
        } catch let error as QuotaExceeded {
            throw refused(by: Problem(error))
        } catch is StoreUnavailable {
            throw refused(by: .unavailable)
        }
    }

    private func reading(_ body: ByteBuffer) throws(Problem) -> AdmittedRequest {
        var request = self
        try request.read(body: body)
        return request
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
            guard let first = try await group.next(), let bytes = first else { throw Problem.bodyTooSlow }
            return bytes
        }
    }

    private func collectBody() async throws -> ByteBuffer {
        let decoder = try ContentCoding(headers[.contentEncoding]).decoder()
        var collected = ByteBuffer()
        var isEmpty = true
        var received = 0
        func add(_ part: ByteBuffer) throws(Problem) {
            guard collected.readableBytes + part.readableBytes <= Route.maximumBodyLength else {
                throw .bodyTooLarge(.json)
            }
            collected.writeImmutableBuffer(part)
        }
        do {
            for try await part in body {
                isEmpty = isEmpty && part.readableBytes == 0
                received += part.readableBytes
                // Gzip makes a body that does not shrink a little longer.
                guard received <= Route.maximumBodyLength + 4_096 else { throw Problem.bodyTooLarge(.json) }
                guard let decoder else {
                    try add(part)
                    continue
                }
                decoder.add(Array(part.readableBytesView))
                while let piece = try decoder.next() { try add(ByteBuffer(bytes: piece)) }
            }
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem.bodyCutOff
        }
        if !isEmpty { try decoder?.finish() }
        return collected
    }
}

extension Problem {
    fileprivate static let uploadIsUnderWay = Problem(
        .conflict, "conflict", "another upload of the tenant's is under way: try again when it is over",
        headers: [.retryAfter: "2"])
    fileprivate static let tooManyUploads = Problem(
        .serviceUnavailable, "too_many_uploads",
        "the server takes \(Upload.maximumAtOnce) uploads at once, and has as many: try again when one is over",
        headers: [.retryAfter: "10"])
}

extension Response {
    init(_ answer: Answer) {
        var header = HTTPFields()
        answer.write(to: &header)
        self.init(
            status: answer.status, headers: header,
            body: answer.pieces ?? answer.body.map { ResponseBody(byteBuffer: $0.buffer) } ?? ResponseBody())
    }
}
