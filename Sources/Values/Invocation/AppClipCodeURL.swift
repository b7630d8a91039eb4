public import Codes

/// A URL for an App Clip Code: the reason why it cannot be in a code, its estimated size, and advice on how to
/// make it shorter.
///
/// Source: Apple, "Encoding a URL in an App Clip Code"; the size is estimated, see ``CodeSizeEstimate``.
public struct AppClipCodeURL: Sendable, Hashable {
    /// Whether the URL fits in a code.
    public enum Fit: String, Sendable, Hashable, CaseIterable {
        /// Apple documents that no code can have it.
        case refused

        /// It fits by its estimated size, or as the short form of a demo link [Apple].
        case fits

        /// It is too long by its estimated size.
        case tooLong = "too_long"

        /// The estimate is too close to the capacity; Apple's generator decides.
        case unknown

        /// Whether no code can have the URL.
        public var isExcluded: Bool { self == .refused || self == .tooLong }
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

    /// A change that shortens the encoded URL, and the URL as it is then.
    public struct Advice: Sendable, Hashable {
        public enum Code: String, Sendable, Hashable, CaseIterable {
            case trailingSlash = "trailing_slash"
            /// Leave out `.html` and the like.
            case fileExtension = "file_extension"
            case lowerCase = "lower_case"
            /// Leave out parameters that only measure campaigns.
            case trackingParameters = "tracking_parameters"
            case wwwSubdomain = "www_subdomain"
            case appclipSubdomain = "appclip_subdomain"
            /// Use as few subdomains as possible.
            case subdomains
            case pathComponents = "path_components"
            /// Leave out the word before a name; it is none of Apple's listed words.
            case pathWord = "path_word"
            /// Move a fragment to a query item.
            case fragment
            case queryNames = "query_names"
            case decimalValues = "decimal_values"
            case uniqueIdentifier = "unique_identifier"
        }

        public let code: Code

        /// The URL with this one change; values that stand for others are numbered 1, 2, 3.
        public let better: String

        /// The estimated number of bits that the change saves: more than 3.
        public let savedBits: Int
    }

    /// The URL as it would be encoded.
    public let text: String

    /// The reasons against it, in the order of `Refusal`.
    public let refusals: [Refusal]

    /// The estimated size; nil for a refused URL, and for one that the format cannot write.
    public let size: CodeSizeEstimate?

    /// Changes that shorten the encoded URL, the most effective one first. Empty for a refused URL, and for
    /// Apple's links, which cannot be changed.
    public var advice: [Advice] {
        guard refusals.isEmpty, let url = try? InvocationURL(text), !url.hasHost(DefaultLink.host) else {
            return []
        }
        return AppClipCodeAdvisor(url, text: text).advice
    }

    public let fit: Fit

    /// Whether an identifier in the URL is a number with leading zeros, which a code may not keep: `/r/00042` may
    /// read back as `/r/42`. [observed]
    public var hasLeadingZeros: Bool { CodeSizeEstimator.hasLeadingZeros(text) }

    /// - Parameters:
    ///   - text: The URL exactly as it would be encoded.
    ///   - hostBits: The size of the URL's host, if it was measured; see ``HostMeasurement``.
    public init(_ text: String, hostBits: Int? = nil) throws(InvocationURLError) {
        let url = try InvocationURL(text)
        let bytes = Array(text.utf8)
        let parts = try URLParts(bytes.span)
        self.text = text
        refusals = Self.refusals(url, bytes, parts)
        size = refusals.isEmpty ? CodeSizeEstimator.estimate(text, hostBits: hostBits) : nil
        fit =
            if !refusals.isEmpty {
                .refused
            } else if url.isShortDemoLink {
                .fits
            } else {
                switch size?.verdict {
                case .fits: .fits
                case .tooLong: .tooLong
                case .unknown, nil: .unknown
                }
            }
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
