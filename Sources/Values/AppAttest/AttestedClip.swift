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

    /// A clip of which is not known what it asks for, nor whose it is: it asks for everything and takes nothing.
    public static func closed(_ clip: BundleID) -> AttestedClip {
        // Any prefix would do: no environment is taken.
        guard let prefix = try? AppIDPrefix("0000000000") else {
            preconditionFailure("ten digits are a prefix")
        }
        var attestation = ClipAttestation.strictest
        attestation.environments = []
        return AttestedClip(
            clip: clip, appID: AppID(prefix: prefix, bundleID: clip), attestation: attestation)
    }

    /// What its keys are verified by. The clip's own App ID is taken too, should a device write that: whoever signs the one
    /// signs the other. [ours]
    public var policy: AttestationPolicy {
        AttestationPolicy(
            appIDs: [appID, AppID(prefix: appID.prefix, bundleID: clip)],
            environments: attestation.environments, categories: attestation.categories,
            requiresStatements: attestation.requiresStatements)
    }
}
