import Foundation
import Invocation
import Receipts
import Tenancy

@testable import AppAttest

/// Proofs are accepted only if their maker had the key, so no generated input may be accepted.
extension FuzzTarget {
    /// The reader examines each byte once.
    static let cbor = FuzzTarget("cbor", upTo: 16_384) { bytes in
        var reader = CBORReader(bytes)
        _ = try? reader.item()
        precondition(reader.steps + reader.rest.count == bytes.count)
        reader = CBORReader(bytes)
        _ = try? reader.extensions(named: ["bundleVersion"])
        precondition(reader.steps + reader.rest.count == bytes.count)
    }

    static let authenticatorData = FuzzTarget("authenticator-data", upTo: 1_024) { bytes in
        _ = try? AuthenticatorData(ofAttestation: bytes)
        _ = try? AuthenticatorData(ofAssertion: bytes)
    }

    static let attestation = FuzzTarget(awaiting: "attestation", upTo: 16_384) { bytes in
        let isAccepted = await inspect(attestation: bytes).isAccepted
        precondition(!isAccepted)
    }

    static func inspect(attestation bytes: [UInt8]) async -> AttestationInspection {
        await verifier.inspect(bytes, keyID: keyID, clientDataHash: zeros, policy: policy, at: noon)
    }

    static let assertion = FuzzTarget("assertion", upTo: 4_096) { bytes in
        precondition(!inspect(assertion: bytes).isAccepted)
    }

    static func inspect(assertion bytes: [UInt8]) -> AttestationInspection {
        key.inspect(bytes, clientDataHash: zeros, after: 0, policy: policy)
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

    // MARK: Keys and policies

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
    /// The private keys of this root and of the CA of the seeds are deleted. Both use P-256, with which ten times as many inputs
    /// are verified as with P-384. The seeds of this root are valid except for the app. The same holds for assertions that ``key``
    /// signed.
    private static let verifier = made {
        AttestationVerifier(
            root: try present(
                AttestationRoot(
                    pem: """
                        -----BEGIN CERTIFICATE-----
                        MIIBMTCB2KADAgECAgEBMAoGCCqGSM49BAMCMA8xDTALBgNVBAMMBHJvb3QwIBcN
                        MjUwMTAxMDAwMDAwWhgPMjA1MDAxMDEwMDAwMDBaMA8xDTALBgNVBAMMBHJvb3Qw
                        WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARmQubqd0xkcT11SpN6seSTwIm/chvU
                        o0YAV6rQEIiFrXXGnBwmf47/7HBM4NVeNs5SzrPP2MhkdUYbqfRj0MKhoyMwITAP
                        BgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwICBDAKBggqhkjOPQQDAgNIADBF
                        AiEAjJfJWHri98kf9MO4qc1CUGnkIpwYauIf1XHVrkUdaVACIEN3rrgyL8Az5OKY
                        DgYKs1AbC/oWHI6Tki7Jj26Ztcya
                        -----END CERTIFICATE-----
                        """)))
    }
    /// The key ID is that of the base point, too.
    private static let keyID = bytes("698bea63dc44a344663ff1429aea10842df27b6b991ef25866b2c6c02cdcc5be")
    private static let keys = made {
        try present(AttestationKeys(secrets: ["a secret of the fuzzer's targets"]))
    }
    /// The base point of P-256 (SEC 2 §2.4.2). Its private key is 1, so anyone can sign with it.
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

    /// The result of a closure that always succeeds.
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
