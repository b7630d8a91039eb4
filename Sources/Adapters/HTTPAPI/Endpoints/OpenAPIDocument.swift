import COpenAPI
import HTTPTypes

/// The API's OpenAPI 3.1 document.
enum OpenAPIDocument {
    static let endpoint = Endpoint(.get, "/openapi.json", .open { APIResponse(document, to: $0) })

    /// The body that all responses share: a client may request it many times before it reads.
    private static let document = APIResponse.Shared(bytes, isCompressed: true)

    static let bytes = Array(UnsafeBufferPointer(start: openapi_bytes(), count: openapi_length()))
}
