/// What a key may be used for, and how its text begins.
public enum KeyKind: String, Sendable, CaseIterable {
    /// `dpk_…`: may ship inside an app; reaches lookups and confirmations.
    case publishable
    /// `dsk_…`: stays on servers; reaches everything of its tenant.
    case secret

    public var prefix: String {
        switch self {
        case .publishable: "dpk_"
        case .secret: "dsk_"
        }
    }

    public var scopes: Set<Scope> {
        switch self {
        case .publishable: [.lookUp, .confirm]
        case .secret: Set(Scope.allCases)
        }
    }
}
