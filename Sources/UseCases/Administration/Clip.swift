public import AppAttest
public import Cards
public import Invocation
public import Tenancy

/// An App Clip of a tenant.
public struct Clip: Sendable, Hashable {
    public let bundleID: BundleID
    /// The bundle ID of the full app. The clip's bundle ID extends it by one or more components.
    ///
    /// Source: Apple, "Creating an App Clip with Xcode": the clip's bundle ID starts with the app's.
    public let parentBundleID: BundleID
    public let teamID: TeamID
    /// The prefix of the App IDs of the clip and its app. APNs and its keys use only the team's ID.
    public let appIDPrefix: AppIDPrefix
    /// Whether the clip serves many businesses, so that each notification must name one.
    public let isMultiBusiness: Bool
    /// The App Attest policy for the clip's requests; nil for none.
    public var attestation: ClipAttestation?
    public var links: ClipLinks
    /// The clip's experiences inherit the members of this card, unless their locations' cards have them.
    public var card: Card

    /// - Parameters:
    ///   - parentBundleID: nil for the clip's bundle ID without its last component.
    ///   - appIDPrefix: nil for the team's ID. Only old apps have another prefix.
    /// - Throws: `clipWithoutParent`, or `invalidParentBundleID` if the clip's bundle ID does not begin with the parent's.
    public init(
        bundleID: BundleID, parentBundleID: BundleID? = nil, teamID: TeamID, appIDPrefix: AppIDPrefix? = nil,
        isMultiBusiness: Bool, attestation: ClipAttestation? = nil, links: ClipLinks = .none,
        card: Card = Card()
    ) throws(AdministrationError) {
        guard let derived = bundleID.parent else { throw .clipWithoutParent }
        let parent = parentBundleID ?? derived
        guard bundleID.text.hasPrefix(parent.text + ".") else {
            throw .invalidParentBundleID(parent, of: bundleID)
        }
        self.bundleID = bundleID
        self.parentBundleID = parent
        self.teamID = teamID
        self.appIDPrefix = appIDPrefix ?? AppIDPrefix(teamID)
        self.isMultiBusiness = isMultiBusiness
        self.attestation = attestation
        self.links = links
        self.card = card
    }

    /// The clip's App ID in an association file.
    public var appID: AppID { AppID(prefix: appIDPrefix, bundleID: bundleID) }

    /// The app's App ID in an association file.
    public var parentAppID: AppID { AppID(prefix: appIDPrefix, bundleID: parentBundleID) }

    /// The prefix, unless it is the team's ID.
    public var ownAppIDPrefix: AppIDPrefix? { appIDPrefix == AppIDPrefix(teamID) ? nil : appIDPrefix }
}
