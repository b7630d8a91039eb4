import Crypto
import Formats
import Foundation
import Invocation
import Tenancy
import Testing

@testable import AppAttest

@Suite struct TokenTests {
    private static let tenant = TenantID(UUID())
    private static let now = Date(timeIntervalSince1970: 1_795_000_000.75)
    private static let secret = String(repeating: "secret", count: 6)
    private let keys: AttestationKeys
    private let appID: AppID
    private let token: AttestationToken

    init() throws {
        keys = try #require(AttestationKeys(secrets: [Self.secret]))
        appID = try AppID("ABCDE12345.com.example.App")
        token = AttestationToken(
            tenant: Self.tenant, appID: appID, clip: try BundleID("com.example.App.Clip"),
            keyID: [UInt8](repeating: 7, count: 32),
            build: AttestedBuild(environment: .production, category: .appStore), at: Self.now)
    }

    private func read(
        _ text: String, tenant: TenantID = tenant, keys: AttestationKeys? = nil,
        after seconds: TimeInterval = 0
    ) throws(AttestationRefusal) -> AttestationToken {
        try AttestationToken(
            reading: text, of: tenant, signedBy: keys ?? self.keys, at: Self.now + seconds)
    }

    @Test func tokenRoundTrips() throws {
        #expect(try read(token.text(signedBy: keys)) == token)
        #expect(try read(token.text(signedBy: keys), after: 3_599) == token)
        #expect(token.expiresAt == Date(timeIntervalSince1970: 1_795_003_600))
    }

    /// If the device states no category, the token contains none.
    @Test(arguments: [nil] + ValidationCategory.allCases)
    func tokenCarriesBuild(_ category: ValidationCategory?) throws {
        for environment in AttestationEnvironment.allCases {
            let build = AttestedBuild(environment: environment, category: category)
            let other = AttestationToken(
                tenant: Self.tenant, appID: appID, clip: token.clip, keyID: token.keyID, build: build,
                at: Self.now)
            #expect(try read(other.text(signedBy: keys)).build == build)
        }
    }

    /// By RFC 7515 §3.1 and RFC 7518 §3.2, without our reader.
    @Test func tokenIsJSONWebToken() throws {
        let parts = token.text(signedBy: keys).split(separator: ".").map(String.init)
        #expect(parts.count == 3)
        let header = try #require(Base64URL.bytes(parts[0]))
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"HS256","typ":"doorstep-attest+jwt"}"#)
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: Array(Self.secret.utf8)),
            salt: Array("doorstep attestation token".utf8), outputByteCount: 32)
        let code = HMAC<SHA256>.authenticationCode(for: Array("\(parts[0]).\(parts[1])".utf8), using: key)
        #expect(Array(code) == Base64URL.bytes(parts[2]))
    }

    @Test func expiredForgedOrForeignTokenIsRejected() throws {
        let text = token.text(signedBy: keys)
        #expect(throws: AttestationRefusal.token(.expired)) { try read(text, after: 3_600) }
        #expect(throws: AttestationRefusal.token(.otherTenant)) { try read(text, tenant: TenantID(UUID())) }
        #expect(throws: AttestationRefusal.token(.otherApp)) {
            try token.check(AppID("ABCDE12345.com.example.Other"))
        }
        try token.check(appID)
        let others = try #require(AttestationKeys(secrets: [String(repeating: "other", count: 8)]))
        #expect(throws: AttestationRefusal.token(.forged)) { try read(text, keys: others) }
        let both = try #require(
            AttestationKeys(secrets: [String(repeating: "other", count: 8), Self.secret]))
        #expect(try read(text, keys: both) == token)
    }

    @Test(arguments: ["", ".", "..", "a.b.c", "a.b.c.d", String(repeating: "a", count: 2_049)])
    func malformedTokenIsRejected(_ text: String) {
        #expect(throws: AttestationRefusal.token(.malformed)) { try read(text) }
    }

    /// RFC 8725 §3.1: the sender of a token must not choose the algorithm that verifies it.
    @Test(arguments: [#"{"alg":"none"}"#, #"{"alg":"HS256","typ":"JWT"}"#]) func tokenHeaderIsNotTrusted(
        _ header: String
    ) {
        let text = token.text(signedBy: keys)
        let other = Base64URL.text(Array(header.utf8)) + text.drop { $0 != "." }
        #expect(throws: AttestationRefusal.token(.malformed)) { try read(other) }
        #expect(throws: AttestationRefusal.self) { try read(other.prefix { $0 != "." } + "..") }
    }

    @Test func tokenWithChangedCharacterIsRejected() {
        let text = Array(token.text(signedBy: keys).utf8)
        for index in text.indices {
            var changed = text
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(throws: AttestationRefusal.self) { try read(String(decoding: changed, as: UTF8.self)) }
        }
    }
}
