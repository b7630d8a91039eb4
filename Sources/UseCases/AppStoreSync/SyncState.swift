/// All that a plan is made from.
public struct SyncState: Sendable {
    public var desired: [DesiredExperience]
    public var applied: [AppliedExperience]
    /// IDs that Doorstep removed, or for which App Store Connect responded 404. A list that still has them is outdated.
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
