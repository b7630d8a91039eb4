import AppAttest
import Confirmations
import HTTPTypes
import Invocation
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
        let parameters = try request.queryParameters(named: ["url", "source"])
        let text = try parameters.required("url")
        let url = try Problem.url(text.span)
        let source =
            try parameters.value(
                "source", "the parameter must be one of the sources in the OpenAPI document",
                InvocationSource.init(rawValue:)) ?? .unknown
        let lookup = request.table.lookUp(url)
        _ = try attestation.attestation(of: request, for: .lookup) { lookup.experience?.clip }
        if let launches = responses.launches, let launch = CountedLaunch(lookup, source: source) {
            launches.count(.lookup, launch, of: request.tenant, at: request.now)
        }
        return APIResponse(cacheable: try APIResponses.lookUp(url, lookup), for: request.request.fields)
    }

    private func nearby(_ request: AdmittedRequest) throws(Problem) -> APIResponse {
        let asked = try NearbyRequest(request.body)
        let launch = request.table.launch(by: asked.url)
        _ = try attestation.attestation(of: request, for: .lookup) { launch?.clip }
        return try APIResponses.nearby(asked, launch, in: request.table)
    }

    /// Verifies a confirmation's signature. ``confirm(_:)`` refuses an invalid body.
    private func verifyConfirmation(
        _ request: AdmittedRequest, method: HTTPRequest.Method, body: [UInt8]
    ) async throws -> AdmittedRequest {
        try await attestation.verifyingSignature(of: request, for: .confirm, method: method, body: body) {
            (try? ConfirmationRequest($0.body)).flatMap { request.table.lookUp($0.url).experience?.clip }
        }
    }

    private func confirm(_ request: AdmittedRequest) throws(Problem) -> APIResponse {
        let asked = try ConfirmationRequest(request.body)
        let lookup = request.table.lookUp(asked.url)
        // A short code may lead from one clip's URL to another clip's location.
        let clip = lookup.experience?.clip
        let attested = try attestation.attestation(of: request, for: .confirm) { clip }
        // A URL without a clip requires no attestation. Its confirmation has no receipt: any holder of the publishable key could get one.
        let isReceipted = !request.requiresAttestation || clip != nil
        var response = APIResponse(
            uncached: responses.confirm(
                asked, lookup, attested: attested, isReceipted: isReceipted, in: request.table,
                at: request.now))
        response.headers = attestation.nextChallenge(to: { clip }, after: request)
        return response
    }

    private func compose(_ request: AdmittedRequest) throws(Problem) -> APIResponse {
        APIResponse(uncached: try responses.compose(request.body, in: request.table, at: request.now))
    }
}
