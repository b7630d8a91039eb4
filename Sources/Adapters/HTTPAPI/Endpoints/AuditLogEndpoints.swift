import Administration
import HTTPTypes
import Tenancy

/// The endpoint that lists a tenant's audit log.
struct AuditLogEndpoints: Sendable {
    let log: any AuditLog

    var endpoints: [Endpoint] {
        [Endpoint(.get, "/v1/audit-log", .stored(.read, list), problems: .parameters)]
    }

    private func list(_ request: AdmittedRequest) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["after", "limit"] + AuditEntry.filters)
        let limit = try parameters.pageLength()
        let before = try parameters.cursor { Int($0) }
        var filter: [String: String] = [:]
        for name in AuditEntry.filters {
            guard let text = parameters.optional(name) else { continue }
            guard !text.utf8.contains(0) else {
                throw Problem.field(name, code: "invalid_parameter", "no item can have this value")
            }
            filter[name] = text
        }
        return try await APIResponse.searchPage(
            after: before, limit: limit, \.json, place: \.id, name: { String($0) }
        ) {
            let page = try await log.page(of: request.tenant, before: $0, limit: $1, where: filter)
            return (items: page.entries, stoppedAt: page.stoppedAt)
        }
    }
}
