public import AppAttest
public import Foundation
public import Tenancy

/// Tells whether a tenant's own build on genuine hardware asks, by App Attest.
///
/// Safe to use from many threads. What needs the store throws what that throws when it does not answer; tokens are
/// checked without it.
public struct AppVerifier: Sendable {
    private let secrets: AttestationKeys
    private let verifier: AttestationVerifier
    private let keys: any AttestedKeys

    /// - Parameters:
    ///   - secrets: By which challenges and tokens are known again.
    ///   - root: What attestations are traced back to.
    public init(secrets: AttestationKeys, root: AttestationRoot, keys: any AttestedKeys) {
        self.secrets = secrets
        verifier = AttestationVerifier(root: root)
        self.keys = keys
    }

    // MARK: Challenges

    /// What a clip is to sign, good for ``AttestationChallenge/lifetime`` seconds.
    public func challenge(
        for purpose: AttestationChallenge.Purpose, to clip: BundleID, of tenant: TenantID, at now: Date
    ) -> String {
        var generator = SystemRandomNumberGenerator()
        return AttestationChallenge(tenant: tenant, clip: clip, purpose: purpose)
            .text(signedBy: secrets, at: now, using: &generator)
    }

    /// Whether one more installation is to attest now, by the clip's ramp: drawn anew each time it asks.
    public func draws(_ clip: AttestedClip) -> Bool {
        Int.random(in: 0..<100) < clip.attestation.ramp
    }

    // MARK: Keys and tokens

    /// Verifies what a device attests of a key, and keeps the key.
    /// - Parameter keyID: As the app says.
    /// - Returns: A token, and whether the key is new: the same attestation may be sent again while its challenge is good.
    /// - Throws: An `AttestationRefusal`; `.key(.taken)` for a key that is kept otherwise.
    public func register(
        keyID: [UInt8], challenge: String, attestation: [UInt8], of clip: AttestedClip, _ tenant: TenantID,
        at now: Date
    ) async throws -> (token: String, isNew: Bool) {
        try AttestationChallenge(tenant: tenant, clip: clip.clip, purpose: .attestation)
            .check(challenge, signedBy: secrets, at: now)
        let key = try await verifier.verify(
            attestation, keyID: keyID, clientDataHash: ClientData.attestation(challenge: challenge).hash,
            policy: clip.policy, at: now)
        switch try await keys.add(key, attestedBy: attestation, of: clip.clip, tenant, at: now) {
        case .added: return (token(of: keyID, key.environment, clip, tenant, at: now), true)
        case .repeated: return (token(of: keyID, key.environment, clip, tenant, at: now), false)
        case .taken: throw AttestationRefusal.key(.taken)
        case .unknownClip: throw AttestationRefusal.key(.unknown)
        }
    }

    /// Gives a token for an assertion of a key that is kept.
    /// - Parameter find: What a clip of the tenant asks for; nil for one that asks for nothing any more.
    /// - Throws: An `AttestationRefusal`.
    public func token(
        keyID: [UInt8], challenge: String, assertion: [UInt8], of tenant: TenantID, at now: Date,
        clip find: (BundleID) -> AttestedClip?
    ) async throws -> String {
        let (key, clip) = try await verify(
            assertion, by: keyID, challenge, for: .token, of: tenant, at: now, clip: find
        ) { ClientData.token(clip: $0, challenge: challenge) }
        return token(of: keyID, key.environment, clip, tenant, at: now)
    }

    private func token(
        of keyID: [UInt8], _ environment: AttestationEnvironment, _ clip: AttestedClip, _ tenant: TenantID,
        at now: Date
    ) -> String {
        AttestationToken(
            tenant: tenant, appID: clip.appID, keyID: keyID, environment: environment, at: now
        ).text(signedBy: secrets)
    }

    // MARK: Requests

    /// Checks a token for a clip. Waits for nothing.
    public func attestation(
        by token: String, for clip: AttestedClip, of tenant: TenantID, at now: Date
    ) throws(AttestationRefusal) -> RequestAttestation {
        let token = try AttestationToken(
            reading: token, of: tenant, appID: clip.appID, signedBy: secrets, at: now)
        return try clip.taking(.token, from: token.environment)
    }

    /// Checks a request that was signed, whatever clip it is for.
    /// - Parameters:
    ///   - field: The value of `Doorstep-Assertion`.
    ///   - target: As it stands in the request.
    ///   - find: As ``token(keyID:challenge:assertion:of:at:clip:)`` takes it.
    /// - Throws: An `AttestationRefusal`; `.counter(.notGreater)` when it, or a later one, was taken before.
    public func signature(
        _ field: String, method: String, target: String, body: [UInt8], of tenant: TenantID, at now: Date,
        clip find: (BundleID) -> AttestedClip?
    ) async throws -> RequestSignature {
        let field = try AssertionField(field)
        let challenge = String(decoding: field.challenge, as: UTF8.self)
        let (key, clip) = try await verify(
            field.assertion, by: field.keyID, challenge, for: .request, of: tenant, at: now, clip: find
        ) { _ in
            ClientData.request(method: method, target: target, challenge: challenge, body: body)
        }
        return RequestSignature(appID: clip.appID, environment: key.environment)
    }

    /// - Parameter data: What was signed, for the clip of the key.
    private func verify(
        _ assertion: [UInt8], by keyID: [UInt8], _ challenge: String,
        for purpose: AttestationChallenge.Purpose, of tenant: TenantID, at now: Date,
        clip find: (BundleID) -> AttestedClip?, _ data: (BundleID) -> ClientData?
    ) async throws -> (RegisteredKey, AttestedClip) {
        guard let key = try await keys.key(keyID, of: tenant), let clip = find(key.clip) else {
            throw AttestationRefusal.key(.unknown)
        }
        try AttestationChallenge(tenant: tenant, clip: key.clip, purpose: purpose)
            .check(challenge, signedBy: secrets, at: now)
        guard let verifier = AssertionVerifier(publicKey: key.publicKey), let data = data(key.clip) else {
            throw AttestationRefusal.signature(.malformed)
        }
        let assertion = try verifier.verify(
            assertion, clientDataHash: data.hash, after: key.counter, policy: clip.policy)
        _ = try clip.taking(.request, from: key.environment)
        // What was read a moment ago may be of the past: the store alone tells which of two comes first.
        guard try await keys.advance(keyID, to: assertion.counter, of: tenant, at: now) else {
            throw AttestationRefusal.counter(.notGreater)
        }
        return (key, clip)
    }
}

extension AttestedClip {
    fileprivate func taking(
        _ grade: RequestAttestation.Grade, from environment: AttestationEnvironment
    ) throws(AttestationRefusal) -> RequestAttestation {
        guard attestation.environments.contains(environment) else { throw .environment(.notAllowed) }
        return RequestAttestation(grade: grade, environment: environment)
    }
}
