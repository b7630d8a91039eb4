/// All that a plan is made from.
public struct SyncState: Sendable {
    public var desired: [DesiredExperience]
    public var applied: [AppliedExperience]
    /// Identifiers that Doorstep removed, or that App Store Connect answered with 404: a listing that still has them is stale.
    public var removedIDs: Set<String>
    public var listing: RemoteListing

    public init(
        desired: [DesiredExperience], applied: [AppliedExperience], removedIDs: Set<String> = [],
        listing: RemoteListing
    ) {
        self.desired = desired
        self.applied = applied
        self.removedIDs = removedIDs
        self.listing = listing
    }
}
