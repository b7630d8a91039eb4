import AppAttest
import HTTPTypes
import Invocation
import Locations
import Lookups
import Tenancy

/// The endpoints for lookup, nearby, confirmations and payloads, which respond from memory.
struct LocationEndpoints: Sendable {
    let responses: APIResponses
    let attestation: AttestationControl

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .get, "/v1/lookup", .memory(.lookup, lookUp),
                problems: .parameters + .attested + [
                    .missingParameter, .invalidURL, .doesNotMatch, .noIdentifier, .unknownIdentifier,
                ]),
            Endpoint(
                .post, "/v1/nearby", .memory(.lookup, nearby), hasLongResponses: true,
                problems: .attested + [.invalidURL, .doesNotMatch]),
            Endpoint(
                .post, "/v1/confirmations", .memory(.confirm, confirm),
                verifyingSignatureBy: verifyConfirmation,
                problems: .attested + [.invalidURL, .counterNotGreater]),
            Endpoint(
                .post, "/v1/payloads", .memory(.compose, compose),
                problems: [
                    .invalidURL, .doesNotMatch, .notBusinessSpecific, .launchTooLongAgo, .invalidNotification,
                    .payloadTooLarge,
                ]),
        ]
    }

    private func lookUp(_ request: AdmittedRequest) throws(Problem) -> APIResponse {
        let parameters = try request.queryParameters(named: ["url"])
        let text = try parameters.required("url")
        let url = try Problem.url(text.span)
        _ = try attestation.attestation(of: request, for: .lookup) { request.clip(leadingFrom: url) }
        return APIResponse(
            cacheable: try APIResponses.lookUp(url, in: request.table), for: request.request.fields)
    }

    private func nearby(_ request: AdmittedRequest) throws(Problem) -> APIResponse {
        let asked = try NearbyRequest(request.body)
        _ = try attestation.attestation(of: request, for: .lookup) {
            request.table.clip(launchedBy: asked.url)
        }
        return try APIResponses.nearby(asked, in: request.table)
    }

    /// Verifies a confirmation's signature. ``confirm(_:)`` refuses an invalid body.
    private func verifyConfirmation(
        _ request: AdmittedRequest, method: HTTPRequest.Method, body: [UInt8]
    ) async throws -> AdmittedRequest {
        try await attestation.verifyingSignature(of: request, for: .confirm, method: method, body: body) {
            (try? ConfirmationRequest($0.body)).flatMap { asked in request.clip(leadingFrom: asked.url) }
        }
    }

    private func confirm(_ request: AdmittedRequest) throws(Problem) -> APIResponse {
        let asked = try ConfirmationRequest(request.body)
        let clip = { request.clip(leadingFrom: asked.url) }
        let attested = try attestation.attestation(of: request, for: .confirm, clip)
        // A URL without a clip requires no attestation. It gets no receipt, because any holder of the publishable key could get one.
        let isReceipted = !request.requiresAttestation || clip() != nil
        var response = APIResponse(
            uncached: responses.confirm(
                asked, attested: attested, isReceipted: isReceipted, in: request.table, at: request.now))
        response.headers = attestation.nextChallenge(to: clip, after: request)
        return response
    }

    private func compose(_ request: AdmittedRequest) throws(Problem) -> APIResponse {
        APIResponse(uncached: try responses.compose(request.body, in: request.table, at: request.now))
    }
}

extension AdmittedRequest {
    /// The clip of the URL's location. A short code may lead from one clip's URL to another clip's location.
    fileprivate func clip(leadingFrom url: InvocationURL) -> BundleID? {
        table.lookUp(url).experience?.clip
    }
}
