import Administration
import HTTPTypes
import Tenancy

/// Where a tenant reads who changed what.
struct AuditLogRoutes: Sendable {
    let log: any AuditLog

    var routes: [Route] { [Route(.get, "/v1/audit-log", .stored(.read, list))] }

    private func list(_ request: AdmittedRequest) async throws -> Answer {
        let parameters = try QueryParameters(
            request.query.utf8.span, named: ["after", "limit"] + AuditEntry.filters)
        let limit = try parameters.pageLength()
        let before = try parameters.cursor { Int($0) }
        var filter: [String: String] = [:]
        for name in AuditEntry.filters {
            guard let text = parameters.optional(name) else { continue }
            guard !text.utf8.contains(0) else {
                throw Problem.noSuchValue(name, "nothing can have this value")
            }
            filter[name] = text
        }
        let entries = try await log.entries(
            of: request.tenant, before: before, limit: limit + 1, where: filter)
        return Answer(page: entries, limit: limit, \.json) { String($0.id) }
    }
}
