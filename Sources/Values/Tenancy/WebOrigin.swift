/// The origin of a web page, as browsers send it in `Origin` (RFC 6454 §7, HTML).
public struct WebOrigin: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// The most origins of a tenant. [ours]
    public static let maximumCount = 16
    /// The longest origin in bytes. [ours]
    public static let maximumLength = 255

    /// The reason why a text is no origin, or why a list has none.
    public struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        public let description: String
    }

    /// - Throws: For anything but `https`, a host in lower case and a port that is not the default; also for `*` and `null`. `http` is
    ///   allowed for pages on the developer's own machine: `localhost` and `127.0.0.1`. [ours]
    public init(_ text: String) throws(Refusal) {
        guard text.utf8.count <= Self.maximumLength, Self.isOrigin(text) else {
            throw Refusal(
                description:
                    "an origin is https:// with a host in lower case, and a port unless it is 443, such as https://order.example.com; "
                    + "http:// is allowed for localhost and 127.0.0.1"
            )
        }
        self.text = text
    }

    public var description: String { text }

    /// Origins in one order, each once.
    public static func list(_ texts: [String]) throws(Refusal) -> [WebOrigin] {
        guard texts.count <= maximumCount else {
            throw Refusal(description: "a tenant has at most \(maximumCount) origins")
        }
        var origins: Set<WebOrigin> = []
        for text in texts { origins.insert(try WebOrigin(text)) }
        return origins.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    }

    private static func isOrigin(_ text: String) -> Bool {
        let isSecure = text.utf8.starts(with: "https://".utf8)
        guard isSecure || text.utf8.starts(with: "http://".utf8) else { return false }
        let parts = text.utf8.dropFirst(isSecure ? 8 : 7).split(
            separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count <= 2, isHost(parts[0]),
            isSecure || ["localhost", "127.0.0.1"].contains(String(decoding: parts[0], as: UTF8.self))
        else { return false }
        guard parts.count == 2 else { return true }
        guard let port = UInt16(String(decoding: parts[1], as: UTF8.self)) else { return false }
        return port > 0 && port != (isSecure ? 443 : 80) && "\(port)".utf8.elementsEqual(parts[1])
    }

    /// Labels of lower-case letters, digits and hyphens, joined by dots.
    private static func isHost(_ host: Substring.UTF8View) -> Bool {
        host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
                && label.last != UInt8(ascii: "-")
                && label.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                        UInt8(ascii: "-"):
                        true
                    default: false
                    }
                }
        }
    }
}
