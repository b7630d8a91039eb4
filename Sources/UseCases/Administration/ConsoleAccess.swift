public import Invocation
public import Tenancy

/// The identity and rights of a person at the operators' console.
public struct ConsoleAccess: Sendable, Hashable {
    /// The name in the audit log, chosen by the creator of the link.
    public let name: DisplayName
    /// The only visible tenant; nil for all tenants.
    public let tenant: TenantID?
    public let isReadOnly: Bool

    public init(name: DisplayName, tenant: TenantID? = nil, isReadOnly: Bool = false) {
        self.name = name
        self.tenant = tenant
        self.isReadOnly = isReadOnly
    }

    /// The actor in the audit log.
    public var actor: String { "console:\(name)" }

    public func sees(_ tenant: TenantID) -> Bool { self.tenant == nil || self.tenant == tenant }
}

/// A read-only session requested a change, which the database refused.
public struct ReadOnlyAccess: Error, Sendable, Hashable, CustomStringConvertible {
    public init() {}

    public var description: String { "this session may read and not change anything" }
}
