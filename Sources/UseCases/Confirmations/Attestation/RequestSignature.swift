public import AppAttest
public import Invocation

/// The proof that an app signed one request.
public struct RequestSignature: Sendable, Hashable {
    /// The key ID, 32 bytes.
    public let keyID: [UInt8]
    public let appID: AppID
    /// Properties that the app reported when it signed.
    public let build: AttestedBuild

    /// The grade of attestation that the signature gives a request for a clip. The key may belong to another clip of the same app.
    /// - Throws: `.appID` for a clip of another app; the policy that the build does not meet.
    public func attestation(for clip: AttestedClip) throws(AttestationRefusal) -> RequestAttestation {
        guard appID == clip.appID else { throw .appID }
        return try clip.taking(.request, by: keyID, from: build)
    }
}
