import Formats
import Foundation
import HTTPTypes
import Lookups
import Platform

/// The endpoints for monitors (liveness, readiness, metrics) and for proxies that request a certificate.
struct OperationsEndpoints: Sendable {
    private let table: LiveLookupIndex
    private let readiness: Readiness
    /// Whether the endpoints are at the API's port. Tenants must not learn of each other there.
    private let isPublic: Bool
    private let foreignAttestationRoot: String?
    private let maximumAge: Duration?
    private let writeRefusal: @Sendable () -> String?
    /// The most quarantined tenants that a response names. [ours]
    private static let mostTenants = 100
    /// The metrics in Prometheus' text format.
    private let exposition: @Sendable () -> String

    init(_ dependencies: APIServer.Dependencies, isPublic: Bool) {
        table = dependencies.table
        readiness = dependencies.readiness
        self.isPublic = isPublic
        foreignAttestationRoot = dependencies.foreignAttestationRoot
        maximumAge = dependencies.maximumIndexAge
        writeRefusal = dependencies.writeRefusal
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

    /// Returns 200 while the process runs.
    private func livez(_ request: APIRequest) -> APIResponse {
        let build = BuildInfo.current
        let status: JSONObject = [
            "status": "ok", "version": .string(build.version), "commit": .string(build.commit),
        ]
        return APIResponse(uncached: JSONValue.object(status).serialized())
    }

    /// Returns 200 with the age of the lookup index if the server can respond to lookups, and otherwise 503.
    ///
    /// A database that refuses writes does not make the server unready: lookups work, and no other server could write.
    private func readyz(_ request: APIRequest) throws(Problem) -> APIResponse {
        guard let state = table.current else { throw .unavailable }
        if let refusal = readiness.refusal { throw refusal }
        let age = max(0, Date().timeIntervalSince(state.asOf))
        if let maximumAge, age > maximumAge / .seconds(1) {
            throw .notReady(
                "the lookup index is \(Int(age)) seconds old, older than --table-max-age: the database has not confirmed it since \(state.asOf.rfc3339)"
            )
        }
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
        let refusal = writeRefusal()
        var writes: JSONObject = ["status": refusal == nil ? "ok" : "refused"]
        writes["reason"] = refusal.map(JSONValue.string)
        var status: JSONObject = [
            "status": "ok", "table": .object(description), "writes": .object(writes),
        ]
        // Anyone who owns this root's key can attest anything.
        if let foreignAttestationRoot { status["attestationRoot"] = .string(foreignAttestationRoot) }
        return APIResponse(uncached: JSONValue.object(status).serialized())
    }

    private func metrics(_ request: APIRequest) -> APIResponse {
        var response = APIResponse(
            uncached: Array(exposition().utf8), as: "text/plain; version=0.0.4; charset=utf-8")
        response.isCompressible = true
        return response
    }

    /// Returns 200 for a host that a tenant has proved, so that a proxy requests certificates for no other hosts.
    ///
    /// Caddy's parameter for the host is `domain`.
    private func allowedHost(_ request: APIRequest) throws(Problem) -> APIResponse {
        guard let state = table.current else { throw .unavailable }
        let parameters = try request.queryParameters(named: ["host", "domain"])
        guard let asked = parameters.optional("host") ?? parameters.optional("domain"),
            let host = Authority.host(of: asked), state.table.isProved(host: host)
        else { throw .unknownHost }
        return APIResponse(uncached: JSONValue.object(["host": .string(host)]).serialized())
    }
}
