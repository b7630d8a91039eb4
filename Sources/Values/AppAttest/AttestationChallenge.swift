import Crypto
import Formats
public import Foundation
public import Tenancy

/// A challenge for an App Clip to sign, so that the signed data is fresh and for one purpose.
///
/// No server stores it: the challenge contains its purpose, and a server recognizes its own by a code. Its
/// use does not end it: the row of a key accepts an attestation once, the key's counter accepts an
/// assertion once. [ours]
public struct AttestationChallenge: Sendable, Hashable {
    public enum Purpose: UInt8, Sendable, Hashable, CaseIterable {
        /// To attest a key.
        case attestation = 1
        /// To request a token.
        case token = 2
        /// To sign a request.
        case request = 3
    }

    public let tenant: TenantID
    public let clip: BundleID
    public let purpose: Purpose

    /// The number of seconds for which a challenge is valid. [ours]
    public static let lifetime = 300

    public init(tenant: TenantID, clip: BundleID, purpose: Purpose) {
        self.tenant = tenant
        self.clip = clip
        self.purpose = purpose
    }

    /// Creates the challenge as a text: 140 characters of base64url.
    public func text(signedBy keys: AttestationKeys, at now: Date) -> String {
        var bytes: [UInt8] = (0..<Self.randomLength).map { _ in .random(in: .min ... .max) }
        bytes += Self.bigEndian(UInt64(max(0, now.timeIntervalSince1970)))
        bytes += Self.bytes(tenant) + Self.hash(clip)
        bytes.append(purpose.rawValue)
        return Base64URL.text(bytes + keys.authenticationCode(for: bytes, use: .challenge))
    }

    /// Checks that a text is this challenge and is still valid. Reports the exact defect only for
    /// challenges that the server created.
    public func check(
        _ text: String, signedBy keys: AttestationKeys, at now: Date
    ) throws(AttestationRefusal) {
        try ReturnedChallenge(text, for: purpose, of: tenant, signedBy: keys, at: now).check(clip: clip)
    }

    fileprivate static let randomLength = 16
    fileprivate static let codeLength = 32
    /// Random bytes, seconds since 1970, tenant, SHA-256 of the clip's bundle ID, purpose, code: 105 bytes.
    fileprivate static let textLength = (randomLength + 8 + 16 + 32 + 1 + codeLength) / 3 * 4

    fileprivate static func bytes(_ tenant: TenantID) -> [UInt8] {
        withUnsafeBytes(of: tenant.uuid.uuid, Array.init)
    }

    fileprivate static func hash(_ clip: BundleID) -> [UInt8] {
        Array(SHA256.hash(data: Array(clip.text.utf8)))
    }

    private static func bigEndian(_ number: UInt64) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian, Array.init)
    }
}

/// A returned challenge that the server created recently, for one purpose of one tenant. The caller must
/// still check its clip: it may first have to look up the signing key's clip.
public struct ReturnedChallenge: Sendable {
    private let clipHash: [UInt8]

    /// Reports the exact defect only for challenges that the server created.
    public init(
        _ text: String, for purpose: AttestationChallenge.Purpose, of tenant: TenantID,
        signedBy keys: AttestationKeys, at now: Date
    ) throws(AttestationRefusal) {
        guard text.utf8.count == AttestationChallenge.textLength, let bytes = Base64URL.bytes(text) else {
            throw .challenge(.malformed)
        }
        let signed = Array(bytes.dropLast(AttestationChallenge.codeLength))
        let code = Array(bytes.suffix(AttestationChallenge.codeLength))
        guard keys.isAuthentic(code, for: signed, use: .challenge) else { throw .challenge(.forged) }
        var fields = signed[AttestationChallenge.randomLength...]
        let made = fields.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        fields = fields.dropFirst(8)
        guard fields.last == purpose.rawValue else { throw .challenge(.otherPurpose) }
        guard fields.prefix(16).elementsEqual(AttestationChallenge.bytes(tenant)) else {
            throw .challenge(.otherTenant)
        }
        clipHash = Array(fields.dropFirst(16).dropLast())
        // A challenge from the future comes from another server whose clock is ahead: it counts as much as
        // an old one.
        guard abs(now.timeIntervalSince1970 - Double(made)) < Double(AttestationChallenge.lifetime) else {
            throw .challenge(.expired)
        }
    }

    public func check(clip: BundleID) throws(AttestationRefusal) {
        guard clipHash == AttestationChallenge.hash(clip) else { throw .challenge(.otherClip) }
    }
}
