public import Tenancy

/// What an association file calls an app or an App Clip: its team ID and its bundle ID, as `ABCDE12345.com.example.App`.
///
/// Source: Apple, "applinks.Details": `<Application Identifier Prefix>.<Bundle Identifier>`. The prefix is the team ID of
/// every app that was registered since 2011; older ones are not read [ours].
public struct AppID: Sendable, Hashable, CustomStringConvertible {
    public let teamID: TeamID
    public let bundleID: BundleID

    public init(teamID: TeamID, bundleID: BundleID) {
        self.teamID = teamID
        self.bundleID = bundleID
    }

    public init(_ text: String) throws(TenancyError) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        try self.init(
            teamID: TeamID(String(parts[0])), bundleID: BundleID(parts.count > 1 ? String(parts[1]) : ""))
    }

    public var text: String { "\(teamID.text).\(bundleID.text)" }

    public var description: String { text }

    /// The app that an App Clip with this ID belongs to.
    public var parent: AppID? {
        bundleID.parent.map { AppID(teamID: teamID, bundleID: $0) }
    }
}
