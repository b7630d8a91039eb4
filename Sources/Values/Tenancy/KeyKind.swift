/// The kind of a key, which limits its scopes and determines the beginning of its text.
public enum KeyKind: String, Sendable, CaseIterable {
    /// `dpk_…`: may ship inside an app; can be used for lookups, confirmations and the registration of
    /// instances.
    case publishable
    /// `dsk_…`: stays on servers; can have every scope.
    case secret

    /// The beginning of a key's text.
    /// - Parameter isTest: Whether the key belongs to a test tenant. Its keys begin with `dpk_test_` and `dsk_test_`.
    public func prefix(isTest: Bool) -> String {
        let own =
            switch self {
            case .publishable: "dpk_"
            case .secret: "dsk_"
            }
        return isTest ? own + "test_" : own
    }

    /// The scopes that a key of this kind can have at most.
    public var scopes: Scopes {
        switch self {
        case .publishable: [Scopes(.lookup), Scopes(.confirm), Scopes(.register)]
        case .secret: .all
        }
    }

    /// The scopes that a key of this kind can have at most if it is restricted to locations.
    ///
    /// A secret key can have all scopes except `manage` and `register`: `manage` affects the whole tenant,
    /// and an instance has one permission and one token wherever it is launched. A publishable key is in
    /// every copy of an app, so it cannot be restricted.
    public var scopesAtLocations: Scopes {
        self == .secret
            ? scopes.subtracting([Scopes(.manage), Scopes(.manageKeys), Scopes(.register)]) : []
    }

    /// The scopes of a new key if none are named. `read`, `manage` and `manage_keys` must be named.
    public var usualScopes: Scopes {
        scopes.subtracting([Scopes(.read), Scopes(.manage), Scopes(.manageKeys)])
    }

    /// The same for a key that is restricted to locations, or not.
    public func usualScopes(isRestricted: Bool) -> Scopes {
        isRestricted ? usualScopes.intersection(scopesAtLocations) : usualScopes
    }
}
