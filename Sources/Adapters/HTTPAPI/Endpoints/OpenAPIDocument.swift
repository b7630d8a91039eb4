import COpenAPI
import Formats
import HTTPTypes

/// The API's OpenAPI 3.1 document.
enum OpenAPIDocument {
    static let endpoint = Endpoint(.get, "/openapi.json", .open { APIResponse(document, to: $0) })

    /// The body that all responses share. A client may request it many times before it reads.
    private static let document = APIResponse.Shared(bytes, isCompressed: true)

    static let bytes = Array(UnsafeBufferPointer(start: openapi_bytes(), count: openapi_length()))
}

/// The response at `/`, with links for developers.
enum ServiceIndex {
    static let endpoint = Endpoint(.get, "/", .open { APIResponse(index, to: $0) })

    private static let index = APIResponse.Shared(
        JSONValue.object([
            "service": "Doorstep", "guide": "Sources/Guide/README.md in Doorstep's source code",
            "openapi": "/openapi.json", "problems": "/problems",
        ]).serialized())
}
