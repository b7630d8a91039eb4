import AppAttest
import Crypto
import Foundation
import SwiftASN1
import X509

@testable import AppAttestSimulator
@testable import FuzzTargets

/// Attestations and assertions that anyone can send. The server reads them, and verifies their certificates and signatures as far
/// as a forger can make valid ones.
extension LinearWorkTests {
    static let attestations: [Subject] = [
        Subject("an attestation's receipt", from: 1_000) { count in
            try attestation(receipt: bytes(count))
        },
        Subject("a long extension of a certificate", from: 1_000) { count in
            try attestation(
                extensions: [.init(oid: [1, 2, 3], critical: false, value: bytes(count)[...])],
                isSigned: true)
        },
        // X509 reads at most 32.
        Subject("extensions of a certificate", from: 3) { count in
            try attestation(
                extensions: (0..<count).map { number in
                    .init(oid: [1, 2, 3, UInt(number)], critical: false, value: [])
                })
        },
        Subject("parts of a certificate's name", from: 3) { count in
            let name = DistinguishedName(
                (0..<count).map { .init([.init(type: [1, 2, 3, UInt($0)], utf8String: "a")]) })
            return try attestation(subject: name)
        },
        Subject("the build in an attestation", from: 1_000) { count in
            try attestation(build: repeated("a", count))
        },
        Subject("an assertion's signature", from: 300) { count in
            try assertion(signature: [0x30, 0x82, UInt8(count >> 8), UInt8(count & 0xFF)] + bytes(count))
        },
        Subject("the build in an assertion", from: 300) { count in
            try assertion(build: repeated("a", count))
        },
        Subject("members of an assertion's field", from: 8) { count in
            read(.assertionField, Array(names(count).map { "\($0)=:AAAA:" }.joined(separator: ", ").utf8))
        },
        Subject("byte sequences of an assertion's field", from: 100) { count in
            read(.assertionField, Array("key=:\(repeated("AAAA", count)):".utf8))
        },
        Subject("a challenge", from: 10) { read(.challenge, bytes($0)) },
        Subject("a token of an attested key", from: 50) { read(.token, bytes($0)) },
    ]

    private static func read(_ target: FuzzTarget, _ input: [UInt8]) -> () -> Void {
        { target.read(input) }
    }

    private static func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }

    // MARK: Attestations

    /// The tests sign with their own certificate authority, as a forger would.
    private static let authority = P256.Signing.PrivateKey()
    private static let leaf = P256.Signing.PrivateKey()

    /// An attestation whose leaf the intermediate has signed and whose intermediate the root has not signed. If `isSigned` is
    /// false, the leaf does not name the intermediate either, so no signature is verified. Verification takes long, and equally
    /// long for equally long input.
    private static func attestation(
        extensions: [Certificate.Extension] = [], subject: DistinguishedName? = nil, receipt: [UInt8] = [0],
        build: String = "1", isSigned: Bool = false
    ) throws -> () -> Void {
        let name = try DistinguishedName { CommonName("authority") }
        let issuer = try DistinguishedName { CommonName(isSigned ? "authority" : "nobody") }
        let chain = [
            try certificate(
                of: leaf.publicKey, subject ?? DistinguishedName { CommonName("leaf") }, by: issuer,
                extensions),
            try certificate(
                of: authority.publicKey, name, by: DistinguishedName { CommonName("root") },
                try Array(
                    Certificate.Extensions {
                        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                    })),
        ]
        let point = Array(leaf.publicKey.rawRepresentation)
        let credential: [UInt8] =
            bytes(16) + [0, 32] + bytes(32) + [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01]
            + [0x21] + CBORWriter.bytes(Array(point[..<32])) + [0x22] + CBORWriter.bytes(Array(point[32...]))
        let statement = CBORWriter.map([
            ("x5c", CBORWriter.array(try chain.map { CBORWriter.bytes(try $0.serialized) })),
            ("receipt", CBORWriter.bytes(receipt)),
        ])
        let input = CBORWriter.map([
            ("fmt", CBORWriter.text("apple-appattest")), ("attStmt", statement),
            ("authData", CBORWriter.bytes(header + credential + states(build))),
        ])
        return read(.attestation, input)
    }

    private static func certificate(
        of key: P256.Signing.PublicKey, _ subject: DistinguishedName, by issuer: DistinguishedName,
        _ extensions: [Certificate.Extension]
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: .init(bytes: [1]), publicKey: .init(key),
            notValidBefore: Date(timeIntervalSince1970: 1_700_000_000),
            notValidAfter: Date(timeIntervalSince1970: 1_900_000_000), issuer: issuer, subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256, extensions: .init(extensions),
            issuerPrivateKey: .init(authority))
    }

    // MARK: Assertions

    private static func assertion(
        signature: [UInt8]? = nil, build: String = "1"
    ) throws -> () -> Void {
        let any = try leaf.signature(for: bytes(1)).derRepresentation
        return read(
            .assertion,
            CBORWriter.map([
                ("signature", CBORWriter.bytes(signature ?? Array(any))),
                ("authenticatorData", CBORWriter.bytes(header + states(build))),
            ]))
    }

    // MARK: Authenticator data

    private static let header = bytes(32) + [0x40, 0, 0, 0, 0]

    private static func states(_ build: String) -> [UInt8] {
        CBORWriter.map([("apple_bundle_version_01", CBORWriter.text(build))])
    }
}
