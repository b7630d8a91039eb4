import HTTPTypes
import Hummingbird
import IPAddresses
import Logging

/// Turns whatever a route throws into a problem, and says nothing to the client about errors it did not expect.
///
/// Answers that are held back wait here. Who asks for what is not there needs no key to do so: such requests count as those
/// without a valid one.
struct ProblemMiddleware: RouterMiddleware {
    /// The paths that are served, with their methods, to tell an unknown path from a wrong method. A component in braces
    /// stands for any.
    let methods: [String: [HTTPRequest.Method]]
    let limiter: RequestLimiter
    let proxies: TrustedProxies

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            var problem = problem(for: error, at: request.uri.path, context)
            if problem.caller == nil, [.notFound, .methodNotAllowed].contains(problem.status) {
                do throws(Problem) {
                    try limiter.admitAnonymous(from: proxies.client(of: request, context.peer))
                } catch {
                    problem = error
                }
            }
            context.limit = problem.limit
            await problem.pause?.wait()
            return problem.response(requestID: context.requestID)
        }
    }

    /// The route that the router chooses for a path, whatever the method. Empty components do not count.
    ///
    /// A literal component wins over a parameter, as in the router. `{` sorts behind every character of the literal components.
    private func endpoint(at path: String) -> String? {
        let components = path.split(separator: "/")
        let matching = methods.keys.filter { endpoint in
            let expected = endpoint.split(separator: "/")
            return expected.count == components.count
                && zip(expected, components).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
        }
        return matching.min()
    }

    private func problem(for error: any Error, at path: String, _ context: APIContext) -> Problem {
        switch error {
        case let problem as Problem:
            return problem
        case let error as HTTPError where error.status == .notFound:
            guard let endpoint = endpoint(at: path), let methods = methods[endpoint] else { return .notFound }
            // So that metrics and log name the route whose method it was.
            context.coreContext.endpointPath.value = endpoint
            return .methodNotAllowed(methods)
        default:
            context.logger.error("a request failed", metadata: ["error": "\(error)"])
            return .internalError
        }
    }
}
