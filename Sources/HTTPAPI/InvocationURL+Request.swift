import HTTPTypes
import Invocation
import JSON

extension InvocationURL {
    /// Parses a URL of a request; the problem is `invalid_url` with the reason's code.
    init(requested text: String) throws(Problem) {
        do {
            try self.init(text)
        } catch {
            throw Problem(
                .badRequest, "invalid_url", "\(error)",
                members: ["field": "url", "reason": .string(error.code)])
        }
    }
}
