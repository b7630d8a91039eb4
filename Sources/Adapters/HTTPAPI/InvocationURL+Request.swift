import HTTPTypes
public import Invocation
import JSON

extension InvocationURL {
    /// Parses a URL of a request; the problem is `invalid_url` with the reason's code.
    public init(requested text: String) throws(Problem) {
        try self.init(requested: text.utf8.span)
    }

    /// - Parameter text: valid UTF-8.
    init(requested text: Span<UInt8>) throws(Problem) {
        do {
            try self.init(utf8: text)
        } catch {
            throw Problem(
                .badRequest, "invalid_url", "\(error)",
                members: ["field": "url", "reason": .string(error.code)])
        }
    }
}
