import HTTPTypes

@testable import HTTPAPI

/// The problems that the endpoints declare, by which the tests' client checks each response.
enum DeclaredProblems {
    private static let endpoints = TestAPI().responder.endpoints.map { endpoint in
        (
            endpoint: endpoint, segments: endpoint.path.split(separator: "/"),
            codes: Set(endpoint.problems.map(\.code))
        )
    }

    /// The codes that a request's endpoint declares; nil for a request that no endpoint takes.
    static func codes(_ method: HTTPRequest.Method, _ target: String) -> Set<String>? {
        let path = target.prefix { $0 != "?" }.split(separator: "/")
        let method = method == .head ? .get : method
        let candidates = endpoints.filter { candidate in
            candidate.endpoint.method == method && candidate.segments.count == path.count
                && zip(candidate.segments, path).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
        // A literal path wins over one with a parameter, as in the router.
        return candidates.min { parameters(of: $0.segments) < parameters(of: $1.segments) }?.codes
    }

    private static func parameters(of segments: [Substring]) -> Int {
        segments.count { $0.hasPrefix("{") }
    }
}
