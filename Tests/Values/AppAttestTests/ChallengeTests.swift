import Formats
import Foundation
import Tenancy
import Testing

@testable import AppAttest

@Suite struct ChallengeTests {
    private static let tenant = TenantID(UUID())
    private static let now = Date(timeIntervalSince1970: 1_795_000_000.75)
    private let keys: AttestationKeys
    private let challenge: AttestationChallenge
    private let text: String

    init() throws {
        keys = try #require(AttestationKeys(secrets: [String(repeating: "new", count: 11)]))
        challenge = AttestationChallenge(
            tenant: Self.tenant, clip: try BundleID("com.example.App.Clip"), purpose: .token)
        text = challenge.text(signedBy: keys, at: Self.now)
    }

    @Test func challengeIsValidForFiveMinutes() throws {
        #expect(text.utf8.count == 140)
        try challenge.check(text, signedBy: keys, at: Self.now)
        try challenge.check(text, signedBy: keys, at: Self.now + 299)
        // A challenge of a server whose clock is ahead.
        try challenge.check(text, signedBy: keys, at: Self.now - 299)
        for seconds in [300, 86_400, -301] as [TimeInterval] {
            #expect(throws: AttestationRefusal.challenge(.expired)) {
                try challenge.check(text, signedBy: keys, at: Self.now + seconds)
            }
        }
    }

    @Test func challengesAreUnique() {
        #expect(challenge.text(signedBy: keys, at: Self.now) != text)
    }

    @Test func challengeForOtherPurposeTenantOrClipIsRejected() throws {
        for (other, detail) in [
            (
                AttestationChallenge(tenant: Self.tenant, clip: challenge.clip, purpose: .request),
                .otherPurpose
            ),
            (
                AttestationChallenge(
                    tenant: TenantID(UUID()), clip: challenge.clip, purpose: .token), .otherTenant
            ),
            (
                AttestationChallenge(
                    tenant: Self.tenant, clip: try BundleID("com.example.Other.Clip"), purpose: .token),
                .otherClip
            ),
        ] as [(AttestationChallenge, AttestationRefusal.Challenge)] {
            #expect(throws: AttestationRefusal.challenge(detail)) {
                try other.check(text, signedBy: keys, at: Self.now)
            }
        }
    }

    @Test(arguments: ["", "A", String(repeating: "A", count: 139), String(repeating: "=", count: 140)])
    func malformedChallengeIsRejected(_ text: String) {
        #expect(throws: AttestationRefusal.challenge(.malformed)) {
            try challenge.check(text, signedBy: keys, at: Self.now)
        }
    }

    @Test func challengeWithFlippedBitIsRejected() throws {
        let bytes = try #require(Base64URL.bytes(text))
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: AttestationRefusal.challenge(.forged)) {
                try challenge.check(Base64URL.text(changed), signedBy: keys, at: Self.now)
            }
        }
    }

    @Test func challengeStaysValidWhileOldSecretIsKept() throws {
        let (old, new) = (String(repeating: "new", count: 11), String(repeating: "newer", count: 7))
        let both = try #require(AttestationKeys(secrets: [new, old]))
        try challenge.check(text, signedBy: both, at: Self.now)
        let newOnly = try #require(AttestationKeys(secrets: [new]))
        #expect(throws: AttestationRefusal.challenge(.forged)) {
            try challenge.check(text, signedBy: newOnly, at: Self.now)
        }
    }

    @Test func shortSecretsAreRejectedAndSecretsAreNotPrinted() {
        #expect(AttestationKeys(secrets: []) == nil)
        #expect(AttestationKeys(secrets: ["too short"]) == nil)
        var dumped = ""
        dump(keys, to: &dumped)
        #expect(!dumped.contains("new"))
        #expect("\(keys)" == "attestation keys")
    }
}
