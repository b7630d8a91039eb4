import Administration
import Formats
import Foundation
import HTTPTypes
import Tenancy

/// The endpoints with which a tenant claims domains, stores their content and has them verified.
struct DomainEndpoints: Sendable {
    /// Looks for the proof of a claim. The actor is the key's name in the audit log.
    typealias Prove =
        @Sendable (DomainName, TenantID, String, Date) async throws -> DomainVerification.Outcome

    private let domains: CatalogueEndpoints<DomainRecord>
    private let prove: Prove?
    private let verifications: TenantConcurrency

    /// The most concurrent verifications of a tenant. Each waits for servers that the tenant names. [ours]
    private static let atOnce = 4

    init(_ store: any CatalogueStore<DomainRecord>, provingBy prove: Prove?) {
        domains = CatalogueEndpoints("host", store, unknown: .unknownDomain)
        self.prove = prove
        verifications = TenantConcurrency(maximum: Self.atOnce)
    }

    var endpoints: [Endpoint] {
        domains.commonEndpoints + [
            Endpoint(.put, domains.itemPath, .stored(.manage, put), problems: domains.replacing),
            Endpoint(
                .patch, domains.itemPath, .stored(.manage, patch),
                problems: domains.replacing + [.unknownDomain]),
        ]
            + (prove.map { prove in
                [
                    Endpoint(
                        .post, "\(domains.itemPath)/verify",
                        .stored(.manage) { try await verify($0, provingBy: prove) }, isBodyOptional: true,
                        problems: domains.reading + [.domainTaken])
                ]
            } ?? [])
    }

    private func put(_ request: AdmittedRequest) async throws -> APIResponse {
        let name = try domains.key(of: request)
        let claim = DomainRecord(
            name: name, challenge: DomainRecord.makeChallenge(), claimedAt: request.now)
        return try await Problem.managing {
            try await domains.change(name, request) { current in
                try request.checkConditions(on: current)
                return try (current ?? claim).replaced(by: request.body)
            }
        }
    }

    private func patch(_ request: AdmittedRequest) async throws -> APIResponse {
        let name = try domains.key(of: request)
        return try await Problem.managing {
            try await domains.change(name, request) { current in
                guard let current else { throw AdministrationError.unknownDomain(name) }
                try request.checkConditions(on: current)
                return try current.patched(by: request.body)
            }
        }
    }

    /// Returns 200 whether or not a proof was found.
    private func verify(_ request: AdmittedRequest, provingBy prove: Prove) async throws -> APIResponse {
        let name = try domains.key(of: request)
        return try await Problem.managing {
            try JSONObjectReader(request.body).finish()
            let outcome = try await verifications.with(request.tenant) {
                try await prove(name, request.tenant, request.actor.name, request.now)
            }
            return outcome.isVisible
                ? APIResponse(uncached: JSONValue.object(outcome.json).serialized()) : .notVisible
        }
    }
}
