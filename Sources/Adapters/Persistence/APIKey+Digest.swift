import Crypto
import Tenancy

extension APIKey {
    /// SHA-256 of the key's text. The text itself is never stored.
    var digest: [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }
}
