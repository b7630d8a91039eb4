import HTTPServer
import HTTPTypes
import Lookups
import Tenancy

/// The responses to pages in browsers (CORS, Fetch Standard §3.2): pages of a tenant's origins may use its publishable keys.
///
/// No response allows credentials or every origin. Responses to secret keys allow no origin.
enum CrossOrigin {
    /// The seconds for which a browser may cache the response to a preflight: Chromium's maximum. [ours]
    private static let maximumAge = 7_200

    /// The fields of requests that pages may set.
    private static let requestFields = [
        "Authorization", "Content-Type", "Doorstep-Assertion", "Doorstep-Attestation", "If-None-Match",
        "traceparent",
        "X-Request-ID",
    ].joined(separator: ", ")

    /// The fields of responses that pages may read, besides the fields that CORS always allows.
    private static let responseFields = [
        "Doorstep-Challenge", "ETag", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-ID",
    ].joined(separator: ", ")

    /// Writes the fields of a response that a page may read.
    static func write(allowing origin: String, to header: inout FieldWriter) {
        header.append(.accessControlAllowOrigin, origin)
        header.append(.accessControlExposeHeaders, responseFields)
    }

    /// The response to a preflight of an origin that may use the methods.
    static func preflight(_ methods: [HTTPRequest.Method]) -> APIResponse {
        var response = APIResponse(.noContent)
        response.headers = [
            .accessControlAllowMethods: methods.map(\.rawValue).joined(separator: ", "),
            .accessControlAllowHeaders: requestFields, .accessControlMaxAge: "\(maximumAge)",
        ]
        return response
    }
}

extension RequestFields {
    /// The origin of the request's page, if the page may read the response.
    ///
    /// Without a valid key, the tenant is unknown, as in a preflight. The origin is then allowed if any tenant lists it, so that
    /// the page can read the reason of the refusal.
    func allowedOrigin(
        at endpoint: Endpoint?, for caller: KeyHolder?, in state: LiveLookupIndex.State?
    ) -> String? {
        guard let origin, let state, endpoint?.admitsPublishableKeys == true else { return nil }
        let isAllowed =
            if let caller {
                caller.kind == .publishable && state.table(of: caller.tenant).allows(origin: origin)
            } else {
                state.table.allows(origin: origin)
            }
        return isAllowed ? origin : nil
    }
}
