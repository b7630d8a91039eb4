import HTTPTypes
import Hummingbird
import JSON
import NIOCore

/// What those who run the server ask it: whether it lives, whether it can serve, how it does, and what it offers.
struct OperationsRoutes {
    let isReady: @Sendable () async -> Bool
    let metrics: @Sendable () -> String

    /// Answers as long as the process does.
    @Sendable func livez(_ request: Request, _ context: APIContext) -> Response {
        Response(uncached: ["status": "ok"])
    }

    /// 200 when requests can be answered, 503 when they cannot.
    @Sendable func readyz(_ request: Request, _ context: APIContext) async throws -> Response {
        guard await isReady() else { throw Problem.unavailable }
        return Response(uncached: ["status": "ok"])
    }

    @Sendable func metrics(_ request: Request, _ context: APIContext) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: metrics())))
    }

    @Sendable func openAPI(_ request: Request, _ context: APIContext) -> Response {
        Response(json: PackageResources.openapi_json, headers: [.cacheControl: "public, max-age=300"])
    }
}
