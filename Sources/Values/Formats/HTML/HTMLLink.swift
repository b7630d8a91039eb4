/// The target of a link, or the source of an image: an `https` URL, or a path of the page's own host.
///
/// It cannot have another scheme, so that no link runs a script. [ours]
public struct HTMLLink: Sendable, Hashable {
    public let text: String

    /// Creates a link from a literal in the source.
    public init(_ text: StaticString) {
        self.text = "\(text)"
    }

    /// An absolute URL without user information; nil for anything else.
    public init?(https text: String) {
        let start = "https://"
        guard text.hasPrefix(start), Self.isOfURLCharacters(text) else { return nil }
        let authority = text.utf8.dropFirst(start.utf8.count).prefix { !"/?#".utf8.contains($0) }
        guard let first = authority.first, Self.isLetterOrDigit(first),
            authority.allSatisfy({ Self.isLetterOrDigit($0) || ".-:".utf8.contains($0) })
        else { return nil }
        self.text = text
    }

    /// Creates a link from a path from the root, with query and fragment; nil for any other text, such as
    /// `//host`.
    public init?(path text: String) {
        guard text.hasPrefix("/"), !text.hasPrefix("//"), Self.isOfURLCharacters(text) else { return nil }
        self.text = text
    }

    /// Whether all characters are those of RFC 3986. A browser drops line feeds and treats a backslash as a
    /// slash.
    private static func isOfURLCharacters(_ text: String) -> Bool {
        text.utf8.allSatisfy { isLetterOrDigit($0) || "-._~:/?#[]@!$&'()*+,;=%".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
