import Administration
import HTTPTypes
import Tenancy

/// The routes by which a tenant's keys read what it is, and change what is the tenant's own to say.
struct TenantRoutes: Sendable {
    let store: any TenantStore

    var routes: [Route] {
        [
            Route(.get, "/v1/tenant", .stored(.read, show)),
            Route(.patch, "/v1/tenant", .stored(.manage, patch)),
        ]
    }

    private func show(_ request: AdmittedRequest) async throws -> Answer {
        try request.refuseParameters()
        return try await Problem.managing {
            Answer(reading: try await store.tenant(request.tenant), for: request)
        }
    }

    private func patch(_ request: AdmittedRequest) async throws -> Answer {
        try request.refuseParameters()
        return try await Problem.managing {
            let change = try await store.change(request.tenant, by: request.actor) { tenant in
                try request.checkConditions(on: tenant)
                return try tenant.patched(by: request.body)
            }
            return change.isVisible ? Answer(.ok, showing: change.after) : .notVisible
        }
    }
}
