import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Notifications
import Routing
import Tenancy

/// The routes under `/v1`, for requests that come through the HTTP library.
struct AnswerRoutes {
    let service: AnswerService
    let proxies: TrustedProxies
    let concurrency: TenantConcurrency
    let bodyTimeout: Duration

    func handler(of route: AnswerRoute) -> Route.Handler {
        { request, context in
            try await answer(request, context, route.access, waits: route.access.takesBody) {
                admission, body in
                try service.answer(admission, as: route, body: body, at: Date())
            }
        }
    }

    func handler(of route: StoredRoute) -> Route.Handler {
        { request, context in
            try await answer(request, context, route.access, waits: true) { admission, body in
                do {
                    let stored = try StoredRequest(
                        request, admission, parameters: context.parameters, body: body, at: Date())
                    return admission.answered(by: try await route.handler(stored))
                } catch let problem as Problem {
                    throw admission.refused(by: problem)
                } catch NotificationStoreError.unavailable {
                    throw admission.refused(by: .unavailable)
                }
            }
        }
    }

    /// - Parameter waits: whether the answer waits for a body or a database, so that only so many of a tenant's may.
    private func answer(
        _ request: Request, _ context: APIContext, _ access: RouteAccess, waits: Bool,
        _ answer: (AnswerService.Admission, ByteBuffer) async throws -> Answer
    ) async throws -> Response {
        let client = proxies.client(of: request, context.peer)
        do {
            let admission = try service.admit(
                AnswerRequest(
                    access: access, client: client, query: (request.uri.query ?? "")[...],
                    fields: RequestFields(request.headers)), at: Date())
            context.caller = admission.caller
            guard waits else { return Response(try await answer(admission, ByteBuffer())) }
            let isClient = admission.caller.kind == .publishable
            return try await concurrency.with(
                admission.caller.tenant, client: isClient ? client.address : nil
            ) {
                let body = access.takesBody ? try await request.readBody(within: bodyTimeout) : ByteBuffer()
                return Response(try await answer(admission, body))
            }
        } catch let problem as Problem {
            context.caller = problem.caller ?? context.caller
            throw service.limiter.holdingBack(problem, from: client)
        }
    }
}
