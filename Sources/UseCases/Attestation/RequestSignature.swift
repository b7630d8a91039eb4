public import AppAttest
public import AppSiteAssociation

/// That an app has signed a request, once.
public struct RequestSignature: Sendable, Hashable {
    public let appID: AppID
    public let environment: AttestationEnvironment

    /// How well that attests a request for a clip.
    /// - Throws: `.appID` for a clip of another app.
    public func attestation(for clip: AttestedClip) throws(AttestationRefusal) -> RequestAttestation {
        guard appID == clip.appID else { throw .appID }
        guard clip.attestation.environments.contains(environment) else { throw .environment(.notAllowed) }
        return RequestAttestation(grade: .request, environment: environment)
    }
}
