import Formats

/// An error of a request, in the form of Apple's `ErrorResponse`.
struct ErrorObject: Sendable, Hashable {
    let status: Int
    let code: String
    let title: String
    var detail: String?
    var source: Source?

    enum Source: Sendable, Hashable {
        /// A position in the body (RFC 6901).
        case pointer(String)
        /// A parameter of the query.
        case parameter(String)
    }

    func json(id: String) -> JSONValue {
        var object: JSONObject = [
            "id": .string(id), "status": .string(String(status)), "code": .string(code),
            "title": .string(title),
        ]
        object["detail"] = detail.map(JSONValue.string)
        switch source {
        case .pointer(let pointer): object["source"] = ["pointer": .string(pointer)]
        case .parameter(let name): object["source"] = ["parameter": .string(name)]
        case nil: break
        }
        return .object(object)
    }
}

/// All errors of a request. The first error determines the status of the response.
struct ErrorDocument: Error, Sendable, Hashable {
    let errors: [ErrorObject]

    init(_ errors: [ErrorObject]) {
        self.errors = errors
    }

    init(_ error: ErrorObject) {
        errors = [error]
    }
}

extension ErrorObject {
    static func parameter(_ kind: String, _ name: String, _ detail: String) -> Self {
        Self(
            status: 400, code: "PARAMETER_ERROR.\(kind)", title: "A parameter has an invalid value",
            detail: detail, source: .parameter(name))
    }

    static let notJSON = Self(
        status: 400, code: "ENTITY_INVALID", title: "The request entity is not valid JSON")

    static let notAuthorized = Self(
        status: 401, code: "NOT_AUTHORIZED", title: "Authentication credentials are missing or invalid.",
        detail:
            "Provide a properly configured and signed bearer token, and make sure that it has not expired.")

    static let forbidden = Self(
        status: 403, code: "FORBIDDEN_ERROR", title: "This request is forbidden for security reasons",
        detail: "The API key in use does not allow this request")

    static let agreementsMissing = Self(
        status: 403, code: "FORBIDDEN.REQUIRED_AGREEMENTS_MISSING_OR_EXPIRED",
        title: "A required agreement is missing or has expired.")

    static let noPath = Self(
        status: 404, code: "PATH_ERROR", title: "The URL path is not valid")

    static func notFound(_ type: String, _ id: String) -> Self {
        Self(
            status: 404, code: "NOT_FOUND", title: "The specified resource does not exist",
            detail: "There is no resource of type '\(type)' with id '\(id)'")
    }

    static let methodNotAllowed = Self(
        status: 405, code: "METHOD_NOT_ALLOWED",
        title: "The request method is not valid for the resource path.")

    static let unsupportedMediaType = Self(
        status: 415, code: "UNSUPPORTED_MEDIA_TYPE", title: "The content type is not application/json")

    static func unprocessable(at pointer: String, _ detail: String) -> Self {
        Self(
            status: 422, code: "ENTITY_UNPROCESSABLE", title: "The request entity cannot be processed",
            detail: detail, source: .pointer(pointer))
    }

    static func unknownMember(at pointer: String) -> Self {
        unprocessable(at: pointer, "The member is unknown.")
    }

    static let rateLimitExceeded = Self(
        status: 429, code: "RATE_LIMIT_EXCEEDED", title: "The request rate limit has been reached.")

    /// - Parameter kind: The text after `ENTITY_ERROR.ATTRIBUTE.`.
    static func attribute(_ kind: String, at pointer: String, _ detail: String) -> Self {
        entity("ATTRIBUTE.\(kind)", at: pointer, detail)
    }

    static func relationship(_ kind: String, at pointer: String, _ detail: String) -> Self {
        entity("RELATIONSHIP.\(kind)", at: pointer, detail)
    }

    /// - Parameter kind: The text after `ENTITY_ERROR.`.
    static func entity(_ kind: String, at pointer: String, _ detail: String) -> Self {
        Self(
            status: 409, code: "ENTITY_ERROR.\(kind)",
            title: "There is a problem with the request entity", detail: detail, source: .pointer(pointer))
    }

    static func state(_ detail: String) -> Self {
        Self(
            status: 409, code: "STATE_ERROR", title: "The request cannot be fulfilled in the present state",
            detail: detail)
    }
}
