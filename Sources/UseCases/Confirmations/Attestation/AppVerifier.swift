public import AppAttest
public import Foundation
public import Lookups
public import Tenancy

/// Checks with App Attest whether a request comes from a tenant's own build on genuine hardware.
///
/// Safe to use from many threads. Tokens are checked without the store; functions that need the store throw its errors. The
/// tenant's table has the clips' policies and the revoked keys. The store is not called for requests that the table refuses, or
/// whose challenge the server did not issue.
public struct AppVerifier: Sendable {
    private let secrets: AttestationKeys
    private let verifier: AttestationVerifier
    private let keys: any AttestedKeys
    private let recorder: any AttestationRecorder

    /// - Parameters:
    ///   - secrets: The keys that sign challenges and tokens.
    ///   - root: The root certificate of attestations.
    ///   - recorder: Counts the grades of requests.
    public init(
        secrets: AttestationKeys, root: AttestationRoot, keys: any AttestedKeys,
        recordingTo recorder: any AttestationRecorder
    ) {
        self.secrets = secrets
        verifier = AttestationVerifier(root: root)
        self.keys = keys
        self.recorder = recorder
    }

    // MARK: Challenges

    /// The data that a clip must sign, valid for ``AttestationChallenge/lifetime`` seconds.
    public func challenge(
        for purpose: AttestationChallenge.Purpose, to clip: BundleID, of tenant: TenantID, at now: Date
    ) -> String {
        return AttestationChallenge(tenant: tenant, clip: clip, purpose: purpose)
            .text(signedBy: secrets, at: now)
    }

    /// Whether a further installation is asked to attest, by the clip's ramp; decided at random for each request.
    public func draws(_ clip: AttestedClip) -> Bool {
        Int.random(in: 0..<100) < clip.attestation.ramp
    }

    // MARK: Keys and tokens

    /// Verifies a device's attestation of a key, and stores the key.
    /// - Parameter keyID: As the app sent it.
    /// - Returns: A token, and whether the key is new. An app may send the same attestation again while its challenge is valid.
    /// - Throws: An `AttestationRefusal`: `.key(.taken)` if the key is stored with another attestation or clip, `.key(.revoked)`.
    public func register(
        keyID: [UInt8], challenge: String, attestation: [UInt8], of clip: AttestedClip,
        in table: TenantTable, at now: Date
    ) async throws -> (token: String, isNew: Bool) {
        let tenant = table.tenant
        try AttestationChallenge(tenant: tenant, clip: clip.clip, purpose: .attestation)
            .check(challenge, signedBy: secrets, at: now)
        try table.refuseRevoked(keyID)
        let key = try await verifier.verify(
            attestation, keyID: keyID, clientDataHash: ClientData.attestation(challenge: challenge).hash,
            policy: clip.policy, at: now)
        switch try await keys.add(key, attestedBy: attestation, of: clip.clip, tenant, at: now) {
        case .added: return (token(of: keyID, key.build, clip, tenant, at: now), true)
        case .repeated: return (token(of: keyID, key.build, clip, tenant, at: now), false)
        case .taken: throw AttestationRefusal.key(.taken)
        case .unknownClip: throw AttestationRefusal.key(.unknown)
        }
    }

    /// Returns a token for an assertion of a stored key.
    /// - Throws: An `AttestationRefusal`.
    public func token(
        keyID: [UInt8], challenge: String, assertion: [UInt8], in table: TenantTable, at now: Date
    ) async throws -> String {
        let (build, clip) = try await verify(assertion, by: keyID, challenge, for: .token, in: table, at: now)
        { ClientData.token(clip: $0, challenge: challenge) }
        return token(of: keyID, build, clip, table.tenant, at: now)
    }

    private func token(
        of keyID: [UInt8], _ build: AttestedBuild, _ clip: AttestedClip, _ tenant: TenantID, at now: Date
    ) -> String {
        AttestationToken(
            tenant: tenant, appID: clip.appID, clip: clip.clip, keyID: keyID, build: build, at: now
        ).text(signedBy: secrets)
    }

    // MARK: Requests

    /// Checks a token, whatever clip it is for. Waits for nothing.
    public func token(
        _ text: String, in table: TenantTable, at now: Date
    ) throws(AttestationRefusal) -> AttestationToken {
        let token = try AttestationToken(reading: text, of: table.tenant, signedBy: secrets, at: now)
        try table.refuseRevoked(token.keyID)
        // A key belongs to its clip and is refused without it, even if the app has another clip.
        guard table.hasClip(token.clip) else { throw .key(.unknown) }
        return token
    }

    /// Checks a request that was signed, whatever clip it is for.
    /// - Parameters:
    ///   - field: The value of `Doorstep-Assertion`.
    ///   - target: As in the request.
    /// - Throws: An `AttestationRefusal`; `.counter(.notGreater)` when it, or a later one, was taken before.
    public func signature(
        _ field: String, method: String, target: String, body: [UInt8], in table: TenantTable, at now: Date
    ) async throws -> RequestSignature {
        let field = try AssertionField(field)
        let challenge = String(decoding: field.challenge, as: UTF8.self)
        let (build, clip) = try await verify(
            field.assertion, by: field.keyID, challenge, for: .request, in: table, at: now
        ) { _ in
            ClientData.request(method: method, target: target, challenge: challenge, body: body)
        }
        return RequestSignature(keyID: field.keyID, appID: clip.appID, build: build)
    }

    /// - Parameter data: The signed data, for the key's clip.
    /// - Returns: The properties that the app reported, and the key's clip.
    private func verify(
        _ assertion: [UInt8], by keyID: [UInt8], _ challenge: String,
        for purpose: AttestationChallenge.Purpose, in table: TenantTable, at now: Date,
        _ data: (BundleID) -> ClientData?
    ) async throws -> (AttestedBuild, AttestedClip) {
        let challenge = try ReturnedChallenge(
            challenge, for: purpose, of: table.tenant, signedBy: secrets, at: now)
        try table.refuseRevoked(keyID)
        guard let key = try await keys.key(keyID, of: table.tenant), let clip = table.attestedClip(key.clip)
        else { throw AttestationRefusal.key(.unknown) }
        try challenge.check(clip: key.clip)
        guard let verifier = AssertionVerifier(publicKey: key.publicKey), let data = data(key.clip) else {
            throw AttestationRefusal.signature(.malformed)
        }
        let assertion = try verifier.verify(
            assertion, clientDataHash: data.hash, after: key.counter, policy: clip.policy)
        // An assertion without properties of the build does not remove the attested ones.
        let build = AttestedBuild(
            environment: key.environment, category: assertion.category ?? key.category)
        if let refusal = clip.attestation.refusal(of: build) { throw refusal }
        // The value that was read may be outdated: only the store decides the order of two assertions.
        guard try await keys.advance(keyID, to: assertion.counter, of: table.tenant, at: now) else {
            throw AttestationRefusal.counter(.notGreater)
        }
        return (build, clip)
    }
}

extension AppVerifier {
    /// Counts the attestation that a request for a clip carried.
    public func record(
        _ grade: RequestAttestation.Grade, of clip: BundleID, for operation: ClipAttestation.Operation,
        _ tenant: TenantID, at now: Date
    ) {
        recorder.record(grade, of: clip, for: operation, tenant, at: now)
    }
}

extension AttestationToken {
    /// The grade of attestation that the token gives a request for a clip. The key may belong to another clip of the same app.
    /// - Throws: `.token(.otherApp)` for a clip of another app; the policy that the build does not meet.
    public func attestation(for clip: AttestedClip) throws(AttestationRefusal) -> RequestAttestation {
        try check(clip.appID)
        return try clip.taking(.token, by: keyID, from: build)
    }
}

extension TenantTable {
    fileprivate func refuseRevoked(_ keyID: [UInt8]) throws(AttestationRefusal) {
        if isRevoked(attestKey: keyID) { throw .key(.revoked) }
    }
}

extension AttestedClip {
    /// How well a request for the clip is attested, if it takes the build.
    func taking(
        _ grade: RequestAttestation.Grade, by keyID: [UInt8], from build: AttestedBuild
    ) throws(AttestationRefusal) -> RequestAttestation {
        if let refusal = attestation.refusal(of: build) { throw refusal }
        return RequestAttestation(grade: grade, environment: build.environment, keyID: keyID)
    }
}
