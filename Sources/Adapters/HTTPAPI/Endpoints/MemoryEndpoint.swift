import HTTPSyntax
import HTTPTypes
import Tenancy

/// A route from memory, whose requests are answered where they arrive, with all that is the same for each of them.
///
/// A class: to copy a route would be to count the references of all its parts.
final class MemoryEndpoint: Sendable {
    let endpoint: Endpoint
    let scope: Scope
    let handler: @Sendable (AdmittedRequest) throws(Problem) -> APIResponse
    /// Counts and times the most frequent responses.
    let successes: RequestObserver.Responses
    private let method: String

    /// Nil for any other route.
    init?(_ endpoint: Endpoint, _ observer: RequestObserver) {
        guard case .memory(let scope, let handler) = endpoint.handler else { return nil }
        self.endpoint = endpoint
        self.scope = scope
        self.handler = handler
        successes = observer.responses(.ok, endpoint.method, endpoint: endpoint.path)
        method = endpoint.method.rawValue
    }

    /// Whether the target is its path, with or without a query.
    fileprivate func responses(_ method: String, _ target: Span<UInt8>) -> Bool {
        let length = endpoint.path.utf8.count
        return target.count >= length
            && (target.count == length || target[length] == UInt8(ascii: "?"))
            && target.extracting(0..<length).isEqual(to: endpoint.path) && self.method == method
    }
}

extension [MemoryEndpoint] {
    /// The one that a request asks for in so many letters, and its query; whatever is written otherwise is the router's to
    /// understand.
    func endpoint(_ method: String, _ target: String) -> (endpoint: MemoryEndpoint, query: Substring)? {
        let bytes = target.utf8.span
        for endpoint in self where endpoint.responses(method, bytes) {
            guard bytes.isVisible else { return nil }
            // Behind the question mark.
            let start = Swift.min(endpoint.endpoint.path.utf8.count + 1, bytes.count)
            return (endpoint, target[target.utf8.index(target.startIndex, offsetBy: start)...])
        }
        return nil
    }
}

extension Span<UInt8> {
    /// Whether all of it is visible ASCII without `#`, so that there is no fragment. In one expression and without a branch, so
    /// that the compiler takes many bytes at once.
    fileprivate var isVisible: Bool {
        var isOther: UInt8 = 0
        for index in indices {
            let byte = self[index]
            isOther |= (byte &- 0x21 > 0x7E - 0x21 ? 1 : 0) | (byte == UInt8(ascii: "#") ? 1 : 0)
        }
        return isOther == 0
    }
}
