public import Tenancy

/// The actor of a change to a tenant's data.
public enum Actor: Sendable, Hashable {
    /// A key. It may create and change only keys without more rights than its own.
    case key(KeyID)
    /// An operator of the deployment, with all rights. The name has the form `operator:alice`.
    case administrator(String)

    /// The actor's name in the audit log.
    public var name: String {
        switch self {
        case .key(let id): id.actor
        case .administrator(let name): name
        }
    }
}
