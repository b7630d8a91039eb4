import HTTPServer
import HTTPTypes

/// Reads whole requests, and sends the responses.
struct StoreResponder: ServerResponder {
    private let outcome: @Sendable (StoreSimulation.Request) -> StoreSimulation.Outcome

    /// Slightly more than the largest image. [ours]
    private static let maximumBody = 11 << 20

    init(_ outcome: @escaping @Sendable (StoreSimulation.Request) -> StoreSimulation.Outcome) {
        self.outcome = outcome
    }

    func reply(to request: ServerRequest, on connection: ConnectionMemory) -> ServerReply { .later }

    func respond(to request: ServerRequest, body: ServerRequestBody) async -> ServerResponse {
        guard let bytes = try? await body.bytes(upTo: Self.maximumBody) else {
            return ServerResponse(.contentTooLarge, body: .cut)
        }
        var headers: [(name: String, value: String)] = []
        request.forEachField { headers.append(($0, $1)) }
        let outcome = outcome(
            StoreSimulation.Request(
                method: request.method, uri: request.target, headers: headers, body: bytes))
        if outcome.delay > .zero { try? await Task.sleep(for: outcome.delay) }
        guard let response = outcome.response else { return ServerResponse(.ok, body: .cut) }
        var fields = HTTPFields()
        for (name, value) in response.headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return ServerResponse(
            HTTPResponse.Status(code: response.status), fields,
            body: response.body.isEmpty ? .empty : .bytes(response.body))
    }

    func refusal(of defect: RequestDefect) -> ServerResponse { ServerResponse(.badRequest) }
}
