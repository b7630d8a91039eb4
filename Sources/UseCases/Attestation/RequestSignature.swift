public import AppAttest
public import AppSiteAssociation

/// That an app has signed a request, once.
public struct RequestSignature: Sendable, Hashable {
    /// The key ID, 32 bytes.
    public let keyID: [UInt8]
    public let appID: AppID
    /// Properties that the app reported when it signed.
    public let build: AttestedBuild

    /// How well that attests a request for a clip, which may be another of the app's than the key's.
    /// - Throws: `.appID` for a clip of another app, else the policy that the build does not meet.
    public func attestation(for clip: AttestedClip) throws(AttestationRefusal) -> RequestAttestation {
        guard appID == clip.appID else { throw .appID }
        return try clip.taking(.request, by: keyID, from: build)
    }
}
