import Foundation

/// What a webhook's messages are signed with. Its description does not hold it.
///
/// Source: Standard Webhooks 1.0, "Signature scheme": 24 to 64 random bytes, written as `whsec_` and their Base64.
public struct WebhookSecret: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    public let bytes: [UInt8]

    private static let prefix = "whsec_"
    private static let lengths = 24...64

    /// A new one of 32 bytes.
    public init(using generator: inout some RandomNumberGenerator) {
        bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// Nil for a length that is not allowed.
    public init?(_ bytes: [UInt8]) {
        guard Self.lengths.contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// As it is shown, once.
    public var text: String { Self.prefix + Data(bytes).base64EncodedString() }

    public var description: String { "webhook secret" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
