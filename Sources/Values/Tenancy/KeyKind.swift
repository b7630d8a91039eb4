/// What a key may be used for, and how its text begins.
public enum KeyKind: String, Sendable, CaseIterable {
    /// `dpk_…`: may ship inside an app; reaches lookups, confirmations and the registration of instances.
    case publishable
    /// `dsk_…`: stays on servers; can be made for everything of its tenant.
    case secret

    public var prefix: String {
        switch self {
        case .publishable: "dpk_"
        case .secret: "dsk_"
        }
    }

    /// What a key of this kind may do at most.
    public var scopes: Scopes {
        switch self {
        case .publishable: [Scopes(.lookup), Scopes(.confirm), Scopes(.register)]
        case .secret: .all
        }
    }

    /// What a key of this kind may do at most that is restricted to locations: a secret one all but to manage, which is of all
    /// that a tenant has, and to register, since an instance has one permission and one token wherever it is launched; a
    /// publishable one, which is in every copy of an app, cannot be restricted.
    public var scopesAtLocations: Scopes {
        self == .secret
            ? scopes.subtracting([Scopes(.manage), Scopes(.manageKeys), Scopes(.register)]) : []
    }

    /// What a key of this kind may do where nothing is named: those that manage are given only to keys that are made for it.
    public var usualScopes: Scopes {
        scopes.subtracting([Scopes(.read), Scopes(.manage), Scopes(.manageKeys)])
    }

    /// The same of one that is restricted to locations, or not.
    public func usualScopes(isRestricted: Bool) -> Scopes {
        isRestricted ? usualScopes.intersection(scopesAtLocations) : usualScopes
    }
}
