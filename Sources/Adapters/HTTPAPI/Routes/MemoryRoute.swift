import HTTPTypes
import Metrics
import Tenancy

/// A route from memory, whose requests are answered where they arrive, with all that is the same for each of them.
///
/// A class: to copy a route would be to count the references of all its parts.
final class MemoryRoute: Sendable {
    let route: Route
    let scope: Scope
    let handler: @Sendable (AdmittedRequest) throws(Problem) -> Answer
    /// Times the answers that are most frequent by far.
    let successes: Metrics.Timer
    private let method: String

    /// Nil for any other route.
    init?(_ route: Route, _ observer: RequestObserver) {
        guard case .memory(let scope, let handler) = route.handler else { return nil }
        self.route = route
        self.scope = scope
        self.handler = handler
        successes = observer.timer(.ok, route.method, route: route.path)
        method = route.method.rawValue
    }

    fileprivate func answers(_ method: String, _ path: Span<UInt8>) -> Bool {
        path.isEqual(to: route.path) && self.method == method
    }
}

extension [MemoryRoute] {
    /// The one that a request asks for in so many letters, and its query; whatever is written otherwise is the router's to
    /// understand.
    func route(_ method: String, _ target: String) -> (route: MemoryRoute, query: Substring)? {
        let bytes = target.utf8.span
        var pathLength = bytes.count
        for index in bytes.indices {
            let byte = bytes[index]
            // Visible ASCII, and no fragment.
            guard byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "#") else { return nil }
            if byte == UInt8(ascii: "?"), pathLength == bytes.count { pathLength = index }
        }
        let path = bytes.extracting(0..<pathLength)
        for route in self where route.answers(method, path) {
            // Behind the question mark.
            let start = Swift.min(pathLength + 1, bytes.count)
            return (route, target[target.utf8.index(target.startIndex, offsetBy: start)...])
        }
        return nil
    }
}
