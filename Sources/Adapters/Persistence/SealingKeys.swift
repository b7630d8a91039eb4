import Crypto
import Foundation
public import Tenancy

/// Encrypts data that the database must not be able to read: push tokens, webhook secrets, and keys of App Store Connect.
///
/// HKDF-SHA256 (RFC 5869) derives the keys from the server's secrets and the tenant's ID, so that data of one tenant cannot be
/// decrypted for another. The first secret encrypts, and all secrets decrypt. To replace a secret, first add the new secret after
/// the old one on all servers. Then move it before the old one, encrypt the stored data again, and remove the old secret.
///
/// The algorithm is AES-256-GCM (NIST SP 800-38D) with a random nonce of 96 bits. The format is a byte for the version, four bytes
/// that identify the secret, the nonce, the ciphertext and the tag.
public struct SealingKeys: Sendable {
    private struct Secret: Sendable {
        let key: SymmetricKey
        let id: [UInt8]
    }

    private let secrets: [Secret]

    private static let format: UInt8 = 1
    private static let idLength = 4
    /// The minimum number of bytes of a secret.
    public static let minimumSecretLength = 32

    /// Nil without secrets, or if a secret is shorter than ``minimumSecretLength``.
    /// - Parameter secrets: The newest secret first.
    public init?(secrets: [String]) {
        guard !secrets.isEmpty, secrets.allSatisfy({ $0.utf8.count >= Self.minimumSecretLength }) else {
            return nil
        }
        self.secrets = secrets.map { secret in
            let key = SymmetricKey(data: Data(secret.utf8))
            let id = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: key, salt: Array("doorstep seal id".utf8), outputByteCount: Self.idLength)
            return Secret(key: key, id: id.withUnsafeBytes(Array.init))
        }
    }

    /// The first bytes of all ciphertexts of the newest secret.
    var newestMark: [UInt8] { Self.mark(of: secrets[0]) }

    /// The ID of the newest secret.
    var newestID: [UInt8] { secrets[0].id }

    /// Whether one of the secrets has this ID.
    func contains(_ id: [UInt8]) -> Bool { secrets.contains { $0.id == id } }

    /// Whether the newest secret encrypted the bytes.
    public func isNewest(_ sealed: [UInt8]) -> Bool { sealed.starts(with: newestMark) }

    /// The keys of one tenant. Derive them once for all data that is encrypted or decrypted together.
    public func of(_ tenant: TenantID) -> TenantSealingKeys {
        TenantSealingKeys(
            secrets.map { secret in
                TenantSealingKeys.Keys(
                    mark: Self.mark(of: secret), sealing: Self.key(of: tenant, from: secret, for: "seal"),
                    finding: Self.key(of: tenant, from: secret, for: "digest"))
            })
    }

    private static func mark(of secret: Secret) -> [UInt8] { [format] + secret.id }

    private static func key(of tenant: TenantID, from secret: Secret, for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret.key, salt: Array("doorstep \(purpose)".utf8),
            info: Array(tenant.description.utf8), outputByteCount: 32)
    }
}
