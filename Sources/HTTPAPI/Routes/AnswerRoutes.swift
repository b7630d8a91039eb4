import Administration
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import JSON

/// The routes under `/v1`.
struct AnswerRoutes {
    let answers: APIAnswers
    let bodyTimeout: Duration

    /// How long a clip may use a location without asking again, in seconds [ours].
    private static let maximumAge = 60

    @Sendable func lookUp(_ request: Request, _ context: APIContext) async throws -> Response {
        var parameters = try QueryParameters(request)
        let url = try parameters.required("url")
        try parameters.finish()
        let answer = try await answers.lookUp(url, of: context.requirePrincipal().tenant)
        return Self.cacheable(answer, for: request)
    }

    @Sendable func confirm(_ request: Request, _ context: APIContext) async throws -> Response {
        let tenant = try context.requirePrincipal().tenant
        let body = try await request.readJSONObject(within: bodyTimeout)
        return Response(uncached: try await answers.confirm(body, of: tenant, at: Date()))
    }

    @Sendable func compose(_ request: Request, _ context: APIContext) async throws -> Response {
        let tenant = try context.requirePrincipal().tenant
        let body = try await request.readJSONObject(within: bodyTimeout)
        return Response(uncached: try await answers.compose(body, of: tenant, at: Date()))
    }

    /// The answer with its validator, or 304 when the client has it (RFC 9110 §13.1.2).
    private static func cacheable(_ answer: JSONValue, for request: Request) -> Response {
        let bytes = answer.serialized()
        let digest = SHA256.hash(data: bytes).prefix(12)
        let tag = "\"" + Data(digest).base64EncodedString() + "\""
        let headers: HTTPFields = [
            .eTag: tag, .cacheControl: "private, max-age=\(maximumAge)", .vary: "Authorization",
        ]
        guard !matches(request.headers[values: .ifNoneMatch], tag) else {
            return Response(status: .notModified, headers: headers)
        }
        return Response(json: bytes, headers: headers)
    }

    /// Weak comparison, which is the one for `If-None-Match` (RFC 9110 §13.1.2).
    private static func matches(_ fields: [String], _ tag: String) -> Bool {
        fields.lazy.flatMap { $0.split(separator: ",") }.contains { candidate in
            let candidate = candidate.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return candidate == "*" || candidate == tag || candidate == "W/" + tag
        }
    }
}
