public import Formats

/// The `url` of a request is not a valid invocation URL.
public struct InvalidURL: Refusal, Hashable {
    public let reason: InvocationURLError

    public init(_ reason: InvocationURLError) {
        self.reason = reason
    }

    public var code: String { "invalid_url" }
    public var members: JSONObject { ["field": "url", "reason": .string(reason.code)] }
    public var description: String { reason.description }
}

extension InvocationURL {
    /// Reads the `url` of a request.
    public init(requested text: String) throws(InvalidURL) {
        try self.init(requested: text.utf8.span)
    }

    /// - Parameter text: Valid UTF-8.
    public init(requested text: Span<UInt8>) throws(InvalidURL) {
        do {
            try self.init(utf8: text)
        } catch {
            throw InvalidURL(error)
        }
    }
}
