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

/// Responses from tasks. A request tries, in order: a landing page, the refusal of a hidden path, its endpoint. An error becomes a problem, and
/// each response is recorded.
extension APIResponder {
    /// The facts about a request for the log and the metrics.
    private struct Observed {
        /// The endpoint's path, with its parameters in braces.
        var endpoint: String
        var caller: KeyHolder?
        /// The limit that the request was refused for.
        var limit: String?
    }

    func respond(to request: ServerRequest, body: ServerRequestBody) async -> ServerResponse {
        guard let method = HTTPRequest.Method(request.method) else { return refusal(of: .syntax) }
        let start = ContinuousClock.now
        active.increment()
        defer { active.decrement() }
        let match = tree.match(request.path)
        let fields = RequestFields(request)
        let client = proxies.client(of: request.peer, forwardedFor: fields.forwardedFor)
        let endpoint = match?.endpoint(for: method)
        let received = APIRequest(
            client: client, query: request.query,
            parameters: endpoint.flatMap { match?.parameters(in: $0.path) } ?? [:],
            authority: request.authority, target: request.target, fields: fields)
        let requestID = RequestID.of(received.fields.requestID)
        let span = tracer.map { RequestSpan(by: $0, in: received.fields.trace) }
        let trace = span?.trace ?? received.fields.trace
        var observed = Observed(endpoint: match?.path ?? "none")
        let response: ServerResponse
        do {
            if let page = try page(for: request, method, of: client, &observed) {
                response = page.with(requestID: requestID)
            } else {
                try refuseHiddenPath(request)
                guard let match else { throw Problem.notFound }
                var found: APIResponse
                if let endpoint {
                    found = try await TraceContext.$current.withValue(trace) {
                        try await ServiceContext.$current.withValue(span?.context) {
                            try await self.response(
                                to: received, method, body, from: request.peer, by: endpoint, &observed)
                        }
                    }
                    found.compress(for: received.fields)
                    found.allowedOrigin = allowedOrigin(received, endpoint, observed)
                } else {
                    found = try preflight(received, method, match)
                }
                response = ServerResponse(found, requestID: requestID)
            }
        } catch {
            let problem = problem(for: error, from: client, requestID: requestID, trace)
            observed.limit = problem.limit
            recordRefusal(problem, of: observed.caller, method, observed.endpoint, requestID)
            await problem.pause?.wait()
            var refusal = APIResponse(problem, requestID: requestID)
            refusal.compress(for: received.fields)
            refusal.allowedOrigin = allowedOrigin(received, endpoint, observed)
            response = ServerResponse(refusal, requestID: requestID)
        }
        observer.record(
            response.status, method, endpoint: observed.endpoint, caller: observed.caller,
            limit: observed.limit, client: client.address.source,
            bytes: method == .head ? 0 : response.body.length, requestID: requestID, trace: trace,
            duration: start.duration(to: .now), logger)
        span?.end(
            response.status, method, endpoint: observed.endpoint, caller: observed.caller,
            cause: observed.limit)
        return response
    }

    private func allowedOrigin(
        _ request: APIRequest, _ endpoint: Endpoint?, _ observed: Observed
    ) -> String? {
        request.fields.allowedOrigin(at: endpoint, for: observed.caller, in: access.table.current)
    }

    /// Responds to the preflight of a browser from memory. Any other method that the path lacks is refused.
    private func preflight(
        _ request: APIRequest, _ method: HTTPRequest.Method, _ match: PathTree<Endpoint>.Match
    ) throws(Problem) -> APIResponse {
        guard method == .options,
            let requested = request.fields.requestedMethod.flatMap({ HTTPRequest.Method($0) }),
            let endpoint = match.endpoint(for: requested),
            let origin = request.fields.allowedOrigin(at: endpoint, for: nil, in: access.table.current)
        else { throw Problem.methodNotAllowed(match.methods) }
        try access.limiter.admitReader(from: request.client, times: endpoint.limitFactor)
        var response = CrossOrigin.preflight(
            match.elements.filter(\.admitsPublishableKeys).map(\.method))
        response.allowedOrigin = origin
        return response
    }

    /// If a path or method does not exist, no key is needed, and the request counts as one without a valid key. The client gets no
    /// details of an unexpected error.
    private func problem(
        for error: any Error, from client: Client, requestID: String, _ trace: TraceContext?
    ) -> Problem {
        guard let problem = error as? Problem else {
            var metadata: Logger.Metadata = ["error": "\(error)", "request_id": "\(requestID)"]
            metadata["trace_id"] = trace.map { "\($0.id)" }
            logger.error("a request failed", metadata: metadata)
            return .internalError
        }
        guard problem.caller == nil, [.notFound, .methodNotAllowed].contains(problem.status) else {
            return problem
        }
        do throws(Problem) {
            try access.limiter.admitAnonymous(from: client)
            return problem
        } catch {
            return error
        }
    }

    // MARK: Proved hosts

    /// The landing page, if the host's tenant has enabled landing pages. On such a host, the pages replace the monitoring paths.
    private func page(
        for request: ServerRequest, _ method: HTTPRequest.Method, of client: Client,
        _ observed: inout Observed
    ) throws(Problem) -> ServerResponse? {
        guard let pages,
            // Empty components do not count, as for endpoints.
            !DomainPages.pathsOfAPI.contains(String(request.path.split(separator: "/").first ?? "")),
            let name = request.authority.flatMap(Authority.host), let state = access.table.current,
            let host = state.provedHost(name), host.pages != .off
        else { return nil }
        observed.endpoint = "pages"
        guard [.get, .head].contains(method) else { throw Problem.methodNotAllowed([.get, .head]) }
        try access.limiter.admitVisitor(of: host, from: client)
        let head = HTTPRequest(
            method: method, scheme: nil, authority: request.authority, path: request.target,
            headerFields: request.fields)
        let (response, body) = pages(head, host, state)
        return ServerResponse(
            response.status, response.headerFields, body: body.isEmpty ? .empty : .bytes(body))
    }

    private func refuseHiddenPath(_ request: ServerRequest) throws(Problem) {
        guard !hiddenPaths.isEmpty, hiddenPaths.contains(request.path.split(separator: "/")),
            let host = request.authority.flatMap(Authority.host),
            access.table.current?.table.isProved(host: host) == true
        else { return }
        throw .notFound
    }

    // MARK: Endpoints

    private func response(
        to received: APIRequest, _ method: HTTPRequest.Method, _ body: ServerRequestBody,
        from peer: IPAddress?, by endpoint: Endpoint, _ observed: inout Observed
    ) async throws -> APIResponse {
        switch endpoint.handler {
        case .open(let handler):
            return try openResponse(to: received, method, from: peer, by: endpoint, handler)
        case .openStored(let handler):
            do {
                return try await handler(received)
            } catch let error as StoreUnavailable {
                throw access.limiter.holdingBack(.unavailable(error), from: received.client)
            }
        case .memory(let scope, let handler):
            let verify = received.fields.assertion == nil ? nil : endpoint.verifySignature
            return try await admitAndRespond(
                to: received, body, by: endpoint, scope, &observed, waits: endpoint.takesBody
            ) { admitted, body in
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
            return try await admitAndRespond(to: received, body, by: endpoint, scope, &observed, waits: true)
            {
                admitted, body in
                try await admitted.answered(by: handler, body: body)
            }
        case .streamed(let scope, let handler):
            return try await admitAndRespond(to: received, body, by: endpoint, scope, &observed, waits: true)
            {
                admitted, _ in
                try await admitted.answered(
                    by: { admitted in
                        let take = try handler(admitted)
                        return try await uploads.with(admitted.tenant) {
                            try await take(
                                try await body.withUpload(
                                    of: endpoint.bodyTypes[0], coding: received.fields.contentEncoding,
                                    within: bodyTimeout
                                ) { .spooled(try await SpooledBody($0)) })
                        }
                    }, body: nil)
            }
        case .storedWithin(let scope, let handler):
            return try await admitAndRespond(to: received, body, by: endpoint, scope, &observed, waits: true)
            {
                admitted, body in
                let locations = admitted.table.visibleLocations
                return try await admitted.answered(by: { try await handler($0, locations) }, body: body)
            }
        case .anySecretKey(let handler):
            return try await admitAndRespond(to: received, body, by: endpoint, nil, &observed, waits: true) {
                admitted, body in
                try await admitted.answered(by: handler, body: body)
            }
        }
    }

    /// A response for which the client needs no key. Requests and bytes count against the client's limit for documents that need no key.
    private func openResponse(
        to received: APIRequest, _ method: HTTPRequest.Method, from peer: IPAddress?, by endpoint: Endpoint,
        _ handler: (APIRequest) throws -> APIResponse
    ) throws -> APIResponse {
        // A trusted proxy's own request, such as a health check, is not limited.
        let isLimited =
            limitsReaders
            && !(received.client.isBehindProxy && received.client.address == Client.Address(peer))
        if isLimited {
            try access.limiter.admitReader(from: received.client, times: endpoint.limitFactor)
        }
        let response = try handler(received)
        if isLimited, let body = response.body, method != .head {
            access.limiter.chargeReader(body.count, from: received.client, times: endpoint.limitFactor)
        }
        return response
    }

    /// - Parameter waits: Whether the response waits for a body or the database. The number of such requests per tenant is limited.
    private func admitAndRespond(
        to received: APIRequest, _ body: ServerRequestBody, by endpoint: Endpoint, _ scope: Scope?,
        _ observed: inout Observed, waits: Bool,
        _ response: (AdmittedRequest, ByteBuffer?) async throws -> APIResponse
    ) async throws -> APIResponse {
        do {
            let admitted = try access.admit(received, for: scope, by: endpoint, at: Date())
            observed.caller = admitted.caller
            guard waits else { return try await response(admitted, nil) }
            let isClient = admitted.caller.kind == .publishable
            return try await concurrency.with(
                admitted.tenant, client: isClient ? admitted.clientIdentity : nil
            ) {
                guard endpoint.takesBody else { return try await response(admitted, nil) }
                var bytes = try await body.whole(
                    coding: received.fields.contentEncoding, within: bodyTimeout)
                if endpoint.isBodyOptional {
                    if bytes.readableBytes == 0 {
                        bytes.writeStaticString("{}")
                    } else {
                        try received.fields.checkType(of: endpoint)
                    }
                }
                var admitted = admitted
                admitted.now = Date()
                return try await response(admitted, bytes)
            }
        } catch let problem as Problem {
            observed.caller = problem.caller ?? observed.caller
            throw access.limiter.holdingBack(problem, from: received.client)
        }
    }
}

extension ServerResponse {
    fileprivate func with(requestID: String) -> ServerResponse {
        var response = self
        response.fields[.requestID] = requestID
        return response
    }
}
