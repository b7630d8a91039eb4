import HTTPTypes
import Hummingbird
import NIOCore
import Receipts

/// What others need to verify receipts.
struct ReceiptRoutes {
    let issuer: ReceiptIssuer?

    /// The public keys as a JWK set (RFC 7517 §5); an empty one when no receipts are signed.
    @Sendable func publishedKeys(_ request: Request, _ context: APIContext) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "application/jwk-set+json",
                .cacheControl: "public, max-age=\(ReceiptKeySet.maximumAge)",
            ],
            body: ResponseBody(
                byteBuffer: ByteBuffer(bytes: issuer?.published ?? ReceiptKeySet.publishedNone)))
    }
}
