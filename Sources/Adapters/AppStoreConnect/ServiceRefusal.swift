public import AppStoreSync
import Formats

/// An error response of App Store Connect.
///
/// Source: `ErrorResponse` of API 4.4.1. [Apple] Only members without values of the request are kept.
public struct ServiceRefusal: Sendable, Hashable, CustomStringConvertible {
    public let status: Int
    /// In their order, the telling one not always first.
    public let errors: [ServiceError]
    /// The request ID that Apple needs to investigate a failure.
    public let requestID: String?
    /// In seconds, if the response has it.
    public let retryAfter: Int?

    public struct ServiceError: Sendable, Hashable {
        /// Unchanged: capitals, digits, `_` and `.`.
        public let code: String
        /// A pointer into the body, or the name of a parameter.
        public let source: String?

        public var known: ErrorCode? { ErrorCode(code) }
    }

    public typealias Verdict = ServiceFailure.Verdict

    /// Looks at all codes.
    public var verdict: Verdict {
        let known = Set(errors.compactMap(\.known))
        if status == 401 || status == 403
            || !known.isDisjoint(with: [.notAuthorized, .forbidden, .agreementsMissing])
        {
            return .stop
        }
        if status == 408 || status == 429 || status >= 500 || known.contains(.rateLimitExceeded) {
            return .wait
        }
        if status == 409, errors.contains(where: { $0.source == "/data/attributes/link" && $0.mayBeTaken }) {
            return .settle
        }
        if known.contains(.attributeDuplicate) { return .settle }
        if !known.isDisjoint(with: [.state, .attributeInvalidState]) { return .blocked }
        if known.contains(.notFound) { return .gone }
        return .reject
    }

    /// Whether the service may have carried out the request.
    public var mayHaveHappened: Bool { status == 408 || status >= 500 }

    /// The error with the most specific code, which is not always the first. [observed]
    var tellingError: ServiceError? {
        errors.enumerated().max { one, other in
            (one.element.known?.rawValue.utf8.count ?? 0, -one.offset)
                < (other.element.known?.rawValue.utf8.count ?? 0, -other.offset)
        }?.element
    }

    public var description: String {
        var text = "App Store Connect answered \(status)"
        let codes = errors.map { error in error.source.map { "\(error.code) at \($0)" } ?? error.code }
        if !codes.isEmpty { text += ": " + codes.joined(separator: ", ") }
        return requestID.map { "\(text) (request \($0))" } ?? text
    }

    /// More errors than this are not kept. [ours]
    private static let maximumErrors = 20

    init(status: Int, body: JSONObject?, requestID: String?, retryAfter: Int?) {
        self.status = status
        self.requestID = requestID.flatMap { $0.isPlain(with: "-_.") ? $0 : nil }
        self.retryAfter = retryAfter
        errors = (body?["errors"]?.arrayValue ?? []).prefix(Self.maximumErrors).compactMap { error in
            guard let members = error.objectValue, let code = members["code"]?.stringValue,
                code.isPlain(with: "_.")
            else { return nil }
            let source = members["source"]?.objectValue
            let place = (source?["pointer"] ?? source?["parameter"])?.stringValue
            return ServiceError(code: code, source: place.flatMap { $0.isPlain(with: "/_[]$-.") ? $0 : nil })
        }
    }
}

extension ServiceRefusal.ServiceError {
    /// Apple does not document the error for a second experience with one link: any conflict about the link may be that, except
    /// a missing or immutable link.
    fileprivate var mayBeTaken: Bool {
        switch known {
        case .attributeRequired, .attributeUnknown, .attributeUnmodifiable, .attributeTooLong: false
        default: true
        }
    }
}

extension String {
    /// Whether a text is short, and of ASCII's letters and digits and a few marks: others could break out of a line or a path.
    func isPlain(upTo limit: Int = 128, with marks: String) -> Bool {
        (1...limit).contains(utf8.count)
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: marks.utf8.contains(byte)
                }
            }
    }
}
