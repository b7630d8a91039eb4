public import Foundation

/// An event at the operators' console that concerns no tenant, so that no tenant's audit log contains it.
public struct ConsoleEvent: Sendable, Hashable {
    public enum Kind: String, Sendable, CaseIterable {
        case linkMade = "link_made"
        case signedIn = "signed_in"
        case signedOut = "signed_out"
        case sessionEnded = "session_ended"
        case allSessionsEnded = "all_sessions_ended"
        case keyShown = "key_shown"
    }

    /// Larger for later events.
    public let id: Int
    public let at: Date
    public let kind: Kind
    /// The actor that the console or the command named.
    public let name: String
    /// The database login.
    public let login: String

    public init(id: Int, at: Date, kind: Kind, name: String, login: String) {
        self.id = id
        self.at = at
        self.kind = kind
        self.name = name
        self.login = login
    }
}
