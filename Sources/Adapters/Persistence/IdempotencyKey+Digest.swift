import Crypto
import Notifications

extension IdempotencyKey {
    /// SHA-256 of the request, which is all that is stored of it.
    var digest: [UInt8] { Array(SHA256.hash(data: request)) }
}
