import COpenAPI
import HTTPTypes

/// What the API offers, as OpenAPI 3.1.
enum OpenAPIDocument {
    static let route = Route(.get, "/openapi.json", .open { Answer(document, to: $0) })

    /// One for all responses: a client may ask for it many times before it reads.
    private static let document = Answer.Shared(bytes, isCompressed: true)

    static let bytes = Array(UnsafeBufferPointer(start: openapi_bytes(), count: openapi_length()))
}
