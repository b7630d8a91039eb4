public import Tenancy

/// Whom somebody is at the operators' console, and what they may do there.
public struct ConsoleAccess: Sendable, Hashable {
    /// For the audit log; taken as it is said by whoever makes the link.
    public let name: DisplayName
    /// The one tenant that is seen; nil for all.
    public let tenant: TenantID?
    public let isReadOnly: Bool

    public init(name: DisplayName, tenant: TenantID? = nil, isReadOnly: Bool = false) {
        self.name = name
        self.tenant = tenant
        self.isReadOnly = isReadOnly
    }

    /// Whom the audit log says made a change.
    public var actor: String { "console:\(name)" }

    public func sees(_ tenant: TenantID) -> Bool { self.tenant == nil || self.tenant == tenant }
}

/// That a change was asked for where nothing may be changed: the database has refused it.
public struct ReadOnlyAccess: Error, Sendable, Hashable, CustomStringConvertible {
    public init() {}

    public var description: String { "this session may read and not change anything" }
}
