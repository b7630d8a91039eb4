import Formats
import HTTPTypes
import Tenancy

/// An endpoint that responds from memory on the event loop, with the parts that all of its responses share.
///
/// A class, to avoid reference counting when an endpoint is copied.
final class MemoryEndpoint: Sendable {
    let endpoint: Endpoint
    let scope: Scope
    let handler: @Sendable (AdmittedRequest) throws(Problem) -> APIResponse
    /// Counts and times the most frequent responses.
    let successes: RequestObserver.Responses
    private let method: String

    /// Nil for an endpoint that does not respond from memory.
    init?(_ endpoint: Endpoint, _ observer: RequestObserver) {
        guard case .memory(let scope, let handler) = endpoint.handler else { return nil }
        self.endpoint = endpoint
        self.scope = scope
        self.handler = handler
        successes = observer.responses(.ok, endpoint.method, endpoint: endpoint.path)
        method = endpoint.method.rawValue
    }

    /// Whether the target is the endpoint's path, with or without a query.
    fileprivate func responses(_ method: String, _ target: Span<UInt8>) -> Bool {
        let length = endpoint.path.utf8.count
        return target.count >= length
            && (target.count == length || target[length] == UInt8(ascii: "?"))
            && target.extracting(0..<length).isEqual(to: endpoint.path) && self.method == method
    }
}

extension [MemoryEndpoint] {
    /// The endpoint with exactly this path, and the query. If the path is spelled differently, a task responds.
    func endpoint(_ method: String, _ target: String) -> (endpoint: MemoryEndpoint, query: Substring)? {
        let bytes = target.utf8.span
        for endpoint in self where endpoint.responses(method, bytes) {
            guard bytes.isVisible else { return nil }
            // The query begins after the question mark.
            let start = Swift.min(endpoint.endpoint.path.utf8.count + 1, bytes.count)
            return (endpoint, target[target.utf8.index(target.startIndex, offsetBy: start)...])
        }
        return nil
    }
}

extension Span<UInt8> {
    /// Whether all bytes are visible ASCII without `#`, so that there is no fragment. The loop has no branch, so that the compiler
    /// can vectorize it.
    fileprivate var isVisible: Bool {
        var isOther: UInt8 = 0
        for index in indices {
            let byte = self[index]
            isOther |= (byte &- 0x21 > 0x7E - 0x21 ? 1 : 0) | (byte == UInt8(ascii: "#") ? 1 : 0)
        }
        return isOther == 0
    }
}
