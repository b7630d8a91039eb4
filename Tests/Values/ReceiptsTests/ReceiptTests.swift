import Formats
import Foundation
import Invocation
import Tenancy
import Testing
import ValueFixtures

@testable import Receipts

/// The tests verify receipts with the published keys only, as others do.
@Suite struct ReceiptTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_059)

    @Test(arguments: Receipt.Outcome.allCases, Receipt.Evidence.allCases)
    func signedReceiptRoundTripsUntilExpiry(outcome: Receipt.Outcome, evidence: Receipt.Evidence) throws {
        let issuer = ReceiptIssuer("doorstep", keys: ReceiptKeySet(at: Self.now))
        for location in [nil, try LocationIdentifier("restaurant_a")] {
            let receipt = Receipt(
                tenant: TenantID(number: 1), location: location, outcome: outcome, evidence: evidence,
                isCertain: location != nil, isSimulated: location.map { _ in evidence == .coordinate },
                minute: Self.now - 59)
            let token = issuer.sign(receipt, at: Self.now)
            #expect(try issuer.verify(token, for: receipt.tenant, at: Self.now + 599) == receipt)
            #expect(throws: ReceiptDefect.expired) {
                try issuer.verify(token, for: receipt.tenant, at: Self.now + 600)
            }
        }
    }

    /// Every single bit of a token counts.
    @Test func changedReceiptIsRejected() throws {
        let keys = ReceiptKeySet(at: Self.now)
        let published = try JSONValue(parsing: keys.published)
        let issuer = ReceiptIssuer("doorstep", keys: keys)
        let token = Self.token(issuer)
        _ = try VerifiedToken.read(token, keys: published)
        _ = try issuer.verify(token, for: TenantID(number: 1), at: Self.now)
        let parts = token.split(separator: ".").map(String.init)
        #expect(parts.count == 3)
        // Changes each bit of the header, the claims and the signature.
        for part in parts.indices {
            let original = try #require(Base64URL.bytes(parts[part]))
            for bit in 0..<8 * original.count {
                var bytes = original
                bytes[bit / 8] ^= 1 << (bit % 8)
                var changed = parts
                changed[part] = Base64URL.text(bytes)
                #expect(throws: VerifiedToken.Refused.self, "bit \(bit) of part \(part)") {
                    try VerifiedToken.read(changed.joined(separator: "."), keys: published)
                }
            }
        }
        // Each bit of the token's text.
        for bit in 0..<8 * token.utf8.count {
            var bytes = Array(token.utf8)
            bytes[bit / 8] ^= 1 << (bit % 8)
            let changed = String(decoding: bytes, as: UTF8.self)
            #expect(throws: ReceiptDefect.self, "bit \(bit) of the text") {
                try issuer.verify(changed, for: TenantID(number: 1), at: Self.now)
            }
        }
        // Another Doorstep's key has another name.
        let others = try JSONValue(parsing: ReceiptKeySet(at: Self.now).published)
        #expect(throws: VerifiedToken.Refused.self) { try VerifiedToken.read(token, keys: others) }
    }

    /// A verifier reads the published keys every five minutes. It can verify every receipt, from before the rotation until the
    /// last receipt of the old key.
    @Test func receiptsStayVerifiableDuringKeyRotation() throws {
        let before = ReceiptKeySet(at: Self.now - 86_400)
        let during = try before.rotated(at: Self.now)
        let issuer = ReceiptIssuer("doorstep", keys: before)
        // The servers read the file some seconds after it was written.
        var known = try JSONValue(parsing: before.published)
        var signers: [String] = []
        for second in stride(from: 0, through: 3_600 + 900, by: 60) {
            let now = Self.now + Double(second)
            if second == 60 { issuer.replaceKeys(by: during) }
            let token = Self.token(issuer, at: now)
            if second % 300 == 240 { known = try JSONValue(parsing: issuer.published) }
            if second >= 300 {
                let signer = try VerifiedToken.read(token, keys: known).header["kid"]?.stringValue
                if let signer, signers.last != signer { signers.append(signer) }
            }
        }
        #expect(signers == [before.keys[0].id, during.keys[1].id])
        #expect(during.signing(at: Self.now + 3_599).id == before.keys[0].id)
        #expect(during.signing(at: Self.now + 3_600).id == during.keys[1].id)
    }

    @Test func rotatedKeysAreKeptUntilReceiptsExpire() throws {
        let first = ReceiptKeySet(at: Self.now)
        let second = try first.rotated(at: Self.now)
        #expect(second.keys.map(\.id).first == first.keys[0].id && second.keys.count == 2)
        // The second signs after an hour; only then can there be a third.
        #expect(throws: ReceiptKeyError.nextKeyIsThere) { try second.rotated(at: Self.now + 3_599) }
        let third = try second.rotated(at: Self.now + 3_600)
        #expect(third.keys.map(\.id).prefix(2) == second.keys.map(\.id)[...])
        #expect(third.keys.count == 3)
        // An hour later, all receipts of the first key have expired.
        let fourth = try third.rotated(at: Self.now + 7_200)
        #expect(fourth.keys.map(\.id).prefix(2) == third.keys.map(\.id).suffix(2))
        #expect(fourth.keys.count == 3)
        // A clock that is earlier than all keys still selects a key.
        #expect(first.signing(at: Self.now - 86_400).id == first.keys[0].id)
    }

    @Test func keySetRoundTrips() throws {
        let keys = try ReceiptKeySet(at: Self.now).rotated(at: Self.now)
        let read = try ReceiptKeySet(parsing: keys.serialized())
        #expect(read.keys.map(\.id) == keys.keys.map(\.id))
        #expect(read.keys.map(\.signsFrom) == keys.keys.map(\.signsFrom))
        #expect(read.published == keys.published)
        #expect(!String(decoding: keys.published, as: UTF8.self).contains("\"d\""))
        let token = Self.token(ReceiptIssuer("doorstep", keys: read))
        _ = try VerifiedToken.read(token, keys: try JSONValue(parsing: keys.published))
    }

    /// RFC 7517 A.2, the first private key; its thumbprint by RFC 7638 was computed with Python's cryptography.
    private static let known = """
        {"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",\
        "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","d":"870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE","use":"sig"}
        """

    @Test func keyOfOtherProgramIsParsed() throws {
        let keys = try ReceiptKeySet(parsing: Array(#"{"keys":[\#(Self.known)]}"#.utf8))
        #expect(keys.keys[0].id == "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s")
        #expect(keys.keys[0].signsFrom == .distantPast)
        #expect(
            try JSONValue(parsing: keys.published).objectValue?["keys"]?.arrayValue?[0] == [
                "kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
                "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM", "use": "sig", "alg": "ES256",
                "kid": "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s",
            ])
    }

    @Test(arguments: [
        ("", "not_a_key_set"), ("[]", "not_a_key_set"), ("{}", "not_a_key_set"),
        (#"{"keys":{}}"#, "not_a_key_set"), ("-----BEGIN PRIVATE KEY-----", "not_a_key_set"),
        (#"{"keys":[]}"#, "no_key"), (#"{"keys":[1]}"#, "unusable_key"), (#"{"keys":[{}]}"#, "unusable_key"),
        (#"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#, "unusable_key"),
        (#"{"keys":[{"kty":"EC","crv":"P-384","d":"AQAB"}]}"#, "unusable_key"),
        (#"{"keys":[{"kty":"EC","crv":"P-256"}]}"#, "unusable_key"),
        (#"{"keys":[{"kty":"EC","crv":"P-256","d":"AQAB"}]}"#, "unusable_key"),
        (
            #"{"keys":[{"kty":"EC","crv":"P-256","d":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}]}"#,
            "unusable_key"
        ),
        (#"{"keys":[KNOWN,KNOWN]}"#, "duplicate_key"),
        (#"{"keys":[KNOWN,"alg":"ES384"}]}"#, "unusable_key"),
        (#"{"keys":[KNOWN,"kid":"another"}]}"#, "unusable_key"),
        (#"{"keys":[KNOWN,"signsFrom":"tomorrow"}]}"#, "unusable_key"),
    ])
    func malformedKeySetIsRejected(text: String, code: String) throws {
        let text = text.replacing("KNOWN,\"", with: Self.known.dropLast() + ",\"").replacing(
            "KNOWN", with: Self.known)
        let error = #expect(throws: ReceiptKeyError.self) { try ReceiptKeySet(parsing: Array(text.utf8)) }
        #expect(error?.code == code)
        #expect(error?.description.contains("870MB") == false)
    }

    @Test func tooManyKeysAreRejected() throws {
        let set = JSONValue.object([
            "keys": .array((0...16).map { _ in .object(ReceiptKey(signsFrom: Self.now).privateJWK) })
        ])
        #expect(throws: ReceiptKeyError.tooManyKeys) { try ReceiptKeySet(parsing: set.serialized()) }
    }

    @Test func privateKeyIsNotDumped() throws {
        let keys = try ReceiptKeySet(parsing: Array(#"{"keys":[\#(Self.known)]}"#.utf8))
        var dumped = ""
        dump(keys.keys[0], to: &dumped)
        #expect(!dumped.contains("PrivateKey") && dumped.contains(keys.keys[0].id))
    }

    private static func token(_ issuer: ReceiptIssuer, at now: Date = now) -> String {
        let receipt = Receipt(
            tenant: TenantID(number: 1), location: nil, outcome: .doesNotMatch, evidence: .none,
            isCertain: true, minute: now)
        return issuer.sign(receipt, at: now)
    }
}
