import Formats
import Testing

@testable import AppAttest

/// Objects that are CBOR, but not what App Attest makes.
@Suite struct ObjectTests {
    /// Keys of one map in hexadecimal, text strings of fewer than 24 bytes.
    private static func text(_ text: String) -> [UInt8] { [0x60 + UInt8(text.utf8.count)] + Array(text.utf8) }

    private static let fmt = text("fmt") + text("apple-appattest")
    private static let noData = text("authData") + [0x40]

    private static func statement(_ entries: [UInt8]...) -> [UInt8] {
        text("attStmt") + [0xA0 + UInt8(entries.count)] + entries.joined()
    }

    private static func map(_ entries: [UInt8]...) -> [UInt8] {
        [0xA0 + UInt8(entries.count)] + entries.joined()
    }

    private static let x5c = text("x5c") + [0x82, 0x40, 0x40]
    private static let receipt = text("receipt") + [0x40]

    static let attestations: [(bytes: [UInt8], detail: AttestationRefusal.Format)] = [
        ([], .truncated), ([0x00], .member), ([0x80], .member), ([0xA0], .member),
        ([UInt8](repeating: 0, count: AttestationObject.maximumLength + 1), .tooLong),
        (map(fmt), .member), (map(fmt, statement(x5c, receipt)), .member), (map(fmt, noData), .member),
        (map(statement(x5c, receipt), noData), .member), (map(fmt, statement(), noData), .member),
        (map(fmt, statement(x5c), noData), .member), (map(fmt, statement(receipt), noData), .member),
        (map(fmt, text("attStmt") + [0x80], noData), .member),
        (map(fmt, statement(text("x5c") + [0x40], receipt), noData), .member),
        (map(fmt, statement(x5c, text("receipt") + text("r")), noData), .member),
        (map(fmt, statement(x5c, receipt), text("authData") + text("d")), .member),
        (map(text("fmt") + [0x40], statement(x5c, receipt), noData), .member),
        (map(text("fmt") + text("packed"), statement(x5c, receipt), noData), .fmt),
        (map(text("fmt") + text("apple-appattesT"), statement(x5c, receipt), noData), .fmt),
        (map(fmt, statement(x5c, receipt), noData), .authenticatorData),
        (map(fmt, statement(x5c, receipt), noData, text("cdHash") + [0xF6]), .unsupportedType),
        (map(fmt, statement(x5c, receipt), noData) + [0], .trailingBytes),
    ]

    @Test(arguments: attestations.indices) func malformedAttestationObjectIsRejected(_ index: Int) {
        let (bytes, detail) = Self.attestations[index]
        #expect(throws: AttestationRefusal.format(detail)) { try AttestationObject(bytes) }
    }

    private static let data =
        text("authenticatorData") + [0x58, UInt8(AuthenticatorDataTests.head.count)]
        + AuthenticatorDataTests.head
    private static let signature = text("signature") + [0x40]

    static let assertions: [(bytes: [UInt8], refusal: AttestationRefusal)] = [
        ([], .format(.truncated)), ([0xA0], .format(.member)), ([0x40], .format(.member)),
        ([UInt8](repeating: 0, count: AssertionObject.maximumLength + 1), .format(.tooLong)),
        (map(signature), .format(.member)), (map(data), .format(.member)),
        (map(signature, text("authenticatorData") + [0x40]), .format(.authenticatorData)),
        (map(signature, text("authenticatorData") + [0x60]), .format(.member)),
        (map(text("signature") + [0x60], data), .format(.member)),
        (map(signature, data, signature), .format(.duplicateKey)),
        (map(signature, data) + [0xFF], .format(.trailingBytes)),
        (map(signature, data), .signature(.malformed)),
        (map(text("signature") + [0x46, 0x30, 4, 2, 0, 2, 0], data), .signature(.malformed)),
    ]

    @Test(arguments: assertions.indices) func malformedAssertionObjectIsRejected(_ index: Int) throws {
        let (bytes, refusal) = Self.assertions[index]
        let key = try #require(DeviceAssertion.all.first?.publicKey)
        let verifier = try #require(AssertionVerifier(publicKey: key))
        #expect(throws: refusal) {
            try verifier.verify(bytes, clientDataHash: [], after: 0, policy: AttestationPolicy(appIDs: []))
        }
    }

    /// Zero is not a valid component of a signature (FIPS 186-5 §6.4.2).
    @Test func zeroSignatureIsRejected() throws {
        let key = try #require(DeviceAssertion.all.first?.publicKey)
        let verifier = try #require(AssertionVerifier(publicKey: key))
        let zeros = Self.map(Self.text("signature") + [0x48, 0x30, 6, 2, 1, 0, 2, 1, 0], Self.data)
        do throws(AttestationRefusal) {
            _ = try verifier.verify(
                zeros, clientDataHash: [], after: 0, policy: AttestationPolicy(appIDs: []))
            Issue.record("a signature of zeros is taken")
        } catch {
            #expect(error.reason == .signature)
        }
    }

    @Test(
        arguments: [
            [], [4], [UInt8](repeating: 0, count: 65), [4] + [UInt8](repeating: 0, count: 64),
            [2] + [UInt8](repeating: 1, count: 64), [4] + [UInt8](repeating: 0xFF, count: 64),
            [4] + [UInt8](repeating: 1, count: 65),
        ] as [[UInt8]])
    func publicKeyOffTheCurveIsRejected(_ publicKey: [UInt8]) {
        #expect(AssertionVerifier(publicKey: publicKey) == nil)
    }

    @Test func refusalDescriptionNamesReasonAndDetail() {
        #expect(AttestationRefusal.chain(.expired).description == "chain: expired")
        #expect(AttestationRefusal.keyID.description == "key_id")
        #expect(AttestationRefusal.format(.trailingBytes).detail == "trailing_bytes")
    }
}
