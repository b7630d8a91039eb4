import Formats

/// The SHA-256 of a file, which is the image's name.
public struct ImageDigest: Sendable, Hashable, CustomStringConvertible {
    /// 32 bytes.
    public let bytes: [UInt8]

    /// - Throws: `.invalidImageDigest` for anything but 64 hexadecimal digits in either case.
    public init(_ text: String) throws(CardError) {
        guard text.utf8.count == 64, let bytes = Base16.bytes(text) else { throw .invalidImageDigest }
        self.bytes = bytes
    }

    /// - Parameter digest: 32 bytes.
    package init(digest: some Sequence<UInt8>) {
        bytes = Array(digest)
    }

    /// In lower case.
    public var description: String { Base16.text(bytes) }
}
