import Crypto
import Tenancy

extension APIKey {
    /// SHA-256 of the key's text, which is all that is ever stored of it.
    var digest: [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }
}
