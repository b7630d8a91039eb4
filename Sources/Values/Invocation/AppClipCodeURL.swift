/// A URL for an App Clip Code: the reason why it cannot be in a code, and advice on how to make it fit
/// better.
///
/// Only Apple's generator knows whether a URL that is not refused fits: the code's capacity depends on how
/// well the text compresses. Source: Apple, "Encoding a URL in an App Clip Code".
public struct AppClipCodeURL: Sendable, Hashable {
    /// Whether the URL fits in a code, as far as Apple documents it.
    public enum Fit: String, Sendable, Hashable {
        /// Apple documents that it does not.
        case refused

        /// No documented rule excludes it; the generator decides.
        case unknown
    }

    /// Why the URL cannot be in a code. [Apple]
    public enum Refusal: String, Sendable, Hashable, CaseIterable {
        /// The scheme is not `https` in lower case.
        case scheme

        /// The host has another character than `a`–`z`, `.` and `-`, or the URL has a port.
        case host

        /// Path, query or fragment has another character than `a-zA-Z0-9/#?=%-._,+;:&`.
        case character

        /// The default App Clip link cannot be in a code.
        case defaultLink = "default_link"

        /// Among the other links of Apple's host, only the short form of a demo link can be in a code.
        case longDemoLink = "long_demo_link"
    }

    /// A change that makes the URL likelier to fit, and the URL as it is then.
    public struct Advice: Sendable, Hashable {
        public enum Code: String, Sendable, Hashable, CaseIterable {
            case trailingSlash = "trailing_slash"
            case wwwSubdomain = "www_subdomain"
            case appclipSubdomain = "appclip_subdomain"
            /// Use as few subdomains as possible.
            case subdomains
            case pathComponents = "path_components"
            case queryNames = "query_names"
            case decimalValues = "decimal_values"
            case uniqueIdentifier = "unique_identifier"
        }

        public let code: Code

        /// The URL with this one change; values that stand for others are numbered 1, 2, 3.
        public let better: String
    }

    /// The URL as it would be encoded.
    public let text: String

    /// The reasons against it, in the order of `Refusal`.
    public let refusals: [Refusal]

    /// Changes that shorten the encoded URL, in the order of `Advice.Code`. Empty for a refused URL, and
    /// for Apple's links, which cannot be changed.
    public var advice: [Advice] {
        guard refusals.isEmpty, let url = try? InvocationURL(text), !url.hasHost(DefaultLink.host) else {
            return []
        }
        return AppClipCodeAdvisor(url, text: text).advice
    }

    public var fit: Fit { refusals.isEmpty ? .unknown : .refused }

    /// - Parameter text: The URL exactly as it would be encoded.
    public init(_ text: String) throws(InvocationURLError) {
        let url = try InvocationURL(text)
        let bytes = Array(text.utf8)
        let parts = try URLParts(bytes.span)
        self.text = text
        refusals = Self.refusals(url, bytes, parts)
    }

    private static func refusals(
        _ url: InvocationURL, _ bytes: [UInt8], _ parts: URLParts
    ) -> [Refusal] {
        var refusals: [Refusal] = []
        if !bytes[parts.scheme].elementsEqual("https".utf8) { refusals.append(.scheme) }
        let isHostCharacter = { (byte: UInt8) in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || ".-".utf8.contains(byte)
        }
        if !bytes[parts.host].allSatisfy(isHostCharacter) || !parts.port.isEmpty { refusals.append(.host) }
        let isOtherCharacter = { (byte: UInt8) in
            byte.isASCIILetter || byte.isASCIIDigit || "/#?=%-._,+;:&".utf8.contains(byte)
        }
        if ![parts.path, parts.query, parts.fragment].allSatisfy({ bytes[$0].allSatisfy(isOtherCharacter) }) {
            refusals.append(.character)
        }
        if DefaultLink(url) != nil {
            refusals.append(.defaultLink)
        } else if url.hasHost(DefaultLink.host), !url.isShortDemoLink {
            refusals.append(.longDemoLink)
        }
        return refusals
    }
}
