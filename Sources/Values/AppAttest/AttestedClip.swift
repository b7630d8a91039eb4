public import Invocation
public import Tenancy

/// An App Clip that requires attestation.
public struct AttestedClip: Sendable, Hashable {
    public let clip: BundleID
    /// The App ID of the full app, which attestations from the clip contain [Apple].
    public let appID: AppID
    public let attestation: ClipAttestation

    public init(clip: BundleID, appID: AppID, attestation: ClipAttestation) {
        self.clip = clip
        self.appID = appID
        self.attestation = attestation
    }

    /// A clip with unknown requirements and unknown owner: it requires everything and accepts nothing.
    public static func closed(_ clip: BundleID) -> AttestedClip {
        // Any prefix would do: no environment is accepted.
        guard let prefix = try? AppIDPrefix("0000000000") else {
            preconditionFailure("ten digits are a prefix")
        }
        var attestation = ClipAttestation.strictest
        attestation.environments = []
        return AttestedClip(
            clip: clip, appID: AppID(prefix: prefix, bundleID: clip), attestation: attestation)
    }

    /// The policy for the clip's keys. It also accepts the clip's own App ID, in case a device writes that:
    /// both are signed by the same developer. [ours]
    public var policy: AttestationPolicy {
        AttestationPolicy(
            appIDs: [appID, AppID(prefix: appID.prefix, bundleID: clip)],
            environments: attestation.environments, categories: attestation.categories,
            requiresStatements: attestation.requiresStatements)
    }
}
