import HTTPTypes

@testable import HTTPAPI

/// The problems that each endpoint declares. The tests' client checks each response against them.
enum DeclaredProblems {
    private static let endpoints = TestAPI().responder.endpoints.map { endpoint in
        (
            endpoint: endpoint, segments: endpoint.path.split(separator: "/"),
            codes: Set(endpoint.problems.map(\.code))
        )
    }

    /// The codes that the endpoint of a request declares; nil if no endpoint has this path.
    static func codes(_ method: HTTPRequest.Method, _ target: String) -> Set<String>? {
        let path = target.prefix { $0 != "?" }.split(separator: "/")
        let method = method == .head ? .get : method
        let candidates = endpoints.filter { candidate in
            candidate.endpoint.method == method && candidate.segments.count == path.count
                && zip(candidate.segments, path).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
        // A literal path has precedence over a path with a parameter, as in the router.
        return candidates.min { parameters(of: $0.segments) < parameters(of: $1.segments) }?.codes
    }

    private static func parameters(of segments: [Substring]) -> Int {
        segments.count { $0.hasPrefix("{") }
    }
}
