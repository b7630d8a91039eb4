import Formats
import HTTPTypes
import Tenancy

/// The endpoint that diagnoses an invocation URL, point by point.
struct DiagnosisEndpoints: Sendable {
    private let diagnose: APIServer.Dependencies.Diagnose
    private let running = TenantConcurrency(maximum: atOnce)

    /// The maximum number of concurrent diagnoses of a tenant. A diagnosis of a URL without an experience compares the URL with all
    /// experiences, and a live one waits for sites that the tenant names. [ours]
    private static let atOnce = 4

    init(by diagnose: @escaping APIServer.Dependencies.Diagnose) {
        self.diagnose = diagnose
    }

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .get, "/v1/diagnosis", .stored(.read, diagnose), problems: .parameters + [.missingParameter])
        ]
    }

    /// Returns 200 for every diagnosis, also if a point has failed.
    private func diagnose(_ request: AdmittedRequest) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["url", "live"])
        let url = String(decoding: try parameters.required("url"), as: UTF8.self)
        let isLive = try parameters.flag("live")
        let diagnosis = try await running.with(request.tenant) {
            try await diagnose(url, request.table, isLive)
        }
        var response = APIResponse(uncached: JSONValue.object(diagnosis).serialized())
        response.isCompressible = true
        return response
    }
}
