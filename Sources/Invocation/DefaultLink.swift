public import Tenancy

/// The link that App Store Connect makes for a clip's default experience:
/// `https://appclip.apple.com/id?p=<bundle id>&key=value`.
///
/// Source: Apple, "Configuring App Clip experiences", which prints the link without the name `p`; that the
/// first query item is `p` is [observed].
public struct DefaultLink: Sendable, Hashable {
    /// Apple's, which no other domain's clips can be associated with.
    static let host = "appclip.apple.com"

    /// The clip that the link opens.
    public let clip: BundleID

    /// Nil when the URL is no default link.
    public init?(_ invocation: InvocationURL) {
        guard invocation.isMatchable else { return nil }
        self.init(
            host: invocation.host, pathComponents: invocation.pathComponents,
            firstQueryItem: invocation.queryItems.first)
    }

    /// Nil when the registered URL is no default link.
    public init?(_ prefix: URLPrefix) {
        self.init(
            host: prefix.host, pathComponents: prefix.pathComponents, firstQueryItem: prefix.firstQueryItem)
    }

    private init?(host: String, pathComponents: [String], firstQueryItem: QueryItem?) {
        guard host == Self.host, pathComponents == ["id"], let item = firstQueryItem,
            item.name == "p", let value = item.decodedValue, let clip = try? BundleID(value)
        else { return nil }
        self.clip = clip
    }
}
