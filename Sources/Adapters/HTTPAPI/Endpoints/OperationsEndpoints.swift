import Encodings
import Foundation
import HTTPSyntax
import HTTPTypes
import JSON
import Lookups
import Platform

/// What monitors ask: whether the server lives, whether it can serve, and how it does; and what a proxy asks before it gets a
/// certificate.
struct OperationsEndpoints: Sendable {
    private let table: LiveLookupIndex
    private let readiness: Readiness
    /// Whether these are answered at the port of the API, where no tenant may learn of another.
    private let isPublic: Bool
    private let foreignAttestationRoot: String?
    /// So many quarantined tenants are named. [ours]
    private static let mostTenants = 100
    /// The metrics in Prometheus' text format.
    private let exposition: @Sendable () -> String

    init(_ dependencies: APIServer.Dependencies, isPublic: Bool) {
        table = dependencies.table
        readiness = dependencies.readiness
        self.isPublic = isPublic
        foreignAttestationRoot = dependencies.foreignAttestationRoot
        exposition = dependencies.metrics
    }

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/livez", .open(livez), problems: [.notFound]),
            Endpoint(.get, "/readyz", .open(readyz), problems: [.notFound, .unavailable]),
            Endpoint(.get, "/metrics", .open(metrics), problems: [.notFound]),
            Endpoint(
                .get, "/tls/allowed", .open(allowedHost),
                problems: .parameters + [.unknownHost, .notFound, .unavailable]),
        ]
    }

    /// Answers as long as the process does.
    private func livez(_ request: APIRequest) -> APIResponse {
        let build = BuildInfo.current
        let status: JSONObject = [
            "status": "ok", "version": .string(build.version), "commit": .string(build.commit),
        ]
        return APIResponse(uncached: JSONValue.object(status).serialized())
    }

    /// 200 when requests can be answered, with how old what they are answered from is; 503 when they cannot.
    private func readyz(_ request: APIRequest) throws(Problem) -> APIResponse {
        guard let state = table.current else { throw .unavailable }
        if let refusal = readiness.refusal { throw refusal }
        let age = max(0, Date().timeIntervalSince(state.asOf))
        var description: JSONObject = [
            "source": .string(state.source.rawValue),
            "asOf": .string(state.asOf.rfc3339),
            "ageSeconds": JSONValue(Int(age)),
            "experiences": JSONValue(state.table.experienceCount),
            "locations": JSONValue(state.table.locationCount),
        ]
        let quarantined = table.quarantined.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        if !isPublic, !quarantined.isEmpty {
            description["quarantinedTenants"] = .array(
                quarantined.prefix(Self.mostTenants).map { tenant, since in
                    ["tenant": .string("\(tenant)"), "since": .string(since.rfc3339)]
                })
        }
        var status: JSONObject = ["status": "ok", "table": .object(description)]
        // Whoever has that root's key can attest anything.
        if let foreignAttestationRoot { status["attestationRoot"] = .string(foreignAttestationRoot) }
        return APIResponse(uncached: JSONValue.object(status).serialized())
    }

    private func metrics(_ request: APIRequest) -> APIResponse {
        APIResponse(uncached: Array(exposition().utf8), as: "text/plain; version=0.0.4; charset=utf-8")
    }

    /// 200 for a host that a tenant has proved, so that a proxy gets certificates for no others; without a host, for none.
    ///
    /// Caddy names the host `domain`.
    private func allowedHost(_ request: APIRequest) throws(Problem) -> APIResponse {
        guard let state = table.current else { throw .unavailable }
        let parameters = try request.queryParameters(named: ["host", "domain"])
        guard let asked = parameters.optional("host") ?? parameters.optional("domain"),
            let host = Authority.host(of: asked), state.table.isProved(host: host)
        else { throw .unknownHost }
        return APIResponse(uncached: JSONValue.object(["host": .string(host)]).serialized())
    }
}
