import Crypto
import Encodings
import Foundation
import HTTPTypes
import JSON
import Metrics
import RoutingSupport
import Tenancy
import Testing

@testable import HTTPAPI
@testable import Locations

/// Receipts as whoever verifies them sees them: by the published keys, and nothing else of ours.
@Suite struct ReceiptTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_059)

    private static func body(_ changes: JSONObject = [:]) -> JSONValue {
        var body: JSONObject = [
            "url": .string(AnswerTests.order), "source": "nfc", "locationAccess": "allowed",
            "coordinate": ["latitude": 37.33475, "longitude": -122.0089],
        ]
        for member in changes { body[member.key] = member.value }
        return .object(body)
    }

    @Test func anAnswerCarriesAReceiptThatThePublishedKeysVerify() async throws {
        let api = TestAPI(
            receipts: ReceiptIssuer("https://doorstep.example", keys: ReceiptKeySet(at: Self.now)))
        try await api.test { client in
            let start = Int(Date().timeIntervalSince1970)
            let answer = try await client.post("/v1/confirmations", key: client.api.publishable, Self.body())
            let end = Int(Date().timeIntervalSince1970)
            let token = try #require(answer["receipt"]?.stringValue)
            let published = try await client.send(.get, "/.well-known/jwks.json", key: nil)
            #expect(published.status == 200)
            #expect(published.headers[.cacheControl] == "public, max-age=300")
            #expect(published.headers[.contentType] == "application/jwk-set+json")
            let (header, claims) = try VerifiedToken.read(token, keys: try #require(published.json))
            #expect(header["alg"] == "ES256" && header["typ"] == "doorstep-receipt+jwt")
            let issuedAt = try #require(claims["iat"]?.numberValue?.int)
            #expect((start...end).contains(issuedAt))
            #expect(claims["exp"] == JSONValue(issuedAt + 600))
            #expect(claims["iss"] == "https://doorstep.example")
            let tenant = JSONValue.string(TenantID(number: 1).description)
            #expect(claims["sub"] == tenant && claims["aud"] == tenant)
            #expect(claims["outcome"] == "inRegion" && claims["location"] == "restaurant_a")
            let minute = try #require(claims["minute"]?.stringValue.flatMap { Date(rfc3339: $0) })
            #expect(Int(minute.timeIntervalSince1970) == issuedAt / 60 * 60)
            #expect(claims["jti"]?.stringValue?.count == 22)
            #expect(
                claims.map(\.key).sorted() == [
                    "aud", "certain", "evidence", "exp", "iat", "iss", "jti", "location", "minute", "outcome",
                    "sub",
                ])
            #expect(claims["evidence"] == "coordinate" && claims["certain"] == true)
            let again = try await client.post("/v1/confirmations", Self.body())
            let other = try VerifiedToken.read(
                try #require(again["receipt"]?.stringValue), keys: try #require(published.json))
            #expect(other.claims["jti"] != claims["jti"])
        }
    }

    private static let others: [(JSONObject, String, evidence: String, isCertain: Bool)] = [
        (["source": "maps"], "disallowed", "none", true),
        (["url": "https://other.example/"], "doesNotMatch", "none", true),
        (["coordinate": ["latitude": 1, "longitude": 2]], "notInRegion", "coordinate", true),
        (
            ["coordinate": ["latitude": 1, "longitude": 2, "horizontalAccuracy": -1]], "undetermined", "none",
            false
        ),
        (
            ["coordinate": ["latitude": 37.33475, "longitude": -122.0089, "horizontalAccuracy": 150]],
            "inRegion", "coordinate", false
        ),
        (["deviceResult": ["inRegion": true]], "inRegion", "device", true),
        (["deviceResult": ["inRegion": false], "source": "maps"], "notInRegion", "device", true),
        (["deviceResult": ["errorCode": 1]], "disallowed", "device", true),
        (["deviceResult": ["errorCode": 7]], "undetermined", "device", false),
    ]

    /// Whoever has the key that ships with a clip can say anything of the device: the receipt says that it was said.
    @Test(arguments: others)
    func everyOutcomeHasOneThatSaysWhatItRestsOn(
        changes: JSONObject, outcome: String, evidence: String, isCertain: Bool
    ) async throws {
        let keys = ReceiptKeySet(at: Self.now)
        try await TestAPI(receipts: ReceiptIssuer("doorstep", keys: keys)).test { client in
            var body = try #require(Self.body(changes).objectValue)
            if changes["deviceResult"] != nil { body["coordinate"] = nil }
            let answer = try await client.post("/v1/confirmations", .object(body))
            let (_, claims) = try VerifiedToken.read(
                try #require(answer["receipt"]?.stringValue), keys: try JSONValue(parsing: keys.published))
            #expect(claims["outcome"] == .string(outcome))
            #expect(claims["evidence"] == .string(evidence) && claims["certain"] == .bool(isCertain))
            let hasLocation = ["inRegion", "notInRegion", "undetermined"].contains(outcome)
            #expect(claims["location"] == (hasLocation ? "restaurant_a" : .null))
        }
    }

    @Test func withoutKeysThereAreNoReceipts() async throws {
        try await TestAPI().test { client in
            let answer = try await client.post("/v1/confirmations", Self.body())
            #expect(answer.status == 200 && answer["outcome"] == "inRegion")
            #expect(answer["receipt"] == nil)
            let published = try await client.send(.get, "/.well-known/jwks.json", key: nil)
            #expect(published.status == 200 && published.json == ["keys": []])
        }
    }

    @Test func aRefusedRequestGetsNone() async throws {
        let issuer = ReceiptIssuer("doorstep", keys: ReceiptKeySet(at: Self.now))
        try await TestAPI(receipts: issuer).test { client in
            let answer = try await client.post("/v1/confirmations", Self.body(["source": "radio"]))
            #expect(answer.status == 400 && answer["receipt"] == nil)
        }
    }

    /// Every single bit of a token counts.
    @Test func aChangedReceiptIsRefused() throws {
        let keys = ReceiptKeySet(at: Self.now)
        let published = try JSONValue(parsing: keys.published)
        let token = Self.token(ReceiptIssuer("doorstep", keys: keys))
        _ = try VerifiedToken.read(token, keys: published)
        let parts = token.split(separator: ".").map(String.init)
        #expect(parts.count == 3)
        var bytes = try #require(Base64URL.bytes(parts[1]))
        for index in bytes.indices {
            bytes[index] ^= 1
            let changed = [parts[0], Base64URL.text(bytes), parts[2]].joined(separator: ".")
            #expect(throws: VerifiedToken.Refused.self) { try VerifiedToken.read(changed, keys: published) }
            bytes[index] ^= 1
        }
        // Another Doorstep's key has another name.
        let others = try JSONValue(parsing: ReceiptKeySet(at: Self.now).published)
        #expect(throws: VerifiedToken.Refused.self) { try VerifiedToken.read(token, keys: others) }
    }

    /// From the first look at the published keys to the last receipt of the old key, somebody who reads the keys every
    /// five minutes can verify everything that is signed.
    @Test func whileKeysRotateEveryReceiptCanBeVerified() throws {
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

    @Test func keysAreKeptAsLongAsTheyAreNeeded() throws {
        let first = ReceiptKeySet(at: Self.now)
        let second = try first.rotated(at: Self.now)
        #expect(second.keys.map(\.id).first == first.keys[0].id && second.keys.count == 2)
        // The second signs after an hour; only then can there be a third.
        #expect(throws: ReceiptKeyError.nextKeyIsThere) { try second.rotated(at: Self.now + 3_599) }
        let third = try second.rotated(at: Self.now + 3_600)
        #expect(third.keys.map(\.id).prefix(2) == second.keys.map(\.id)[...])
        #expect(third.keys.count == 3)
        // An hour later nobody has a receipt of the first any more.
        let fourth = try third.rotated(at: Self.now + 7_200)
        #expect(fourth.keys.map(\.id).prefix(2) == third.keys.map(\.id).suffix(2))
        #expect(fourth.keys.count == 3)
        // A clock that stands before all keys still signs by one.
        #expect(first.signing(at: Self.now - 86_400).id == first.keys[0].id)
    }

    @Test func keysAreReadAsTheyWereWritten() throws {
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

    @Test func aKeyOfAnotherProgramIsRead() throws {
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
    func whatIsNoKeySetIsRefused(text: String, code: String) throws {
        let text = text.replacing("KNOWN,\"", with: Self.known.dropLast() + ",\"").replacing(
            "KNOWN", with: Self.known)
        let error = #expect(throws: ReceiptKeyError.self) { try ReceiptKeySet(parsing: Array(text.utf8)) }
        #expect(error?.code == code)
        #expect(error?.description.contains("870MB") == false)
    }

    @Test func tooManyKeysAreRefused() throws {
        let set = JSONValue.object([
            "keys": .array((0...16).map { _ in .object(ReceiptKey(signsFrom: Self.now).privateJWK) })
        ])
        #expect(throws: ReceiptKeyError.tooManyKeys) { try ReceiptKeySet(parsing: set.serialized()) }
    }

    @Test func aKeyIsInNoDescription() throws {
        let keys = try ReceiptKeySet(parsing: Array(#"{"keys":[\#(Self.known)]}"#.utf8))
        var dumped = ""
        dump(keys.keys[0], to: &dumped)
        #expect(!dumped.contains("PrivateKey") && dumped.contains(keys.keys[0].id))
    }

    @Test func confirmationsAreCountedByOutcome() async throws {
        let registry = PrometheusRegistry()
        let api = TestAPI(
            receipts: ReceiptIssuer("doorstep", keys: ReceiptKeySet(at: Self.now)), metrics: registry)
        try await api.test(over: [.connection]) { client in
            for changes in [[:], [:], ["source": "maps"], ["source": "radio"]] as [JSONObject] {
                _ = try await client.post("/v1/confirmations", Self.body(changes))
            }
        }
        let lines = registry.exposition().split(separator: "\n").filter {
            $0.hasPrefix("doorstep_confirmations") || $0.hasPrefix("doorstep_receipts")
        }
        #expect(
            lines == [
                #"doorstep_confirmations_total{outcome="disallowed"} 1"#,
                #"doorstep_confirmations_total{outcome="doesNotMatch"} 0"#,
                #"doorstep_confirmations_total{outcome="inRegion"} 2"#,
                #"doorstep_confirmations_total{outcome="notInRegion"} 0"#,
                #"doorstep_confirmations_total{outcome="undetermined"} 0"#,
                "doorstep_receipts_signed_total 3",
            ])
    }

    private static func token(_ issuer: ReceiptIssuer, at now: Date = now) -> String {
        issuer.sign(Receipt(.doesNotMatch, of: TenantID(number: 1), at: now), at: now)
    }
}

/// A token that was verified as RFC 7515 §5.2 says, apart from the code that signs.
private enum VerifiedToken {
    struct Refused: Error {}

    static func read(_ token: String, keys: JSONValue) throws -> (header: JSONObject, claims: JSONObject) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw Refused() }
        let header = try object(parts[0])
        guard let id = header["kid"], header["alg"] == "ES256",
            let key = keys.objectValue?["keys"]?.arrayValue?.first(where: { $0.objectValue?["kid"] == id }),
            let x = key.objectValue?["x"]?.stringValue, let y = key.objectValue?["y"]?.stringValue
        else { throw Refused() }
        let publicKey = try P256.Signing.PublicKey(rawRepresentation: try data(x[...]) + data(y[...]))
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: try data(parts[2]))
        guard publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)) else {
            throw Refused()
        }
        return (header, try object(parts[1]))
    }

    private static func object(_ part: Substring) throws -> JSONObject {
        guard let object = try? JSONValue(parsing: try data(part)).objectValue else { throw Refused() }
        return object
    }

    private static func data(_ part: Substring) throws -> Data {
        let padding = String(repeating: "=", count: (4 - part.utf8.count % 4) % 4)
        guard !part.contains(where: { "=+/".contains($0) }),
            let data = Data(
                base64Encoded: part.replacing("-", with: "+").replacing("_", with: "/") + padding)
        else { throw Refused() }
        return data
    }
}
