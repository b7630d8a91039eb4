/// What the App IDs of an app and its App Clip begin with, ten upper-case letters and digits such as `ABCDE12345`.
///
/// Source: Apple, "Associated Domains Entitlement": `<Application Identifier Prefix>.<Bundle Identifier>`. It is the ID of
/// the team, but for old apps, which have one of their own; nothing else than App IDs is made with it.
public struct AppIDPrefix: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) throws(TenancyError) {
        guard TeamID.isWellFormed(text) else { throw .invalidAppIDPrefix }
        self.text = text
    }

    /// The prefix of every app that has none of its own.
    public init(_ team: TeamID) {
        text = team.text
    }

    public var description: String { text }
}
