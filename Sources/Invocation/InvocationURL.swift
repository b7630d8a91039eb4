/// The URL that launched an App Clip, in canonical form.
///
/// Two texts that mean the same URL have the same canonical text, and canonicalising that text changes
/// nothing:
/// - Scheme and host are lower-cased; the host is in A-labels, without its trailing dot; an empty port goes,
///   and so does `:443` of `https`. [ours, RFC 3986 §6]
/// - In path, query and fragment percent-encoding is upper-case, encoded unreserved characters are decoded,
///   and what RFC 3986 allows in none of them is encoded, other characters than ASCII as UTF-8. Unicode is
///   not normalised. [ours, RFC 3986 §6]
/// - Dot segments of the path are removed (RFC 3986 §5.2.4), an encoded dot counting as a dot; `%2F` stays.
///   Trailing slashes go; an inner empty segment and case stay. [ours]
/// - The query's items keep their order, `+` is a plus, `a=` becomes `a`; an item with neither name nor value
///   goes, and so does an empty query or fragment. [ours]
public struct InvocationURL: Sendable, Hashable, CustomStringConvertible {
    /// The most bytes that an invocation URL has, as given and in canonical form.
    public static let maximumLength = 2_048

    /// The whole URL as canonical text, ASCII only, query and fragment included.
    public let canonical: String

    public let scheme: String

    /// The host: a domain name in A-labels, or an IP address (IPv6 in brackets).
    public let host: String

    /// The port, unless it is the default one of `https`.
    public let port: Int?

    /// The path's components, canonical and percent-encoded, none empty at the end.
    public let pathComponents: [String]

    /// The query's items, in the order of the URL.
    public let queryItems: [QueryItem]

    /// The fragment, canonical and percent-encoded; never used to match.
    public let fragment: String?

    /// Whether an experience can match the URL at all: `https`, no port, and a host that is no IP address.
    public let isMatchable: Bool

    /// Reads a URL as a person, a tag or an app gives it.
    ///
    /// Characters other than ASCII are taken in host, path, query and fragment, as people scan and paste
    /// them. [ours]
    /// - Throws: the first reason found why the text is refused.
    public init(_ text: String) throws(InvocationURLError) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= Self.maximumLength else { throw .tooLong }
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x00...0x1F, 0x7F...0x9F: throw .controlCharacter
            case 0x20: throw .space
            case 0x5C: throw .backslash
            default: continue
            }
        }
        guard PercentEncoding.isWellFormed(bytes) else { throw .malformedPercentEncoding }

        let parts = try URLParts(bytes)
        let scheme = String(decoding: parts.scheme.map(\.lowercasedASCII), as: UTF8.self)
        let host = try InvocationHost(parts.host)
        let port = try Self.port(parts.port, of: scheme)
        let pathComponents = Self.pathComponents(parts.path)
        let queryItems = parts.query.split(separator: UInt8(ascii: "&")).map { QueryItem($0) }
            .filter { !$0.name.isEmpty || !$0.value.isEmpty }
        let fragment = PercentEncoding.canonical(parts.fragment, allowing: \.isQueryCharacter)

        var canonical = "\(scheme)://\(host.text)"
        if let port { canonical += ":\(port)" }
        for component in pathComponents { canonical += "/" + component }
        if !queryItems.isEmpty { canonical += "?" + queryItems.map(\.text).joined(separator: "&") }
        if !fragment.isEmpty { canonical += "#" + fragment }
        guard canonical.utf8.count <= Self.maximumLength else { throw .tooLong }

        self.canonical = canonical
        self.scheme = scheme
        self.host = host.text
        self.port = port
        self.pathComponents = pathComponents
        self.queryItems = queryItems
        self.fragment = fragment.isEmpty ? nil : fragment
        isMatchable = scheme == "https" && port == nil && !host.isIPAddress
    }

    /// The URL without its query and fragment, which may hold a coordinate or a signature.
    public var description: String {
        String(canonical.prefix { $0 != "?" && $0 != "#" })
    }

    /// The canonical text without the fragment.
    public var canonicalWithoutFragment: String {
        String(canonical.prefix { $0 != "#" })
    }

    public static func == (one: Self, other: Self) -> Bool {
        one.canonical == other.canonical
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(canonical)
    }

    private static func port(
        _ digits: some Collection<UInt8>, of scheme: String
    ) throws(InvocationURLError) -> Int? {
        guard !digits.isEmpty else { return nil }
        guard digits.allSatisfy(\.isASCIIDigit),
            let port = UInt16(String(decoding: digits, as: UTF8.self))
        else { throw .invalidPort }
        return scheme == "https" && port == 443 ? nil : Int(port)
    }

    private static func pathComponents(_ path: some Collection<UInt8>) -> [String] {
        var components: [String] = []
        for segment in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            switch PercentEncoding.canonical(segment, allowing: \.isPathCharacter) {
            case ".": continue
            case "..": _ = components.popLast()
            case let component: components.append(component)
            }
        }
        while components.last?.isEmpty == true { components.removeLast() }
        return components
    }
}
