import AppAttestSimulator
import Crypto
import Foundation
import Invocation
import Testing

@testable import AppAttest

/// A software authenticator with one key, and a server that trusts it.
struct SoftwareDevice {
    static let now = Date(timeIntervalSince1970: 1_795_000_000)
    static let clientDataHash = Array(SHA256.hash(data: Array("a challenge".utf8)))

    var authenticator: SoftwareAuthenticator
    let keyID: [UInt8]
    let verifier: AttestationVerifier
    var policy: AttestationPolicy

    init(_ system: DeviceSystem = .iOS27) throws {
        let root = try SoftwareRoot(at: Self.now)
        let appID = try AppID("ABCDE12345.com.example.App")
        authenticator = try SoftwareAuthenticator(root: root, appID: appID, system: system)
        keyID = authenticator.generateKey()
        verifier = AttestationVerifier(root: try #require(AttestationRoot(pem: root.pem)))
        policy = AttestationPolicy(appIDs: [appID])
    }

    func attest(_ fault: AttestationFault? = nil) throws -> [UInt8] {
        try authenticator.attest(
            keyID: keyID, clientDataHash: Self.clientDataHash, at: Self.now, fault: fault)
    }

    mutating func assert(_ fault: AssertionFault? = nil) throws -> [UInt8] {
        try authenticator.assertion(keyID: keyID, clientDataHash: Self.clientDataHash, fault: fault)
    }

    func verify(_ attestation: [UInt8]) async throws(AttestationRefusal) -> AttestedKey {
        try await verifier.verify(
            attestation, keyID: keyID, clientDataHash: Self.clientDataHash, policy: policy, at: Self.now)
    }

    func inspect(_ attestation: [UInt8]) async -> AttestationInspection {
        await verifier.inspect(
            attestation, keyID: keyID, clientDataHash: Self.clientDataHash, policy: policy, at: Self.now)
    }
}

extension AttestationInspection {
    /// The reason of the first refused step.
    var refusal: AttestationRefusal? {
        steps.lazy.compactMap { if case .refused(let refusal) = $0.verdict { refusal } else { nil } }.first
    }
}
