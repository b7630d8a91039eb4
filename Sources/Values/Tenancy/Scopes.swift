/// The permissions of a key.
public struct Scopes: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public init(_ scope: Scope) {
        self.init(rawValue: 1 << scope.bit)
    }

    public static let all = Scopes(Scope.allCases.map(Scopes.init))

    public func contains(_ scope: Scope) -> Bool { contains(Scopes(scope)) }

    /// In the order of ``Scope``.
    public var list: [Scope] { Scope.allCases.filter(contains) }
}

extension Scope {
    fileprivate var bit: UInt8 {
        switch self {
        case .lookup: 0
        case .confirm: 1
        case .compose: 2
        case .register: 3
        case .notify: 4
        case .read: 5
        case .manage: 6
        case .manageKeys: 7
        }
    }
}
