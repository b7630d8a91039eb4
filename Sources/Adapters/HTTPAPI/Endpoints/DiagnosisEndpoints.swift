import HTTPTypes
import JSON
import Tenancy

/// Where a tenant is told point by point what becomes of an invocation URL.
struct DiagnosisEndpoints: Sendable {
    private let diagnose: APIServer.Dependencies.Diagnose
    private let questions = TenantConcurrency(maximum: atOnce)

    /// How many diagnoses a tenant has under way that wait for sites that it names. [ours]
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

    /// 200 whatever is found: a point that has failed is an answer.
    private func diagnose(_ request: AdmittedRequest) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["url", "live"])
        let url = String(decoding: try parameters.required("url"), as: UTF8.self)
        let diagnosis =
            try parameters.flag("live")
            ? try await questions.with(request.tenant) { try await diagnose(url, request.table, true) }
            : try await diagnose(url, request.table, false)
        return APIResponse(uncached: JSONValue.object(diagnosis).serialized())
    }
}
