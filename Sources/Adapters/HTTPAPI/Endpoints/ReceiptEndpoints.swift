import HTTPTypes
import Receipts

/// What others need to verify receipts.
struct ReceiptEndpoints: Sendable {
    let issuer: ReceiptIssuer?

    var endpoints: [Endpoint] { [Endpoint(.get, "/.well-known/jwks.json", .open(publishedKeys))] }

    /// The public keys as a JWK set (RFC 7517 §5); an empty one when no receipts are signed.
    private func publishedKeys(_ request: APIRequest) -> APIResponse {
        // Not once: the keys change when their file does.
        APIResponse(
            APIResponse.Shared(issuer?.published ?? ReceiptKeySet.publishedNone),
            as: "application/jwk-set+json",
            to: request, maximumAge: ReceiptKeySet.maximumAge)
    }
}
