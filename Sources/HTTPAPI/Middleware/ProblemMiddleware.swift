import HTTPTypes
import Hummingbird
import Logging

/// Turns whatever a route throws into a problem, and says nothing to the client about errors it did not expect.
struct ProblemMiddleware: RouterMiddleware {
    /// The paths that are served, with their methods, to tell an unknown path from a wrong method.
    let methods: [String: [HTTPRequest.Method]]

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            return problem(for: error, at: request.uri.path, context).response(requestID: context.requestID)
        }
    }

    /// Empty components do not count, as for the router.
    private static func normalized(_ path: String) -> String {
        "/" + path.split(separator: "/").joined(separator: "/")
    }

    private func problem(for error: any Error, at path: String, _ context: APIContext) -> Problem {
        switch error {
        case let problem as Problem:
            return problem
        case let error as HTTPError where error.status == .notFound:
            let route = Self.normalized(path)
            guard let methods = methods[route] else { return .notFound }
            // So that metrics and log name the route whose method it was.
            context.coreContext.endpointPath.value = route
            return .methodNotAllowed(methods)
        default:
            context.logger.error("a request failed", metadata: ["error": "\(error)"])
            return .internalError
        }
    }
}
