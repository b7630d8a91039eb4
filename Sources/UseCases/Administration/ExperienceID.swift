import Formats
public import Invocation

/// The ID of an experience in a path: its kind and its URL, in characters that need no encoding.
public struct ExperienceID: Sendable, Hashable {
    public let kind: ExperienceKind
    public let url: URLPrefix

    public init(_ kind: ExperienceKind, _ url: URLPrefix) {
        self.kind = kind
        self.url = url
    }

    /// Nil for a text that is not an experience's ID. Each experience has exactly one ID.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix),
            let bytes = Base64URL.bytes(String(text.dropFirst(Self.prefix.count))),
            let name = String(validating: bytes, as: UTF8.self),
            let kind = ExperienceKind.allCases.first(where: { name.hasPrefix($0.letter) }),
            let url = try? URLPrefix(Self.scheme + name.dropFirst())
        else { return nil }
        self.init(kind, url)
        guard self.text == text else { return nil }
    }

    /// At most 2,727 characters.
    public var text: String {
        Self.prefix + Base64URL.text((kind.letter + url.canonical.dropFirst(Self.scheme.count)).utf8)
    }

    private static let prefix = "exp_"
    /// The prefix of every experience's URL.
    private static let scheme = "https://"
}

extension ExperienceKind {
    fileprivate var letter: String {
        switch self {
        case .advanced: "a"
        case .default: "d"
        case .demo: "m"
        }
    }
}
