import Crypto
import Foundation

/// The keys by which a server knows its own challenges and tokens again.
///
/// Derived by HKDF-SHA256 (RFC 5869) from the server's secrets, one for each use. Of several secrets the first signs, and
/// all are good for checking, so that a secret can be replaced while what the old one signed is in use.
public struct AttestationKeys: Sendable, CustomStringConvertible, CustomReflectable {
    /// What a key is for: nothing that was made for one use is good for another.
    enum Use: String {
        case challenge, token
    }

    private let secrets: [SymmetricKey]

    /// The least bytes a secret has.
    public static let minimumSecretLength = 32

    /// - Parameter secrets: The newest first; nil without any, or when one is shorter than ``minimumSecretLength``.
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
