import Crypto
import Formats
import Tenancy

/// The key in a request's `Authorization`, with its digest.
///
/// A connection remembers its last key, so that a key that is in every request is hashed once. The lookup index still decides for
/// each request whether the key is valid.
final class PresentedKey: Sendable {
    /// The field; nil if it cannot be a key or is too long for a key, so that a connection does not store useless bytes.
    private let field: String?
    /// The key's SHA-256; nil if the field cannot be a key.
    let digest: SHA256.Digest?

    /// - Parameter field: `Authorization`, with a bearer token.
    init(_ field: String) {
        digest = Self.digest(field.utf8.span)
        self.field = digest != nil && field.utf8.count <= Self.maximumKeptLength ? field : nil
    }

    /// Whether the field is the same. Compares all bytes of fields of the same length, so that the time reveals nothing about a
    /// key.
    func isSame(as field: String) -> Bool {
        guard let known = self.field else { return false }
        let (mine, other) = (known.utf8.span, field.utf8.span)
        guard mine.count == other.count else { return false }
        var difference: UInt8 = 0
        for index in mine.indices { difference |= mine[index] ^ other[index] }
        return difference == 0
    }

    /// Does not verify the key's checksum, because that would cost more than the lookup that it could save.
    private static func digest(_ field: Span<UInt8>) -> SHA256.Digest? {
        guard let token = field.bearerToken, APIKey.lengths.contains(token.count) else { return nil }
        return field.extracting(token).withUnsafeBytes { SHA256.hash(data: $0) }
    }

    private static let maximumKeptLength = 128
}
