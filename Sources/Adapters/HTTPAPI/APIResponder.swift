import Administration
import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Logging
import Lookups
import Metrics
import NIOCore
import Tenancy
import Tracing

/// Responds to requests with their endpoints: from memory on the event loop where a request arrives, or from a task.
///
/// A class, because the closures that respond to requests capture it. Copying a structure would change the reference counts of all
/// its members.
final class APIResponder: ServerResponder {
    let endpoints: [Endpoint]
    let access: AccessControl
    let proxies: TrustedProxies
    let observer: RequestObserver
    let logger: Logger
    /// The longest time that a request's body may take to arrive.
    let bodyTimeout: Duration
    let concurrency: TenantConcurrency
    /// Uploads are limited more strictly, because each has a file.
    let uploads = TenantConcurrency(
        maximum: 1, refusal: .uploadIsUnderWay, ofAll: Upload.maximumAtOnce, refusalOfAll: .tooManyUploads)
    let pages: APIServer.Dependencies.LandingPages?
    /// The components of paths that hosts of tenants do not serve.
    let hiddenPaths: Set<[Substring]>
    /// Whether requests without a key are rate-limited. False at the port of monitors.
    let limitsReaders: Bool
    let tree: PathTree<Endpoint>
    let active = Meter(label: "doorstep_http_active_requests")
    /// Nil if refused requests are not recorded.
    let refusals: (any RefusedRequestRecorder)?
    /// Nil if no spans are recorded.
    let tracer: (any Tracer)?
    /// The endpoints that respond on the event loop.
    private let memoryEndpoints: [MemoryEndpoint]

    /// - Parameter hiddenPaths: Paths that describe the server. Hosts of tenants do not serve them.
    init(
        _ endpoints: [Endpoint], _ access: AccessControl, _ observer: RequestObserver,
        _ settings: APIServer.Settings, logger: Logger, hiding hiddenPaths: [String] = [],
        showing pages: APIServer.Dependencies.LandingPages? = nil, limitingReaders limitsReaders: Bool = true,
        recordingRefusalsTo refusals: (any RefusedRequestRecorder)? = nil
    ) {
        self.refusals = refusals
        self.limitsReaders = limitsReaders
        self.endpoints = endpoints
        self.hiddenPaths = Set(hiddenPaths.map { $0.split(separator: "/") })
        self.access = access
        self.observer = observer
        self.logger = logger
        self.pages = pages
        proxies = TrustedProxies(settings.trustedProxies)
        bodyTimeout = settings.bodyTimeout
        concurrency = TenantConcurrency(maximum: settings.tenantConcurrency)
        tracer = settings.tracer
        tree = PathTree<Endpoint>(endpoints)
        memoryEndpoints = endpoints.compactMap { MemoryEndpoint($0, observer) }
    }

    // MARK: The event loop

    /// The data that the responder stores for a connection.
    private final class Memory {
        /// Nil behind a proxy. Each request names its client then.
        let client: Client?
        /// The key of the last request.
        var key: PresentedKey?

        init(_ client: Client?) {
            self.client = client
        }

        func key(in fields: borrowing RequestFields) -> PresentedKey? {
            guard let field = fields.authorization else {
                key = nil
                return nil
            }
            if key?.isSame(as: field) != true { key = PresentedKey(field) }
            return key
        }
    }

    func reply(to request: ServerRequest, on connection: ConnectionMemory) -> ServerReply {
        guard let (endpoint, query) = memoryEndpoints.endpoint(request.method, request.target) else {
            return .later
        }
        let fields = RequestFields(request)
        guard fields.assertion == nil, fields.contentEncoding == nil else { return .later }
        // A task compresses long bodies, so that the event loop can respond to others.
        if endpoint.endpoint.hasLongResponses, fields.acceptsGzip { return .later }
        let memory = memory(of: connection)
        let client =
            memory.client ?? proxies.client(behind: connection.peer, forwardedFor: fields.forwardedFor)
        let key = memory.key(in: fields)
        let received = APIRequest(client: client, query: query, fields: fields, key: key)
        return .atOnce(maximumBodyLength: Endpoint.maximumBodyLengthAtOnce) { body in
            self.respondAtOnce(to: received, body: body, by: endpoint)
        }
    }

    private func memory(of connection: ConnectionMemory) -> Memory {
        if let memory = connection.value as? Memory { return memory }
        let isProxy = proxies.contains(connection.peer)
        let memory = Memory(
            isProxy ? nil : Client(address: Client.Address(connection.peer), isBehindProxy: false))
        connection.value = memory
        return memory
    }

    /// Responds to a request whose body has arrived. Never waits.
    private func respondAtOnce(
        to request: APIRequest, body: ByteBuffer, by memoryEndpoint: MemoryEndpoint
    ) -> ServerResponse {
        let start = ContinuousClock.now
        let requestID = RequestID.of(request.fields.requestID)
        let span = tracer.map { RequestSpan(by: $0, in: request.fields.trace) }
        let endpoint = memoryEndpoint.endpoint
        var caller: KeyHolder?
        var response: APIResponse
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
        response.compress(for: request.fields)
        response.allowedOrigin = request.fields.allowedOrigin(
            at: endpoint, for: caller, in: access.table.current)
        var sent = ServerResponse(response, requestID: requestID)
        observer.record(
            response.status, endpoint.method, endpoint: endpoint.path,
            responses: response.status == .ok ? memoryEndpoint.successes : nil, caller: caller,
            limit: response.problem?.limit, client: request.client.address.source, bytes: sent.body.length,
            requestID: requestID, trace: span?.trace ?? request.fields.trace,
            duration: start.duration(to: .now), logger)
        span?.end(
            response.status, endpoint.method, endpoint: endpoint.path, caller: caller,
            cause: response.problem?.limit)
        if let problem = response.problem {
            recordRefusal(problem, of: caller, endpoint.method, endpoint.path, requestID)
        }
        let delay = response.problem?.pause.map { ServerResponse.Delay($0.duration, holding: $0) }
        sent.delay = delay
        return sent
    }

    /// Records a refused or failed request of a key for the key's tenant.
    /// - Parameter path: The endpoint's path, with its parameters in braces.
    func recordRefusal(
        _ problem: Problem, of caller: KeyHolder?, _ method: HTTPRequest.Method, _ path: String,
        _ requestID: String
    ) {
        guard let refusals, let caller else { return }
        let now = Date()
        refusals.record(
            RefusedRequest(
                id: .timeOrdered(at: now), at: now, requestID: requestID,
                endpoint: "\(RequestObserver.name(of: method)) \(path)", status: problem.status.code,
                code: problem.code, key: caller.key), of: caller.tenant)
    }

    // MARK: Malformed input

    func refusal(of defect: RequestDefect) -> ServerResponse {
        let requestID = RequestID.make()
        return ServerResponse(APIResponse(Problem(defect), requestID: requestID), requestID: requestID)
    }
}

extension Problem {
    fileprivate init(_ defect: RequestDefect) {
        switch defect {
        case .syntax: self.init(.badRequest, "malformed_request", "this is not an HTTP request")
        case .headerLength:
            self.init(
                .requestHeaderFieldsTooLarge, "header_too_large", "the request's URL and header are too large"
            )
        case .host:
            self.init(
                .badRequest, "malformed_request",
                "a request names its host once; its target or :authority may not name another one")
        case .transferCoding:
            self.init(
                .notImplemented, "unsupported_transfer_coding",
                "the only transfer coding that the server knows is chunked")
        }
    }

    fileprivate static let uploadIsUnderWay = Problem(
        .conflict, "conflict", "another upload of the tenant is running: try again when it has ended",
        headers: [.retryAfter: "2"])
    fileprivate static let tooManyUploads = Problem(
        .serviceUnavailable, "too_many_uploads",
        "the server has reached its maximum of \(Upload.maximumAtOnce) uploads: try again later",
        headers: [.retryAfter: "10"])
}
