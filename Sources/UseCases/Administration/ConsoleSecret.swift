import Formats

/// The content of a sign-in link or of a session's cookie, as base64url: 256 random bits and their signature of 128 bits.
///
/// The signature distinguishes the console's own secrets from invented ones without a query. The database stores only a digest.
public struct ConsoleSecret: Sendable, CustomStringConvertible, CustomReflectable {
    public let text: String
    private let bytes: [UInt8]

    private static let randomLength = 32
    /// In bytes.
    public static let signatureLength = 16

    /// Reads a secret without verifying its signature; nil for any other length or encoding.
    public init?(_ text: String) {
        guard let bytes = Base64URL.bytes(text), bytes.count == Self.randomLength + Self.signatureLength
        else {
            return nil
        }
        self.text = text
        self.bytes = bytes
    }

    /// Makes a secret.
    /// - Parameter sign: returns the signature of the random bytes, of ``signatureLength`` bytes.
    public static func generate(signedBy sign: ([UInt8]) -> [UInt8]) -> ConsoleSecret {
        let random = (0..<randomLength).map { _ in UInt8.random(in: .min ... .max) }
        return ConsoleSecret(random + sign(random))
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        text = Base64URL.text(bytes)
    }

    public var random: [UInt8] { Array(bytes.prefix(Self.randomLength)) }
    public var signature: [UInt8] { Array(bytes.suffix(Self.signatureLength)) }

    public var description: String { "a secret of the console" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
