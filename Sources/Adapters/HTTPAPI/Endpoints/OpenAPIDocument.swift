import COpenAPI
import HTTPTypes

/// What the API offers, as OpenAPI 3.1.
enum OpenAPIDocument {
    static let endpoint = Endpoint(.get, "/openapi.json", .open { APIResponse(document, to: $0) })

    /// One for all responses: a client may ask for it many times before it reads.
    private static let document = APIResponse.Shared(bytes, isCompressed: true)

    static let bytes = Array(UnsafeBufferPointer(start: openapi_bytes(), count: openapi_length()))
}
