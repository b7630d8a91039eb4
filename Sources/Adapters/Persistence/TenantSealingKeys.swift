import Crypto
import Foundation

/// Encrypts and decrypts the data of one tenant; see ``SealingKeys``.
public struct TenantSealingKeys: Sendable {
    struct Keys: Sendable {
        /// The prefixes of the secrets' ciphertexts.
        let mark: [UInt8]
        let sealing: SymmetricKey
        let finding: SymmetricKey
    }

    /// The keys, the newest first.
    private let keys: [Keys]

    init(_ keys: [Keys]) {
        self.keys = keys
    }

    /// Encrypts bytes for one position. They cannot be decrypted for another position.
    /// - Parameter place: The position of the data, such as the columns of a primary key.
    public func seal(_ bytes: [UInt8], at place: [String]) throws -> [UInt8] {
        let newest = keys[0]
        let box = try AES.GCM.seal(bytes, using: newest.sealing, authenticating: Self.authenticated(place))
        return newest.mark + Array(box.combined ?? Data())
    }

    /// The plaintext; nil if the ciphertext is from another position or an unknown secret, or was changed.
    public func open(_ sealed: [UInt8], at place: [String]) -> [UInt8]? {
        guard let keys = keys.first(where: { sealed.starts(with: $0.mark) }),
            let box = try? AES.GCM.SealedBox(combined: sealed.dropFirst(keys.mark.count)),
            let bytes = try? AES.GCM.open(
                box, using: keys.sealing, authenticating: Self.authenticated(place))
        else { return nil }
        return Array(bytes)
    }

    /// The digests by which encrypted bytes are found: an HMAC-SHA256 of 32 bytes for each secret, the newest secret first.
    public func digests(of bytes: [UInt8]) -> [[UInt8]] {
        keys.map { Array(HMAC<SHA256>.authenticationCode(for: bytes, using: $0.finding)) }
    }

    /// Each part is preceded by its length, so that no two positions have the same bytes.
    private static func authenticated(_ place: [String]) -> [UInt8] {
        place.flatMap { Array("\($0.utf8.count):".utf8) + Array($0.utf8) }
    }
}
