/// The URL that launched an App Clip, in canonical form.
///
/// Two texts that denote the same URL have the same canonical text, and canonicalising that text changes
/// nothing:
/// - Scheme and host are lower-cased; the host is in A-labels, without its trailing dot; an empty port is
///   removed, as is `:443` of `https`. [ours, RFC 3986 §6]
/// - In path, query and fragment, percent-encoding is upper-case, and encoded unreserved characters are
///   decoded. Characters that RFC 3986 allows in none of them are encoded, those outside ASCII as UTF-8.
///   Unicode is not normalised. [ours, RFC 3986 §6]
/// - Dot segments of the path are removed (RFC 3986 §5.2.4), where an encoded dot counts as a dot; `%2F`
///   remains. Trailing slashes are removed; an inner empty segment and case remain. [ours]
/// - The query's items keep their order, `+` is a plus, `a=` becomes `a`; an item with neither name nor
///   value is removed, as is an empty query or fragment. [ours]
public struct InvocationURL: Sendable, CustomStringConvertible {
    /// The maximum length of an invocation URL in bytes, as given and in canonical form.
    public static let maximumLength = 2_048

    /// The canonical text, ASCII only, query and fragment included; all else is read from it.
    public let bytes: [UInt8]

    private let marks: URLMarks

    /// Reads a URL from a person, a tag or an app.
    ///
    /// Characters outside ASCII are accepted in host, path, query and fragment, as people scan and paste
    /// them. [ours]
    ///
    /// - Throws: The first reason found why the text is refused.
    public init(_ text: String) throws(InvocationURLError) {
        try self.init(utf8: text.utf8.span)
    }

    /// Reads a URL from text that is not a `String` yet.
    ///
    /// - Parameter text: Valid UTF-8; other bytes give an unspecified URL or an error.
    /// - Throws: The first reason found why the text is refused.
    public init(utf8 text: Span<UInt8>) throws(InvocationURLError) {
        if let marks = URLMarks(ofCanonical: text) {
            bytes = text.withUnsafeBufferPointer { Array($0) }
            self.marks = marks
        } else {
            let url = try CanonicalURL(text)
            bytes = url.bytes
            marks = url.marks
        }
    }

    /// Whether an experience can match the URL at all: `https`, no port, and a host that is no IP address.
    public var isMatchable: Bool { marks.isMatchable }

    /// The range of the host in `bytes`.
    public var hostRange: Range<Int> { (Int(marks.schemeEnd) + 3)..<Int(marks.hostEnd) }

    /// The range of the path in `bytes`, from its first slash; empty, after host and port, if there is
    /// none.
    public var pathRange: Range<Int> { Int(marks.authorityEnd)..<Int(marks.pathEnd) }

    /// The range of the query in `bytes`, without its `?`, items separated by `&`; empty, after the path,
    /// if there is none.
    public var queryRange: Range<Int> {
        min(Int(marks.pathEnd) + 1, Int(marks.queryEnd))..<Int(marks.queryEnd)
    }
}

extension InvocationURL {
    /// The whole URL as canonical text, ASCII only, query and fragment included.
    public var canonical: String { text(bytes.indices) }

    /// The canonical text without the fragment.
    public var canonicalWithoutFragment: String { text(0..<Int(marks.queryEnd)) }

    /// The URL without its query and fragment, which may contain a coordinate or a signature.
    public var description: String { text(0..<Int(marks.pathEnd)) }

    public var scheme: String { text(0..<Int(marks.schemeEnd)) }

    /// The host: a domain name in A-labels, or an IP address (IPv6 in brackets).
    public var host: String { text(hostRange) }

    /// The port, unless it is the default one of `https`.
    public var port: Int? {
        Int(text(Int(marks.hostEnd)..<Int(marks.authorityEnd)).dropFirst())
    }

    /// The path's components, canonical and percent-encoded, none empty at the end.
    public var pathComponents: [String] {
        bytes[pathRange].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// The query's items, in the order of the URL.
    public var queryItems: [QueryItem] {
        bytes[queryRange].split(separator: UInt8(ascii: "&")).map { QueryItem(canonical: $0) }
    }

    /// The fragment, canonical and percent-encoded; never used to match.
    public var fragment: String? {
        Int(marks.queryEnd) < bytes.count ? text((Int(marks.queryEnd) + 1)..<bytes.count) : nil
    }

    /// The part of the canonical text that stands in a range of `bytes`.
    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}

extension InvocationURL: Hashable {
    public static func == (one: Self, other: Self) -> Bool {
        one.bytes == other.bytes
    }

    /// Hashes all bytes in one call: an array would feed them one by one.
    public func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(UInt8(0xFF))
    }
}
