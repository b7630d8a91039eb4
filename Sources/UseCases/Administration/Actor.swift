public import Tenancy

/// Who changes a tenant's data.
public enum Actor: Sendable, Hashable {
    /// A key: it may make and change only keys that may do no more than itself.
    case key(KeyID)
    /// An operator of the installation, who may do everything. The name is such as `operator:alice`.
    case administrator(String)

    /// The actor's name in the audit log.
    public var name: String {
        switch self {
        case .key(let id): id.actor
        case .administrator(let name): name
        }
    }
}
