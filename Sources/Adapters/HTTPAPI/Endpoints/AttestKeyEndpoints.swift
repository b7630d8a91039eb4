import Administration
import Formats
import Foundation
import HTTPTypes
import Tenancy

/// The endpoints that list and revoke a tenant's keys of App Attest.
struct AttestKeyEndpoints: Sendable {
    let store: any AttestKeyStore

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/attest-keys", .stored(.read, list), problems: .parameters),
            Endpoint(
                .delete, "/v1/attest-keys/{id}", .stored(.manage, revoke),
                problems: .parameters + [.unknownAttestKey]),
        ]
    }

    private func list(_ request: AdmittedRequest) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["after", "limit"])
        let limit = try parameters.pageLength()
        let after = try parameters.cursor { AttestKeyID($0) }
        return try await APIResponse.page(
            after: after, limit: limit, \.json, place: \.id, name: \.description
        ) { try await store.keys(of: request.tenant, after: $0, limit: $1) }
    }

    private func revoke(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        guard let text = request.parameter("id").removingPercentEncoding, let id = AttestKeyID(text) else {
            throw Problem(.notFound, AdministrationError.unknownAttestKey)
        }
        return try await Problem.managing {
            let isVisible = try await store.revoke(id, of: request.tenant, by: request.actor.name)
            return isVisible ? APIResponse(.noContent) : .notVisible
        }
    }
}
