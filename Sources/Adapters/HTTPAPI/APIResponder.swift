import Foundation
import HTTPTypes
import Hummingbird
import IPAddresses
import Logging
import Lookups
import NIOCore
import Tenancy

/// Answers requests by their routes: at once and where they arrive, or through the router.
struct APIResponder: Sendable {
    let endpoints: [Endpoint]
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
    /// Those of `endpoints` that are answered at once.
    let memoryEndpoints: [MemoryEndpoint]

    init(
        _ endpoints: [Endpoint], _ access: AccessControl, _ observer: RequestObserver,
        _ settings: APIServer.Settings, logger: Logger, hiding: ProvedHostMiddleware? = nil,
        showing pages: APIServer.Dependencies.LandingPages? = nil, limitingReaders limitsReaders: Bool = true
    ) {
        self.limitsReaders = limitsReaders
        self.endpoints = endpoints
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
        memoryEndpoints = endpoints.compactMap { MemoryEndpoint($0, observer) }
    }

    // MARK: At once

    /// Answers a request that is there whole. Never waits.
    func response(
        _ request: APIRequest, body: ByteBuffer, by memoryEndpoint: MemoryEndpoint, requestID: String
    ) -> APIResponse {
        let start = ContinuousClock.now
        let endpoint = memoryEndpoint.endpoint
        var caller: KeyHolder?
        let response: APIResponse
        do throws(Problem) {
            let admitted = try access.admit(request, for: memoryEndpoint.scope, by: endpoint, at: Date())
            caller = admitted.caller
            response = access.charging(
                try admitted.answered(by: memoryEndpoint.handler, body: endpoint.takesBody ? body : nil),
                to: admitted)
        } catch {
            caller = error.caller
            response = APIResponse(error, requestID: requestID)
        }
        observer.record(
            response.status, endpoint.method, endpoint: endpoint.path,
            responses: response.status == .ok ? memoryEndpoint.successes : nil, caller: caller,
            limit: response.problem?.limit, requestID: requestID, duration: start.duration(to: .now), logger)
        return response
    }

    // MARK: Through the router

    /// Each request is observed and its errors made problems, in this order. A GET route answers HEAD too.
    func router() -> Router<APIContext> {
        let router = Router(context: APIContext.self, options: [.autoGenerateHeadEndpoints])
        var methods: [String: [HTTPRequest.Method]] = [:]
        for endpoint in endpoints {
            methods[endpoint.path, default: []] +=
                endpoint.method == .get ? [.get, .head] : [endpoint.method]
        }
        router.add(middleware: ObservationMiddleware(observer))
        router.add(
            middleware: ProblemMiddleware(methods: methods, limiter: access.limiter, proxies: proxies))
        if let pages { router.add(middleware: pages) }
        if let hiding { router.add(middleware: hiding) }
        for endpoint in endpoints {
            router.on(RouterPath(endpoint.path), method: endpoint.method) { request, context in
                try await respond(to: request, context, by: endpoint)
            }
        }
        return router
    }

    private func respond(
        to request: Request, _ context: APIContext, by endpoint: Endpoint
    ) async throws -> Response {
        let received = APIRequest(
            client: proxies.client(of: request, context.peer), query: (request.uri.query ?? "")[...],
            parameters: Dictionary(uniqueKeysWithValues: context.parameters.map { ($0.key, $0.value) }),
            authority: request.head.authority, target: request.head.path ?? "",
            fields: RequestFields(request.headers))
        switch endpoint.handler {
        case .open(let handler):
            // A trusted proxy that asks for itself, as for its health check, is no client.
            let isLimited =
                limitsReaders
                && !(received.client.isBehindProxy && received.client.address == Client.Address(context.peer))
            if isLimited {
                try access.limiter.admitReader(from: received.client, times: endpoint.limitFactor)
            }
            let response = try handler(received)
            if isLimited, let body = response.body, request.method != .head {
                access.limiter.chargeReader(body.count, from: received.client, times: endpoint.limitFactor)
            }
            return Response(response)
        case .openStored(let handler):
            do {
                return Response(try await handler(received))
            } catch is StoreUnavailable {
                throw access.limiter.holdingBack(.unavailable, from: received.client)
            }
        case .memory(let scope, let handler):
            let verify = received.fields.assertion == nil ? nil : endpoint.verifySignature
            return try await respond(
                to: request, received, context, by: endpoint, scope, waits: endpoint.takesBody
            ) {
                (admitted, body) in
                guard let verify, let body else {
                    return access.charging(try admitted.answered(by: handler, body: body), to: admitted)
                }
                return try await admitted.answered(
                    by: { admitted in
                        try handler(
                            try await verify(admitted, endpoint.method, Array(body.readableBytesView)))
                    }, body: body)
            }
        case .stored(let scope, let handler):
            return try await respond(to: request, received, context, by: endpoint, scope, waits: true) {
                (admitted, body) in
                try await admitted.answered(by: handler, body: body)
            }
        case .streamed(let scope, let handler):
            return try await respond(to: request, received, context, by: endpoint, scope, waits: true) {
                (admitted, _) in
                try await admitted.answered(
                    by: { admitted in
                        let take = try handler(admitted)
                        return try await uploads.with(admitted.tenant) {
                            context.wantBody(of: request)
                            return try await take(
                                try await request.withUpload(of: endpoint.bodyTypes[0], within: bodyTimeout) {
                                    .spooled(try await SpooledBody($0))
                                })
                        }
                    }, body: nil)
            }
        case .storedWithin(let scope, let handler):
            return try await respond(to: request, received, context, by: endpoint, scope, waits: true) {
                (admitted, body) in
                let locations = admitted.table.visibleLocations
                return try await admitted.answered(by: { try await handler($0, locations) }, body: body)
            }
        case .anySecretKey(let handler):
            return try await respond(to: request, received, context, by: endpoint, nil, waits: true) {
                (admitted, body) in
                try await admitted.answered(by: handler, body: body)
            }
        }
    }

    /// - Parameter waits: whether it waits for a body or the database: only so much of a tenant's may be under way.
    private func respond(
        to request: Request, _ received: APIRequest, _ context: APIContext, by endpoint: Endpoint,
        _ scope: Scope?,
        waits: Bool, _ response: (AdmittedRequest, ByteBuffer?) async throws -> APIResponse
    ) async throws -> Response {
        do {
            let admitted = try access.admit(received, for: scope, by: endpoint, at: Date())
            context.caller = admitted.caller
            guard waits else { return Response(try await response(admitted, nil)) }
            let isClient = admitted.caller.kind == .publishable
            return try await concurrency.with(
                admitted.tenant, client: isClient ? admitted.clientIdentity : nil
            ) {
                guard endpoint.takesBody else { return Response(try await response(admitted, nil)) }
                context.wantBody(of: request)
                var body = try await request.readBody(within: bodyTimeout)
                if endpoint.isBodyOptional {
                    if body.readableBytes == 0 {
                        body.writeStaticString("{}")
                    } else {
                        try received.fields.checkType(of: endpoint)
                    }
                }
                var admitted = admitted
                admitted.now = Date()
                return Response(try await response(admitted, body))
            }
        } catch let problem as Problem {
            context.caller = problem.caller ?? context.caller
            throw access.limiter.holdingBack(problem, from: received.client)
        }
    }
}

extension AdmittedRequest {
    fileprivate func answered(
        by handler: (AdmittedRequest) throws(Problem) -> APIResponse, body: ByteBuffer?
    ) throws(Problem) -> APIResponse {
        do throws(Problem) {
            guard let body else { return answered(by: try handler(self)) }
            return answered(by: try handler(try reading(body)))
        } catch {
            throw refused(by: error)
        }
    }

    fileprivate func answered(
        by handler: (AdmittedRequest) async throws -> APIResponse, body: ByteBuffer?
    ) async throws -> APIResponse {
        do {
            guard let body else { return answered(by: try await handler(self)) }
            return answered(by: try await handler(try reading(body)))
        } catch let problem as Problem {
            throw refused(by: problem)
        } catch let error as QuotaExceeded {
            throw refused(by: Problem(error))
        } catch let error as StoreUnavailable {
            throw refused(by: .unavailable(error))
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
            guard collected.readableBytes + part.readableBytes <= Endpoint.maximumBodyLength else {
                throw .bodyTooLarge(.json)
            }
            collected.writeImmutableBuffer(part)
        }
        do {
            for try await part in body {
                isEmpty = isEmpty && part.readableBytes == 0
                received += part.readableBytes
                // Gzip makes a body that does not shrink a little longer.
                guard received <= Endpoint.maximumBodyLength + 4_096 else {
                    throw Problem.bodyTooLarge(.json)
                }
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
        .conflict, "conflict", "another upload of the tenant is running: try again when it has ended",
        headers: [.retryAfter: "2"])
    fileprivate static let tooManyUploads = Problem(
        .serviceUnavailable, "too_many_uploads",
        "the server has reached its maximum of \(Upload.maximumAtOnce) uploads: try again later",
        headers: [.retryAfter: "10"])
}

extension Response {
    init(_ response: APIResponse) {
        var header = HTTPFields()
        response.write(to: &header)
        self.init(
            status: response.status, headers: header,
            body: response.pieces ?? response.body.map { ResponseBody(byteBuffer: $0.buffer) }
                ?? ResponseBody())
    }
}
