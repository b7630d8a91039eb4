public import AppSiteAssociation
public import Tenancy

/// An App Clip that asks for attestations.
public struct AttestedClip: Sendable, Hashable {
    public let clip: BundleID
    /// The full app's, which attestations that are made in the clip carry [documented].
    public let appID: AppID
    public let attestation: ClipAttestation

    public init(clip: BundleID, appID: AppID, attestation: ClipAttestation) {
        self.clip = clip
        self.appID = appID
        self.attestation = attestation
    }

    /// What its keys are verified by. The clip's own App ID is taken too, should a device write that: whoever signs the one
    /// signs the other. [ours]
    public var policy: AttestationPolicy {
        AttestationPolicy(
            appIDs: [appID, AppID(prefix: appID.prefix, bundleID: clip)],
            environments: attestation.environments, categories: attestation.categories)
    }
}
