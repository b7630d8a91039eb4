import Encodings
import Foundation
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import Routing

/// What those who run the server ask it: whether it lives, whether it can serve, how it does, and what it offers.
struct OperationsRoutes {
    let table: LiveRoutingTable
    let metrics: @Sendable () -> String

    /// Those that monitors ask.
    var routes: [Route] {
        [
            Route(.get, "/livez", livez), Route(.get, "/readyz", readyz), Route(.get, "/metrics", metrics),
        ]
    }

    /// Keeps these from hosts that tenants have proved.
    var hiding: ProvedHostMiddleware {
        ProvedHostMiddleware(hiddenPaths: Set(routes.map(\.path)), table: table)
    }

    /// Answers as long as the process does.
    @Sendable func livez(_ request: Request, _ context: APIContext) -> Response {
        Response(uncached: ["status": "ok"])
    }

    /// 200 when requests can be answered, with how old what they are answered from is; 503 when they cannot.
    @Sendable func readyz(_ request: Request, _ context: APIContext) throws -> Response {
        guard let state = table.current else { throw Problem.unavailable }
        let age = max(0, Date().timeIntervalSince(state.asOf))
        return Response(uncached: [
            "status": "ok",
            "table": [
                "source": .string(state.source.rawValue),
                "asOf": .string(state.asOf.rfc3339),
                "ageSeconds": JSONValue(Int(age)),
                "experiences": JSONValue(state.table.experienceCount),
                "locations": JSONValue(state.table.locationCount),
            ],
        ])
    }

    @Sendable func metrics(_ request: Request, _ context: APIContext) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: metrics())))
    }

    @Sendable func openAPI(_ request: Request, _ context: APIContext) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "public, max-age=300"],
            body: ResponseBody(byteBuffer: Self.document))
    }

    /// One for all answers: a client may ask for it many times before it reads.
    private static let document = ByteBuffer(bytes: PackageResources.openapi_json)
}
