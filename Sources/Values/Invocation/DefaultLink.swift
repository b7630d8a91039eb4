public import Tenancy

/// The link that App Store Connect generates for a clip's default experience.
///
/// Source: Apple, "Configuring App Clip experiences", which shows it as
/// `https://appclip.apple.com/id?p=<bundle id>` in code and as `https://appclip.apple.com/id?=<bundle
/// id>&key=value` in its text. Both are read; the written form has `p`.
public struct DefaultLink: Sendable, Hashable {
    /// Apple's host; clips cannot be associated with it through any other domain.
    public static let host = "appclip.apple.com"

    /// The clip that the link opens.
    public let clip: BundleID

    /// Nil if the URL is no default link.
    public init?(_ invocation: InvocationURL) {
        let item = invocation.bytes[invocation.queryRange].prefix { $0 != UInt8(ascii: "&") }
        let name = item.prefix { $0 != UInt8(ascii: "=") }
        guard invocation.isMatchable, invocation.hasHost(Self.host),
            invocation.bytes[invocation.pathRange].elementsEqual("/id".utf8),
            name.isEmpty || name.elementsEqual("p".utf8),
            let value = PercentEncoding.decoded(item[name.endIndex...].dropFirst()),
            let clip = try? BundleID(value)
        else { return nil }
        self.clip = clip
    }

    public init(to clip: BundleID) {
        self.clip = clip
    }

    /// The link as Apple shows it in code, to which parameters can be added with `&`.
    public var text: String { "https://\(Self.host)/id?p=\(clip.text)" }

    /// Nil if the registered URL is no default link.
    public init?(_ prefix: URLPrefix) {
        guard let link = prefix.defaultLink else { return nil }
        self = link
    }
}
