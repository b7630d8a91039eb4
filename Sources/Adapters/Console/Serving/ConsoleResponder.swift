import HTTPServer
import HTTPTypes

/// A method and path of the console, and what responds to it.
struct ConsoleEndpoint: Sendable {
    let method: HTTPRequest.Method
    /// With parameters in braces.
    let path: String
    let respond: @Sendable (ReceivedRequest) async throws -> ServerResponse
}

/// Responds to every request of the console.
struct ConsoleResponder: ServerResponder {
    private let endpoints: PathTree<ConsoleEndpoint>
    private let requestGuard: ConsoleGuard
    private let all: ConsoleEndpoints

    init(_ endpoints: ConsoleEndpoints, _ requestGuard: ConsoleGuard) {
        self.endpoints = PathTree(endpoints.list, path: \.path)
        self.requestGuard = requestGuard
        all = endpoints
    }

    func reply(to request: ServerRequest, on connection: ConnectionMemory) -> ServerReply { .later }

    func respond(to request: ServerRequest, body: ServerRequestBody) async -> ServerResponse {
        guard let method = HTTPRequest.Method(request.method) else { return refusal(of: .syntax) }
        return await requestGuard.response(to: request, method, body) { received in
            do {
                return try await response(to: received, at: request.path)
            } catch {
                return all.failures.page(of: all.failures.refusal(for: error, method))
            }
        }
    }

    /// HEAD is answered by the endpoint of GET.
    private func response(to request: ReceivedRequest, at path: Substring) async throws -> ServerResponse {
        let method = request.method == .head ? .get : request.method
        guard let match = endpoints.match(path),
            let endpoint = match.elements.first(where: { $0.method == method })
        else { return await all.unknownPath(request) }
        var request = request
        request.parameters = match.parameters(in: endpoint.path)
        return try await endpoint.respond(request)
    }

    func refusal(of defect: RequestDefect) -> ServerResponse {
        let (status, text): (HTTPResponse.Status, String) =
            switch defect {
            case .syntax: (.badRequest, "The request is malformed.")
            case .headerLength: (.requestHeaderFieldsTooLarge, "The header of the request is too large.")
            case .host: (.badRequest, "The request must name one host.")
            case .transferCoding: (.notImplemented, "The transfer coding of the request is not supported.")
            }
        return ConsoleGuard.secured(ConsoleResponse.plain(status, text))
    }
}
