import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Routing
import Tenancy

/// The routes under `/v1`, for requests that come through the HTTP library.
struct AnswerRoutes {
    let service: AnswerService
    let proxies: TrustedProxies
    let concurrency: TenantConcurrency
    let bodyTimeout: Duration

    func handler(of route: AnswerRoute) -> Route.Handler {
        { request, context in try await answer(request, context, route) }
    }

    private func answer(
        _ request: Request, _ context: APIContext, _ route: AnswerRoute
    ) async throws -> Response {
        let client = client(of: request, context.peer)
        do {
            let admission = try service.admit(
                AnswerRequest(request, route: route, from: client), at: Date())
            context.caller = admission.caller
            guard route.method == .post else {
                return Response(try service.answer(admission, body: ByteBuffer(), at: Date()))
            }
            let isClient = admission.caller.kind == .publishable
            return try await concurrency.with(
                admission.caller.tenant, client: isClient ? client.address : nil
            ) {
                let body = try await request.readBody(within: bodyTimeout)
                return Response(try service.answer(admission, body: body, at: Date()))
            }
        } catch let problem as Problem {
            if let pause = problem.pause { try? await Task.sleep(for: pause) }
            throw problem
        }
    }

    private func client(of request: Request, _ peer: IPAddress?) -> Client {
        guard proxies.contains(peer) else {
            return Client(address: Client.Address(peer), isBehindProxy: false)
        }
        let forwardedFor = HTTPField.Name("X-Forwarded-For").flatMap { request.headers[$0] }
        return proxies.client(behind: peer, forwardedFor: forwardedFor.map { ByteBuffer(string: $0) })
    }
}

extension AnswerRequest {
    fileprivate init(_ request: Request, route: AnswerRoute, from client: Client) {
        let authorization = request.headers[values: .authorization]
        self.init(
            route: route, client: client, query: ByteBuffer(string: request.uri.query ?? ""),
            authorization: authorization.count == 1 ? ByteBuffer(string: authorization[0]) : nil,
            contentType: request.headers[.contentType].map { ByteBuffer(string: $0) },
            ifNoneMatch: request.headers[.ifNoneMatch].map { ByteBuffer(string: $0) },
            contentLength: request.headers[.contentLength].flatMap { Int($0) })
    }
}
