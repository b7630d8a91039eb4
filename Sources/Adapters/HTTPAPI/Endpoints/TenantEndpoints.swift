import Administration
import Formats
import HTTPTypes
import Invocation
import Lookups
import Tenancy

/// The endpoints for the tenant itself and for the request's key.
struct TenantEndpoints: Sendable {
    let store: any TenantStore

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/key", .anySecretKey(showKey), problems: .parameters),
            Endpoint(.get, "/v1/tenant", .stored(.read, show), problems: .parameters),
            Endpoint(
                .patch, "/v1/tenant", .stored(.manage, patch), problems: .parameters + [.preconditionFailed]),
        ]
    }

    private func show(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        return try await Problem.managing {
            APIResponse(reading: try await store.tenant(request.tenant), for: request)
        }
    }

    /// Returns the caller's key and tenant, so that a program can read its own configuration. Any scope suffices.
    private func showKey(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        return try await Problem.managing {
            let tenant = try await store.tenant(request.tenant)
            let caller = request.caller
            let json: JSONObject = [
                "id": .string(caller.key.description), "kind": .string(caller.kind.rawValue),
                "scopes": .array(caller.scopes.list.map { .string($0.rawValue) }),
                "locations": caller.locations.map { .array($0.map(\.text).sorted().map(JSONValue.string)) }
                    ?? .null,
                "tenant": [
                    "id": .string(tenant.id.description), "slug": .string(tenant.slug.text),
                    "name": .string(tenant.name.text),
                ],
            ]
            return APIResponse(uncached: JSONValue.object(json).serialized())
        }
    }

    private func patch(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        return try await Problem.managing {
            let change = try await store.change(request.tenant, by: request.actor.name) { tenant in
                try request.checkConditions(on: tenant)
                return try tenant.patched(by: request.body)
            }
            return change.isVisible ? APIResponse(.ok, showing: change.after) : .notVisible
        }
    }
}
