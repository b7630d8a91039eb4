import HTTPTypes
import NIOCore

/// What the API offers, as OpenAPI 3.1.
enum OpenAPIDocument {
    static let route = Route(
        .get, "/openapi.json", .open { _ in Answer(constant: bytes, as: "application/json") })

    /// One for all answers: a client may ask for it many times before it reads.
    private static let bytes = ByteBuffer(bytes: PackageResources.openapi_json)
}
