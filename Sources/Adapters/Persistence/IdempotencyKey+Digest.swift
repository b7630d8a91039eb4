import Crypto
import Formats
import Invocation
import Notifications

extension IdempotencyKey {
    /// SHA-256 of the request. The request itself is not stored.
    var digest: [UInt8] { Array(SHA256.hash(data: request)) }

    /// The stored digest of the key, including the locations to which its use is restricted.
    var name: String {
        guard let locations else { return text }
        let places = JSONValue.array(locations.map(\.text).sorted().map(JSONValue.string))
        return Self.hash(places.serialized()) + " " + Self.hash(Array(text.utf8))
    }

    private static func hash(_ bytes: [UInt8]) -> String { Base16.text(Array(SHA256.hash(data: bytes))) }
}
