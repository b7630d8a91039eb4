import Crypto
import Encodings
public import Foundation
public import Tenancy

/// What a server gives an App Clip to sign, so that what it signs is fresh and for one purpose.
///
/// No server keeps it: it says itself what it is for, and a server knows its own by a code. Nor does it end when it was
/// used: an attestation is taken once by the row of its key, an assertion by its counter. [ours]
public struct AttestationChallenge: Sendable, Hashable {
    public enum Purpose: UInt8, Sendable, Hashable, CaseIterable {
        /// To attest a key.
        case attestation = 1
        /// To ask for a token.
        case token = 2
        /// To sign a request.
        case request = 3
    }

    public let tenant: TenantID
    public let clip: BundleID
    public let purpose: Purpose

    /// For how many seconds a challenge is good. [ours]
    public static let lifetime = 300

    public init(tenant: TenantID, clip: BundleID, purpose: Purpose) {
        self.tenant = tenant
        self.clip = clip
        self.purpose = purpose
    }

    /// Makes the challenge as a text: 140 characters of base64url.
    public func text(
        signedBy keys: AttestationKeys, at now: Date, using generator: inout some RandomNumberGenerator
    ) -> String {
        var bytes: [UInt8] = []
        for _ in 0..<Self.randomLength { bytes.append(.random(in: .min ... .max, using: &generator)) }
        bytes += Self.bigEndian(UInt64(max(0, now.timeIntervalSince1970)))
        bytes += tenantBytes + clipHash
        bytes.append(purpose.rawValue)
        return Base64URL.text(bytes + keys.authenticationCode(for: bytes, use: .challenge))
    }

    /// Checks that a text is a challenge of this kind that still holds. Names what is wrong only of those that the server
    /// made.
    public func check(
        _ text: String, signedBy keys: AttestationKeys, at now: Date
    ) throws(AttestationRefusal) {
        guard text.utf8.count == Self.textLength, let bytes = Base64URL.bytes(text) else {
            throw .challenge(.malformed)
        }
        let signed = Array(bytes.dropLast(Self.codeLength))
        guard keys.isAuthentic(Array(bytes.suffix(Self.codeLength)), for: signed, use: .challenge) else {
            throw .challenge(.forged)
        }
        var fields = signed[Self.randomLength...]
        let made = fields.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        fields = fields.dropFirst(8)
        guard fields.last == purpose.rawValue else { throw .challenge(.otherPurpose) }
        guard fields.prefix(16).elementsEqual(tenantBytes) else { throw .challenge(.otherTenant) }
        guard fields.dropFirst(16).dropLast().elementsEqual(clipHash) else { throw .challenge(.otherClip) }
        // One of the future is another server's, whose clock is ahead: it is no better than an old one.
        guard abs(now.timeIntervalSince1970 - Double(made)) < Double(Self.lifetime) else {
            throw .challenge(.expired)
        }
    }

    private static let randomLength = 16
    private static let codeLength = 32
    /// Random bytes, seconds since 1970, tenant, SHA-256 of the clip's bundle ID, purpose, code: 105 bytes.
    private static let textLength = (randomLength + 8 + 16 + 32 + 1 + codeLength) / 3 * 4

    private var tenantBytes: [UInt8] { withUnsafeBytes(of: tenant.uuid.uuid, Array.init) }
    private var clipHash: [UInt8] { Array(SHA256.hash(data: Array(clip.text.utf8))) }

    private static func bigEndian(_ number: UInt64) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian, Array.init)
    }
}
