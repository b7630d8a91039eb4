import Crypto
public import Foundation
public import Invocation

/// A key that App Attest certifies: it belongs to one install of an app.
public struct AttestedKey: Sendable, Hashable {
    /// The SHA-256 of the public key, 32 bytes. It identifies one install: never show it.
    public let id: [UInt8]
    /// Uncompressed as in SEC 1 §2.3.3, 65 bytes.
    public let publicKey: [UInt8]
    public let appID: AppID
    public let environment: AttestationEnvironment
    /// Nil before iOS 27.
    public let category: ValidationCategory?
    /// Nil before iOS 27.
    public let bundleVersion: String?
    /// The receipt that Apple's server exchanges for a risk metric. Not verified: no part of the
    /// attestation signs it [observed].
    public let receipt: [UInt8]
}

/// A verifier for the attestations of App Attest.
///
/// It returns their receipt, a message of PKCS #7, unverified. Verify an attestation when it arrives and
/// never again: its certificate expires within days.
///
/// Source: Apple, "Validating apps that connect to your server".
public struct AttestationVerifier: Sendable {
    private let root: AttestationRoot

    public init(root: AttestationRoot) {
        self.root = root
    }

    /// Verifies a device's attestation of a key.
    ///
    /// This function does not check that the challenge is the server's: the caller must compute
    /// `clientDataHash` from one.
    ///
    /// - Parameters:
    ///   - attestation: At most 16 KiB.
    ///   - keyID: The key ID that the app sent, 32 bytes.
    ///   - clientDataHash: The hash that the app passed to `attestKey`, in general a SHA-256.
    /// - Throws: The refusal of the first step that fails.
    public func verify(
        _ attestation: [UInt8], keyID: [UInt8], clientDataHash: [UInt8], policy: AttestationPolicy,
        at now: Date
    ) async throws(AttestationRefusal) -> AttestedKey {
        let object = try AttestationObject(attestation)
        let steps = Self.steps(
            chain: await defect(of: object, at: now), keyID: keyID, clientDataHash: clientDataHash,
            policy: policy)
        for step in steps {
            if let refusal = step.check(object) { throw refusal }
        }
        let data = object.authenticatorData
        guard let appID = policy.appID(of: data) else { throw .appID }
        guard let environment = AttestationEnvironment(aaguid: object.credential.aaguid) else {
            throw .environment(.unknown)
        }
        return AttestedKey(
            id: keyID, publicKey: object.publicKey, appID: appID, environment: environment,
            category: data.category.flatMap(ValidationCategory.init(rawValue:)),
            bundleVersion: data.bundleVersion, receipt: object.receipt)
    }

    /// Returns the result of each step, including those after a failed one. Takes the parameters of
    /// ``verify(_:keyID:clientDataHash:policy:at:)``.
    public func inspect(
        _ attestation: [UInt8], keyID: [UInt8], clientDataHash: [UInt8], policy: AttestationPolicy,
        at now: Date
    ) async -> AttestationInspection {
        let object: Result<AttestationObject, AttestationRefusal>
        var chain: AttestationRefusal.Chain?
        do throws(AttestationRefusal) {
            let read = try AttestationObject(attestation)
            chain = await defect(of: read, at: now)
            object = .success(read)
        } catch {
            object = .failure(error)
        }
        return AttestationInspection(
            object,
            Self.steps(chain: chain, keyID: keyID, clientDataHash: clientDataHash, policy: policy))
    }

    private func defect(of object: AttestationObject, at now: Date) async -> AttestationRefusal.Chain? {
        await root.defect(leaf: object.leaf, intermediate: object.intermediate, at: now)
    }

    /// Apple's steps, in Apple's order.
    private static func steps(
        chain: AttestationRefusal.Chain?, keyID: [UInt8], clientDataHash: [UInt8], policy: AttestationPolicy
    ) -> [VerificationStep<AttestationObject>] {
        [
            VerificationStep(.chain) { _ in chain.map { .chain($0) } },
            VerificationStep(.nonce) { object in
                do throws(AttestationRefusal) {
                    let nonce = SHA256.hash(data: object.authenticatorBytes + clientDataHash)
                    return nonce == (try object.certifiedNonce()) ? nil : .nonce(.other)
                } catch {
                    return error
                }
            },
            VerificationStep(.keyID) { SHA256.hash(data: $0.publicKey) == keyID ? nil : .keyID },
            VerificationStep(.appID) { policy.appID(of: $0.authenticatorData) == nil ? .appID : nil },
            VerificationStep(.counter) {
                $0.authenticatorData.counter == 0 ? nil : .counter(.notZero)
            },
            VerificationStep(.environment) { object in
                guard let environment = AttestationEnvironment(aaguid: object.credential.aaguid) else {
                    return .environment(.unknown)
                }
                return policy.environments.contains(environment) ? nil : .environment(.notAllowed)
            },
            VerificationStep(.credential) { object in
                guard object.credential.id == keyID else { return .credential(.id) }
                return object.credential.publicKey == object.publicKey ? nil : .credential(.publicKey)
            },
            VerificationStep(.category) { policy.categoryRefusal(of: $0.authenticatorData) },
            VerificationStep(.bundleVersion) { policy.bundleVersionRefusal(of: $0.authenticatorData) },
        ]
    }
}
