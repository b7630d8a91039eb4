import COpenAPI
import HTTPTypes
import NIOCore

/// What the API offers, as OpenAPI 3.1.
enum OpenAPIDocument {
    static let route = Route(
        .get, "/openapi.json", .open { _ in Answer(constant: bytes, as: "application/json") })

    /// One for all answers: a client may ask for it many times before it reads.
    static let bytes = ByteBuffer(
        bytes: UnsafeBufferPointer(start: openapi_bytes(), count: openapi_length()))
}
