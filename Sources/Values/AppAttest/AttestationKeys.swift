import Crypto
import Foundation

/// The keys by which a server recognizes its own challenges and tokens.
///
/// HKDF-SHA256 (RFC 5869) derives them from the server's secrets, one for each use. The first secret signs,
/// and all secrets verify. This allows a secret to be replaced while data signed with the old one is in
/// use.
public struct AttestationKeys: Sendable, CustomStringConvertible, CustomReflectable {
    /// The purpose of a key: data made for one use is not valid for another.
    enum Use: String {
        case challenge, token
    }

    private let secrets: [SymmetricKey]

    /// The minimum length of a secret in bytes.
    public static let minimumSecretLength = 32

    /// - Parameter secrets: The newest first; nil if there is none, or if one is shorter than
    ///   ``minimumSecretLength``.
    public init?(secrets: [String]) {
        guard !secrets.isEmpty, secrets.allSatisfy({ $0.utf8.count >= Self.minimumSecretLength }) else {
            return nil
        }
        self.secrets = secrets.map { SymmetricKey(data: Array($0.utf8)) }
    }

    public var description: String { "attestation keys" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// 32 bytes.
    func authenticationCode(for message: [UInt8], use: Use) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: message, using: Self.key(for: use, from: secrets[0])))
    }

    /// Compared in constant time.
    func isAuthentic(_ code: [UInt8], for message: [UInt8], use: Use) -> Bool {
        secrets.contains { secret in
            HMAC<SHA256>.isValidAuthenticationCode(
                code, authenticating: message, using: Self.key(for: use, from: secret))
        }
    }

    private static func key(for use: Use, from secret: SymmetricKey) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, salt: Array("doorstep attestation \(use.rawValue)".utf8),
            outputByteCount: 32)
    }
}
