import AppSiteAssociation
import Foundation
import Receipts
import Tenancy

@testable import AppAttest

/// What proves something is taken only when its maker could make it, and bytes that are made up prove nothing.
extension FuzzTarget {
    /// Each byte is looked at once.
    static let cbor = FuzzTarget("cbor", upTo: 16_384) { bytes in
        var reader = CBORReader(bytes)
        _ = try? reader.item()
        precondition(reader.steps + reader.rest.count == bytes.count)
    }

    static let authenticatorData = FuzzTarget("authenticator-data", upTo: 1_024) { bytes in
        _ = try? AuthenticatorData(ofAttestation: bytes)
        _ = try? AuthenticatorData(ofAssertion: bytes)
    }

    static let attestation = FuzzTarget(awaiting: "attestation", upTo: 16_384) { bytes in
        let inspection = await verifier.inspect(
            bytes, keyID: zeros, clientDataHash: zeros, policy: policy, at: noon)
        precondition(!inspection.isAccepted)
    }

    static let assertion = FuzzTarget("assertion", upTo: 4_096) { bytes in
        let inspection = key.inspect(bytes, clientDataHash: zeros, after: 0, policy: policy)
        precondition(!inspection.isAccepted)
    }

    static let assertionField = FuzzTarget("assertion-field", upTo: 10_000) { bytes in
        _ = try? AssertionField(String(decoding: bytes, as: UTF8.self))
    }

    static let challenge = FuzzTarget("challenge", upTo: 256) { bytes in
        let challenge = AttestationChallenge(tenant: tenant, clip: clip, purpose: .request)
        let isTaken =
            (try? challenge.check(String(decoding: bytes, as: UTF8.self), signedBy: keys, at: noon)) != nil
        precondition(!isTaken)
    }

    static let token = FuzzTarget("token", upTo: 4_096) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        let token = try? AttestationToken(
            reading: text, of: tenant, signedBy: keys, at: noon)
        precondition(token == nil)
    }

    static let receipt = FuzzTarget("receipt", upTo: 8_192) { bytes in
        let receipt = try? issuer.verify(String(decoding: bytes, as: UTF8.self), for: tenant, at: noon)
        precondition(receipt == nil)
    }

    static let receiptKeys = FuzzTarget("receipt-keys", upTo: 16_384) { bytes in
        guard let set = try? ReceiptKeySet(parsing: bytes) else { return }
        precondition((try? ReceiptKeySet(parsing: set.serialized()))?.published == set.published)
    }

    // MARK: What they are held against

    private static let noon = Date(timeIntervalSince1970: 1_750_000_000)
    private static let zeros = [UInt8](repeating: 0, count: 32)
    private static let tenant = TenantID(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
    private static let issuer = ReceiptIssuer("https://example.com", keys: ReceiptKeySet(at: noon))

    private static let clip = made { try BundleID("com.example.MyApp.Clip") }
    private static let policy = made {
        AttestationPolicy(
            appIDs: [try AppID("ABCDE12345.com.example.MyApp")],
            environments: Set(AttestationEnvironment.allCases))
    }
    private static let verifier = made { AttestationVerifier(root: try .apple()) }
    private static let keys = made {
        try present(AttestationKeys(secrets: ["a secret of the fuzzer's targets"]))
    }
    /// The base point of P-256 (SEC 2 §2.4.2): whoever signs by it knows that its private key is 1.
    private static let key = made {
        try present(
            AssertionVerifier(
                publicKey: [0x04]
                    + bytes("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
                    + bytes("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")))
    }

    private struct Missing: Error {}

    private static func present<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Missing() }
        return value
    }

    /// What always can be made.
    private static func made<Value>(_ make: () throws -> Value) -> Value {
        do { return try make() } catch { preconditionFailure("\(error)") }
    }

    private static func bytes(_ base16: String) -> [UInt8] {
        var rest = base16[...]
        var bytes: [UInt8] = []
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
