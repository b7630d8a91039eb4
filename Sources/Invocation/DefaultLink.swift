public import Tenancy

/// The link that App Store Connect makes for a clip's default experience:
/// `https://appclip.apple.com/id?p=<bundle id>&key=value`.
///
/// Source: Apple, "Configuring App Clip experiences", which prints the link without the name `p`; that the
/// first query item is `p` is [observed].
public struct DefaultLink: Sendable, Hashable {
    /// Apple's, which no other domain's clips can be associated with.
    public static let host = "appclip.apple.com"

    /// The clip that the link opens.
    public let clip: BundleID

    /// Nil when the URL is no default link.
    public init?(_ invocation: InvocationURL) {
        let query = invocation.bytes[invocation.queryRange]
        guard invocation.isMatchable, invocation.hasHost(Self.host),
            invocation.bytes[invocation.pathRange].elementsEqual("/id".utf8), query.starts(with: "p=".utf8),
            let value = PercentEncoding.decoded(query.dropFirst(2).prefix { $0 != UInt8(ascii: "&") }),
            let clip = try? BundleID(value)
        else { return nil }
        self.clip = clip
    }

    /// Nil when the registered URL is no default link.
    public init?(_ prefix: URLPrefix) {
        guard let link = prefix.defaultLink else { return nil }
        self = link
    }
}
