import Crypto
import Foundation
public import Tenancy

/// Seals what the database must hold and not be able to read: push tokens, and the secrets of webhooks.
///
/// The keys are derived by HKDF-SHA256 (RFC 5869) from the server's secrets and the tenant's ID, so that nothing sealed
/// for one tenant opens for another. Of several secrets the first seals, and all open: a secret is replaced by putting a
/// new one before it, sealing again what is stored, and taking it away.
///
/// Sealed is AES-256-GCM (NIST SP 800-38D) with a random nonce of 96 bits: a byte for the format, four that tell the secret,
/// then nonce, ciphertext and tag.
public struct SealingKeys: Sendable {
    private struct Secret: Sendable {
        let key: SymmetricKey
        let id: [UInt8]
    }

    private let secrets: [Secret]

    private static let format: UInt8 = 1
    private static let idLength = 4
    /// The least bytes a secret has.
    public static let minimumSecretLength = 32

    /// - Parameter secrets: the newest first; nil without any, or when one is shorter than ``minimumSecretLength``.
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

    /// How everything begins that the newest secret sealed.
    var newestMark: [UInt8] { Self.mark(of: secrets[0]) }

    /// Whether the newest secret sealed it.
    public func isNewest(_ sealed: [UInt8]) -> Bool { sealed.starts(with: newestMark) }

    /// The keys of one tenant: to be derived once for all that is sealed or opened together.
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

/// Seals and opens what is one tenant's; see ``SealingKeys``.
public struct TenantSealingKeys: Sendable {
    struct Keys: Sendable {
        /// How begins what they sealed.
        let mark: [UInt8]
        let sealing: SymmetricKey
        let finding: SymmetricKey
    }

    /// The newest first.
    private let keys: [Keys]

    fileprivate init(_ keys: [Keys]) {
        self.keys = keys
    }

    /// Seals bytes for one place; they open for no other.
    /// - Parameter place: What they belong to, such as the columns of a primary key.
    public func seal(_ bytes: [UInt8], at place: [String]) throws -> [UInt8] {
        let newest = keys[0]
        let box = try AES.GCM.seal(bytes, using: newest.sealing, authenticating: Self.authenticated(place))
        return newest.mark + Array(box.combined ?? Data())
    }

    /// What was sealed; nil when it was sealed for another place, by a secret that is not known, or was changed.
    public func open(_ sealed: [UInt8], at place: [String]) -> [UInt8]? {
        guard let keys = keys.first(where: { sealed.starts(with: $0.mark) }),
            let box = try? AES.GCM.SealedBox(combined: sealed.dropFirst(keys.mark.count)),
            let bytes = try? AES.GCM.open(
                box, using: keys.sealing, authenticating: Self.authenticated(place))
        else { return nil }
        return Array(bytes)
    }

    /// What bytes are found by: an HMAC-SHA256 of 32 bytes for each secret, the newest first.
    public func digests(of bytes: [UInt8]) -> [[UInt8]] {
        keys.map { Array(HMAC<SHA256>.authenticationCode(for: bytes, using: $0.finding)) }
    }

    /// Each part with its length, so that no two places read alike.
    private static func authenticated(_ place: [String]) -> [UInt8] {
        place.flatMap { Array("\($0.utf8.count):".utf8) + Array($0.utf8) }
    }
}
