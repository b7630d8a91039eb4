import Crypto
import HTTPSyntax
import Tenancy

/// What a request presents as its key, and what a key is known by.
///
/// A connection keeps the last one, so that a client that sends its key with every request has it hashed once. Whose key
/// it is, and whether it still is one, is asked of the table for each request.
final class PresentedKey: Sendable {
    /// Nil for what is no key, or has more around it than a key: it would be kept for nothing, as long as its connection is open.
    private let field: String?
    /// The SHA-256; nil where the field holds nothing that could be a key.
    let digest: SHA256.Digest?

    /// - Parameter field: `Authorization`, with a bearer token.
    init(_ field: String) {
        digest = Self.digest(field.utf8.span)
        self.field = digest != nil && field.utf8.count <= Self.maximumKeptLength ? field : nil
    }

    /// Whether it is what the field presents. Looks at all of both where they are of a length: how long it takes tells nothing
    /// of a key.
    func isSame(as field: String) -> Bool {
        guard let known = self.field else { return false }
        let (mine, other) = (known.utf8.span, field.utf8.span)
        guard mine.count == other.count else { return false }
        var difference: UInt8 = 0
        for index in mine.indices { difference |= mine[index] ^ other[index] }
        return difference == 0
    }

    /// A key's checksum is for those who would have to ask a database: here it costs more than it saves.
    private static func digest(_ field: Span<UInt8>) -> SHA256.Digest? {
        guard let token = field.bearerToken, token.count == APIKey.length else { return nil }
        return field.extracting(token).withUnsafeBytes { SHA256.hash(data: $0) }
    }

    private static let maximumKeptLength = 128
}
