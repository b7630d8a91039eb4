public import AppAttest
import Invocation
public import Tenancy

extension TenantTable {
    /// Whether any clip of the tenant requires attestation; if none does, requests skip the checks.
    public var asksForAttestations: Bool {
        guard let index else { return false }
        return snapshot.table.tenants[Int(index)].attestedClipCount > 0
    }

    /// Returns a clip's attestation requirements; nil if it has none, and for an unknown clip.
    public func attestedClip(_ clip: BundleID) -> AttestedClip? {
        guard let index,
            let place = snapshot.table.clipIndices[.init(tenant: index, bundleID: clip.text)]
        else { return nil }
        let entry = snapshot.table.clips[Int(place)]
        guard !entry.isUnreadable else { return .closed(clip) }
        guard let owner = entry.owner, let attestation = owner.attestation else { return nil }
        return AttestedClip(
            clip: clip, appID: AppID(prefix: owner.appIDPrefix, bundleID: owner.parent),
            attestation: attestation)
    }

    /// Whether a key of App Attest is revoked.
    ///
    /// - Parameter key: Its ID, 32 bytes.
    public func isRevoked(attestKey key: [UInt8]) -> Bool {
        guard let index, let digest = LookupIndex.KeyDigest(key.span) else { return false }
        return snapshot.table.revokedAttestKeys.contains(.init(tenant: index, id: digest))
    }

    /// Whether the tenant has the clip.
    public func hasClip(_ clip: BundleID) -> Bool {
        guard let index,
            let place = snapshot.table.clipIndices[.init(tenant: index, bundleID: clip.text)]
        else { return false }
        return snapshot.table.clips[Int(place)].owner != nil
    }
}
