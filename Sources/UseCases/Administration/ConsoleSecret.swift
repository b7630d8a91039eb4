import Encodings

/// What a login link or a session's cookie holds: 256 random bits, as base64url. Stored as a digest alone.
public struct ConsoleSecret: Sendable, CustomStringConvertible, CustomReflectable {
    public let text: String

    private static let byteCount = 32

    /// Nil for what is none.
    public init?(_ text: String) {
        guard Base64URL.bytes(text)?.count == Self.byteCount else { return nil }
        self.text = text
    }

    public static func generate() -> ConsoleSecret {
        ConsoleSecret((0..<byteCount).map { _ in .random(in: .min ... .max) })
    }

    private init(_ bytes: [UInt8]) {
        text = Base64URL.text(bytes)
    }

    public var description: String { "a secret of the console" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
