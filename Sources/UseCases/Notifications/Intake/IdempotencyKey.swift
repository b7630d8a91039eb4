/// What a request is known again by: its sender's key, and a digest of all it says.
public struct IdempotencyKey: Sendable, Hashable {
    public let text: String
    /// SHA-256 of the request.
    public let digest: [UInt8]

    /// Nil unless the key is 1 to 255 characters of printable ASCII and the digest has 32 bytes.
    public init?(_ text: String, digest: [UInt8]) {
        guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
            digest.count == 32
        else { return nil }
        self.text = text
        self.digest = digest
    }
}
