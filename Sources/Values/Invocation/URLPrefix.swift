/// The registered URL of an experience: it matches every invocation URL that it is a prefix of.
///
/// `https`, ASCII host that is no IP address, no port, no fragment. The text is made canonical like an
/// invocation URL (`https://Example.com:443/menu/` is registered as `https://example.com/menu`). [ours]
public struct URLPrefix: Sendable, Hashable, CustomStringConvertible {
    /// The maximum number of different query items of a registered URL. [ours]
    public static let maximumQueryItems = 16

    /// The maximum number of path components of a registered URL. [ours]
    public static let maximumPathComponents = 32

    /// The whole URL as canonical text, its query items in the order given.
    public let canonical: String

    public let host: String

    /// The path's components, canonical and percent-encoded.
    public let pathComponents: [String]

    /// The different query items, ordered by the bytes of their text.
    public let queryItems: [QueryItem]

    /// The default link, if the URL is one.
    let defaultLink: DefaultLink?

    public init(_ text: String) throws(URLPrefixError) {
        let url: InvocationURL
        do {
            url = try InvocationURL(text)
        } catch {
            throw .invalidURL(error)
        }
        guard url.scheme == "https" else { throw .notHTTPS }
        guard url.isHostWritten(in: text) else { throw .nonASCIIHost(aLabel: url.host) }
        guard url.port == nil else { throw .port }
        guard url.isMatchable else { throw .ipAddress }
        guard url.fragment == nil else { throw .fragment }
        let pathComponents = url.pathComponents
        guard pathComponents.count <= Self.maximumPathComponents else { throw .tooManyPathComponents }
        let queryItems = url.distinctQueryItems
        guard queryItems.count <= Self.maximumQueryItems else { throw .tooManyQueryItems }

        canonical = url.canonical
        host = url.host
        self.pathComponents = pathComponents
        self.queryItems = queryItems
        defaultLink = DefaultLink(url)
    }

    public var description: String { canonical }

    /// Whether this is a prefix of an invocation's URL.
    ///
    /// Hosts are equal, the path components are the first ones of the invocation's, and each query item is
    /// among the invocation's.
    /// Source: Apple, "Configuring App Clip experiences", "Take advantage of URL prefix matching"; whole
    /// components and the treatment of queries are [ours].
    public func matches(_ invocation: InvocationURL) -> Bool {
        invocation.isMatchable && invocation.hasHost(host) && invocation.pathStarts(with: pathComponents)
            && queryItems.allSatisfy(invocation.hasQueryItem)
    }

    public static func == (one: Self, other: Self) -> Bool {
        one.canonical == other.canonical
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(canonical)
    }
}

extension InvocationURL {
    /// The different query items, ordered by the bytes of their text.
    var distinctQueryItems: [QueryItem] {
        Set(queryItems).sorted { $0.text < $1.text }
    }

    /// Whether the text that this URL was read from has its host in ASCII.
    fileprivate func isHostWritten(in text: String) -> Bool {
        guard let parts = try? URLParts(text.utf8.span) else { return false }
        return text.utf8.span.extracting(parts.host).allSatisfy { $0 < 0x80 }
    }
}
