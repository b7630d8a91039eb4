import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The routes under `/v1`, for requests that come through the HTTP library.
struct AnswerRoutes {
    let service: AnswerService
    let bodyTimeout: Duration

    func handler(of route: AnswerRoute) -> Route.Handler {
        { request, context in try await answer(request, context, route) }
    }

    private func answer(
        _ request: Request, _ context: APIContext, _ route: AnswerRoute
    ) async throws -> Response {
        let admission = try service.admit(AnswerRequest(request, route: route), at: Date())
        context.caller = admission.caller
        let body = route.method == .post ? try await request.readBody(within: bodyTimeout) : ByteBuffer()
        return Response(try service.answer(admission, body: body, at: Date()))
    }
}

extension AnswerRequest {
    fileprivate init(_ request: Request, route: AnswerRoute) {
        let authorization = request.headers[values: .authorization]
        self.init(
            route: route, query: ByteBuffer(string: request.uri.query ?? ""),
            authorization: authorization.count == 1 ? ByteBuffer(string: authorization[0]) : nil,
            contentType: request.headers[.contentType].map { ByteBuffer(string: $0) },
            ifNoneMatch: request.headers[.ifNoneMatch].map { ByteBuffer(string: $0) },
            contentLength: request.headers[.contentLength].flatMap { Int($0) })
    }
}
