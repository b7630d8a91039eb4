import Administration
import Formats
import Foundation
import HTTPTypes
import Tenancy

/// The endpoint that lists refused and failed requests of a tenant's keys.
struct RequestLogEndpoints: Sendable {
    let log: any AuditLog

    var endpoints: [Endpoint] {
        [Endpoint(.get, "/v1/requests", .stored(.read, list), problems: .parameters)]
    }

    private func list(_ request: AdmittedRequest) async throws -> APIResponse {
        let parameters = try request.queryParameters(
            named: ["requestID", "status", "code", "key", "after", "limit"])
        let limit = try parameters.pageLength()
        let last = try parameters.cursor { UUID(text: $0) }
        let selection = RefusedRequestSelection(
            requestID: try parameters.value("requestID", "the parameter must be a request ID") {
                $0.utf8.span.isRequestID ? $0 : nil
            },
            status: try parameters.value("status", "the parameter must be a status from 400 to 599") {
                Int($0).flatMap { (400...599).contains($0) ? $0 : nil }
            },
            code: try parameters.value("code", "the parameter must be the code of a problem") {
                ProblemType.byCode[$0] == nil ? nil : $0
            },
            key: try parameters.value("key", "the parameter must be the ID of a key") {
                UUID(text: $0).map(KeyID.init)
            })
        return try await APIResponse.page(
            after: last, limit: limit, \.json, place: \.id, name: { $0.uuidString.lowercased() }
        ) {
            try await log.refusedRequests(of: request.tenant, selection, before: $0, limit: $1)
        }
    }
}
