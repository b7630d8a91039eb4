import AppAttest
import AppAttestSimulator
import ArgumentParser
import Crypto
import Foundation
import Invocation
import Tenancy

/// Times what App Attest costs a server, without its database.
struct AttestationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attestation", abstract: "Time tokens, signed requests and attestations on one thread.")

    @Option(help: "How many calls to time of what takes long, and how many batches of the rest.")
    var samples = 1_000

    func validate() throws {
        guard samples > 0 else { throw ValidationError("--samples must be positive") }
    }

    func run() async throws {
        let subject = try await Subject()
        var measurements: [Measurement] = []
        measurements.append(
            try Measurement("check a token", batches: samples) { _ in
                try AttestationToken(
                    reading: subject.token, of: subject.tenant, signedBy: subject.secrets, at: subject.now)
            })
        measurements.append(
            try Measurement("check a signed request", batches: samples) { _ in try subject.checkSignature() })
        for (name, attestation, refusal) in subject.attestations {
            measurements.append(
                try await Measurement(name, samples: samples) {
                    try await subject.verify(attestation, expecting: refusal)
                })
        }
        print(Measurement.table(measurements))
    }
}

/// A device with a key that is attested, and what it has sent.
private struct Subject {
    let now = Date()
    let tenant = TenantID(UUID())
    let secrets: AttestationKeys
    let token: String
    let attestations: [(name: String, bytes: [UInt8], refusal: AttestationRefusal?)]

    private let clip: BundleID
    private let policy: AttestationPolicy
    private let verifier: AttestationVerifier
    private let keyID: [UInt8]
    private let clientDataHash: [UInt8]
    private let publicKey: [UInt8]
    private let challenge: String
    private let assertion: [UInt8]

    private static let body = Array(
        #"{"url":"https://example.com/restaurants/restaurant_a","coordinate":{"latitude":37.3,"longitude":-122}}"#
            .utf8)

    init() async throws {
        guard let secrets = AttestationKeys(secrets: [String(repeating: "s", count: 32)]) else {
            throw Failure()
        }
        let root = try SoftwareRoot(at: now)
        guard let trusted = AttestationRoot(pem: root.pem) else { throw Failure() }
        let verifier = AttestationVerifier(root: trusted)
        let appID = try AppID("ABCDE12345.com.example.MyApp")
        let policy = AttestationPolicy(appIDs: [appID])
        var device = try SoftwareAuthenticator(root: root, appID: appID)
        let keyID = device.generateKey()
        let hash = Array(SHA256.hash(data: Array("challenge".utf8)))
        let faults: [(String, AttestationFault?, AttestationRefusal?)] = [
            ("verify an attestation", nil, nil), ("refuse another root's", .otherRoot, .chain(.otherRoot)),
            ("refuse a leaf of another's", .leafOfOtherAuthority, .chain(.badSignature)),
            ("refuse an expired one", .expired, .chain(.expired)),
        ]
        attestations = try faults.map { [device, now] name, fault, refusal in
            (name, try device.attest(keyID: keyID, clientDataHash: hash, at: now, fault: fault), refusal)
        }
        let key = try await verifier.verify(
            attestations[0].bytes, keyID: keyID, clientDataHash: hash, policy: policy, at: now)
        clip = try BundleID("com.example.MyApp.Clip")
        token = AttestationToken(
            tenant: tenant, appID: appID, clip: clip, keyID: keyID, build: key.build, at: now
        ).text(signedBy: secrets)
        challenge = AttestationChallenge(tenant: tenant, clip: clip, purpose: .request)
            .text(signedBy: secrets, at: now)
        guard let data = Self.clientData(challenge) else { throw Failure() }
        assertion = try device.assertion(keyID: keyID, clientDataHash: data.hash)
        publicKey = key.publicKey
        (self.secrets, self.verifier, self.policy) = (secrets, verifier, policy)
        (self.keyID, clientDataHash) = (keyID, hash)
    }

    private struct Failure: Error {}

    private static func clientData(_ challenge: String) -> ClientData? {
        ClientData.request(method: "POST", target: "/v1/confirmations", challenge: challenge, body: body)
    }

    /// All but the row of the key, which is read and written.
    func checkSignature() throws -> VerifiedAssertion {
        let returned = try ReturnedChallenge(
            challenge, for: .request, of: tenant, signedBy: secrets, at: now)
        try returned.check(clip: clip)
        guard let verifier = AssertionVerifier(publicKey: publicKey), let data = Self.clientData(challenge)
        else {
            throw Failure()
        }
        return try verifier.verify(assertion, clientDataHash: data.hash, after: 0, policy: policy)
    }

    /// - Throws: When it is judged otherwise.
    func verify(_ attestation: [UInt8], expecting refusal: AttestationRefusal?) async throws {
        do throws(AttestationRefusal) {
            _ = try await verifier.verify(
                attestation, keyID: keyID, clientDataHash: clientDataHash, policy: policy, at: now)
            guard refusal == nil else { throw AttestationRefusal.chain(.policy) }
        } catch {
            guard error == refusal else { throw error }
        }
    }
}
