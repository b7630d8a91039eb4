/// The prefix of the App IDs of an app and its App Clip, ten upper-case letters and digits such as
/// `ABCDE12345`.
///
/// Source: Apple, "Associated Domains Entitlement": `<Application Identifier Prefix>.<Bundle Identifier>`.
/// It equals the team's ID, except for old apps, which have a prefix of their own. Only App IDs use it.
public struct AppIDPrefix: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) throws(TenancyError) {
        guard TeamID.isWellFormed(text) else { throw .invalidAppIDPrefix }
        self.text = text
    }

    /// Creates the prefix of every app that has none of its own.
    public init(_ team: TeamID) {
        text = team.text
    }

    public var description: String { text }
}
