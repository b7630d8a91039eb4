import Crypto
import Encodings
import Notifications

extension IdempotencyKey {
    /// SHA-256 of the request, which is all that is stored of it.
    var digest: [UInt8] { Array(SHA256.hash(data: request)) }

    /// What is stored of the key: with its sender, where it is known to that alone.
    var name: String {
        sender.map { "\($0) " + Base16.text(Array(SHA256.hash(data: Array(text.utf8)))) } ?? text
    }
}
