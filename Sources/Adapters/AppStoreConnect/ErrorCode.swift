/// The known error codes of App Store Connect. Codes have further parts, so they are compared by prefix.
///
/// Source: "Parsing the error response code" [Apple]; those that begin with `ENTITY_ERROR` were observed. [observed]
public enum ErrorCode: String, Sendable, Hashable, CaseIterable {
    case parameter = "PARAMETER_ERROR"
    case parameterIllegal = "PARAMETER_ERROR.ILLEGAL"
    case parameterInvalid = "PARAMETER_ERROR.INVALID"
    case parameterRequired = "PARAMETER_ERROR.REQUIRED"
    case parameterDuplicate = "PARAMETER_ERROR.DUPLICATE"
    case entityInvalid = "ENTITY_INVALID"
    case notAuthorized = "NOT_AUTHORIZED"
    case forbidden = "FORBIDDEN_ERROR"
    case agreementsMissing = "FORBIDDEN.REQUIRED_AGREEMENTS_MISSING_OR_EXPIRED"
    case path = "PATH_ERROR"
    case notFound = "NOT_FOUND"
    case methodNotAllowed = "METHOD_NOT_ALLOWED"
    case entity = "ENTITY_ERROR"
    case attributeRequired = "ENTITY_ERROR.ATTRIBUTE.REQUIRED"
    case attributeUnknown = "ENTITY_ERROR.ATTRIBUTE.UNKNOWN"
    case attributeInvalid = "ENTITY_ERROR.ATTRIBUTE.INVALID"
    case attributeDuplicate = "ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE"
    case attributeTooLong = "ENTITY_ERROR.ATTRIBUTE.INVALID.TOO_LONG"
    case attributeInvalidState = "ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE"
    case attributeUnmodifiable = "ENTITY_ERROR.ATTRIBUTE.INVALID.UNMODIFIABLE"
    case relationshipRequired = "ENTITY_ERROR.RELATIONSHIP.REQUIRED"
    case relationshipInvalid = "ENTITY_ERROR.RELATIONSHIP.INVALID"
    case includedInvalidID = "ENTITY_ERROR.INCLUDED.INVALID_ID"
    case unexpectedID = "ENTITY_ERROR.UNEXPECTED_ID"
    case state = "STATE_ERROR"
    case unprocessable = "ENTITY_UNPROCESSABLE"
    case rateLimitExceeded = "RATE_LIMIT_EXCEEDED"

    /// The most specific known code; nil if there is none.
    init?(_ code: String) {
        let known = Self.allCases.filter { code == $0.rawValue || code.hasPrefix($0.rawValue + ".") }
        guard let longest = known.max(by: { $0.rawValue.utf8.count < $1.rawValue.utf8.count }) else {
            return nil
        }
        self = longest
    }
}
