public import AppAttest
public import Foundation
public import Lookups
public import Tenancy

/// Tells whether a tenant's own build on genuine hardware asks, by App Attest.
///
/// Safe to use from many threads. What needs the store throws what that throws when it does not answer; tokens are
/// checked without it. What a tenant's clips ask for, and which keys it has revoked, is told by its table: of what that
/// refuses, and of what the server did not give itself, the store is not asked.
public struct AppVerifier: Sendable {
    private let secrets: AttestationKeys
    private let verifier: AttestationVerifier
    private let keys: any AttestedKeys
    private let recorder: any AttestationRecorder

    /// - Parameters:
    ///   - secrets: By which challenges and tokens are known again.
    ///   - root: What attestations are traced back to.
    ///   - recorder: What counts what requests bring.
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

    /// What a clip is to sign, good for ``AttestationChallenge/lifetime`` seconds.
    public func challenge(
        for purpose: AttestationChallenge.Purpose, to clip: BundleID, of tenant: TenantID, at now: Date
    ) -> String {
        return AttestationChallenge(tenant: tenant, clip: clip, purpose: purpose)
            .text(signedBy: secrets, at: now)
    }

    /// Whether one more installation is to attest now, by the clip's ramp: drawn anew each time it asks.
    public func draws(_ clip: AttestedClip) -> Bool {
        Int.random(in: 0..<100) < clip.attestation.ramp
    }

    // MARK: Keys and tokens

    /// Verifies what a device attests of a key, and keeps the key.
    /// - Parameter keyID: As the app says.
    /// - Returns: A token, and whether the key is new: the same attestation may be sent again while its challenge is good.
    /// - Throws: An `AttestationRefusal`; `.key(.taken)` for a key that is kept otherwise, `.key(.revoked)`.
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

    /// Gives a token for an assertion of a key that is kept.
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
        // A key goes with its clip, also where another clip of the app's is left.
        guard table.hasClip(token.clip) else { throw .key(.unknown) }
        return token
    }

    /// Checks a request that was signed, whatever clip it is for.
    /// - Parameters:
    ///   - field: The value of `Doorstep-Assertion`.
    ///   - target: As it stands in the request.
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

    /// - Parameter data: What was signed, for the clip of the key.
    /// - Returns: What the app that signed says of itself, and the clip of its key.
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
        // An assertion that says nothing of the build does not take back what was attested of it.
        let build = AttestedBuild(
            environment: key.environment, category: assertion.category ?? key.category)
        if let refusal = clip.attestation.refusal(of: build) { throw refusal }
        // What was read a moment ago may be of the past: the store alone tells which of two comes first.
        guard try await keys.advance(keyID, to: assertion.counter, of: table.tenant, at: now) else {
            throw AttestationRefusal.counter(.notGreater)
        }
        return (build, clip)
    }
}

extension AppVerifier {
    /// Counts what a request for a clip has brought that holds.
    public func record(
        _ grade: RequestAttestation.Grade, of clip: BundleID, for operation: ClipAttestation.Operation,
        _ tenant: TenantID, at now: Date
    ) {
        recorder.record(grade, of: clip, for: operation, tenant, at: now)
    }
}

extension AttestationToken {
    /// How well the token attests a request for a clip, which may be another of the app's than the key's.
    /// - Throws: `.token(.otherApp)` for a clip of another app; else what the clip does not take of the build.
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
