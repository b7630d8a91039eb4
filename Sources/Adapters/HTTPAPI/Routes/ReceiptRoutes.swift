import HTTPTypes
import NIOCore
import Receipts

/// What others need to verify receipts.
struct ReceiptRoutes: Sendable {
    let issuer: ReceiptIssuer?

    var routes: [Route] { [Route(.get, "/.well-known/jwks.json", .open(publishedKeys))] }

    /// The public keys as a JWK set (RFC 7517 §5); an empty one when no receipts are signed.
    private func publishedKeys(_ request: APIRequest) -> Answer {
        Answer(
            constant: ByteBuffer(bytes: issuer?.published ?? ReceiptKeySet.publishedNone),
            as: "application/jwk-set+json", maximumAge: ReceiptKeySet.maximumAge)
    }
}
