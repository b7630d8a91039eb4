public import AppAttest
public import AppSiteAssociation
public import Cards
public import Tenancy

/// An App Clip of a tenant.
public struct Clip: Sendable, Hashable {
    public let bundleID: BundleID
    /// The full app, whose bundle ID the clip's extends.
    public let parentBundleID: BundleID
    public let teamID: TeamID
    /// What the App IDs of the clip and of its app begin with; APNs and its keys have the team's ID only.
    public let appIDPrefix: AppIDPrefix
    /// Whether the clip serves many businesses, so that each notification must name one.
    public let isMultiBusiness: Bool
    /// What its requests must bring of App Attest; nil for nothing.
    public var attestation: ClipAttestation?
    public var links: ClipLinks
    /// What Apple's card of its experiences says where neither they nor their locations do.
    public var card: Card

    /// Takes the parent to be all but the last component of the clip's bundle ID.
    /// - Parameter appIDPrefix: nil for the team's ID, which all but old apps have.
    public init(
        bundleID: BundleID, teamID: TeamID, appIDPrefix: AppIDPrefix? = nil, isMultiBusiness: Bool,
        attestation: ClipAttestation? = nil, links: ClipLinks = .none, card: Card = Card()
    ) throws(AdministrationError) {
        guard let parent = bundleID.parent else { throw .clipWithoutParent }
        self.bundleID = bundleID
        parentBundleID = parent
        self.teamID = teamID
        self.appIDPrefix = appIDPrefix ?? AppIDPrefix(teamID)
        self.isMultiBusiness = isMultiBusiness
        self.attestation = attestation
        self.links = links
        self.card = card
    }

    /// What an association file calls the clip.
    public var appID: AppID { AppID(prefix: appIDPrefix, bundleID: bundleID) }

    /// The prefix, unless it is the team's ID.
    public var ownAppIDPrefix: AppIDPrefix? { appIDPrefix == AppIDPrefix(teamID) ? nil : appIDPrefix }
}
