import HTTPTypes
import Receipts

/// The endpoint for the public keys that verify receipts.
struct ReceiptEndpoints: Sendable {
    let issuer: ReceiptIssuer?

    var endpoints: [Endpoint] { [Endpoint(.get, "/.well-known/jwks.json", .open(publishedKeys))] }

    /// Returns the public keys as a JWK set (RFC 7517 §5), which is empty if the server signs no receipts.
    private func publishedKeys(_ request: APIRequest) -> APIResponse {
        // The set is read for each request, because the keys change with their file.
        APIResponse(
            APIResponse.Shared(issuer?.published ?? ReceiptKeySet.publishedNone),
            as: "application/jwk-set+json",
            to: request, maximumAge: ReceiptKeySet.maximumAge)
    }
}
