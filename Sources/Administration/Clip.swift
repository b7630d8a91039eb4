public import Tenancy

/// An App Clip of a tenant.
public struct Clip: Sendable, Hashable {
    public let bundleID: BundleID
    /// The full app, whose bundle ID the clip's extends.
    public let parentBundleID: BundleID
    public let teamID: TeamID
    /// Whether the clip serves many businesses, so that each notification must name one.
    public let isMultiBusiness: Bool

    /// Takes the parent to be all but the last component of the clip's bundle ID.
    public init(bundleID: BundleID, teamID: TeamID, isMultiBusiness: Bool) throws(AdministrationError) {
        guard let parent = bundleID.parent else { throw .clipWithoutParent }
        self.bundleID = bundleID
        parentBundleID = parent
        self.teamID = teamID
        self.isMultiBusiness = isMultiBusiness
    }
}
