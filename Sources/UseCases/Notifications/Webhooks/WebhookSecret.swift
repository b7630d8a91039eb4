import Foundation

/// The secret that signs a webhook's messages. The description does not contain it.
///
/// Source: Standard Webhooks 1.0, "Signature scheme": 24 to 64 random bytes, written as `whsec_` and their Base64.
public struct WebhookSecret: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    public let bytes: [UInt8]

    private static let prefix = "whsec_"
    private static let lengths = 24...64

    /// Makes a new one of 32 bytes.
    public static func generate() -> WebhookSecret {
        WebhookSecret(bytes: (0..<32).map { _ in .random(in: .min ... .max) })
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Nil for a length that is not allowed.
    public init?(_ bytes: [UInt8]) {
        guard Self.lengths.contains(bytes.count) else { return nil }
        self.init(bytes: bytes)
    }

    /// Nil for a text that is not the ``text`` of a secret.
    public init?(text: String) {
        guard text.hasPrefix(Self.prefix),
            let data = Data(base64Encoded: String(text.dropFirst(Self.prefix.count)))
        else { return nil }
        self.init(Array(data))
    }

    /// The form that is shown once.
    public var text: String { Self.prefix + Data(bytes).base64EncodedString() }

    public var description: String { "webhook secret" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
