import Foundation

/// The ID that APNs gives a channel: bytes in Base64.
public struct ChannelID: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// The maximum number of bytes, as in the column [ours].
    static let lengths = 1...128

    /// Nil for a text that is not Base64 (RFC 4648 §4) or longer than 128 bytes.
    public init?(_ text: String) {
        guard Self.lengths.contains(text.utf8.count), Data(base64Encoded: text) != nil else { return nil }
        self.text = text
    }

    /// From its form for paths: Base64 of RFC 4648 §5, padded or not.
    public init?(pathComponent: String) {
        let text = pathComponent.replacing("=", with: "").replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        self.init(text + padding)
    }

    /// The ID without characters that have a meaning in URLs (RFC 4648 §5).
    public var pathComponent: String {
        text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    public var description: String { text }
}
