public import Invocation

/// A code that stands for a URL too long to print, read by the identifier rule `hash:NAME`.
///
/// Source: Apple, "Encoding a URL in an App Clip Code", "Hash long URLs".
public struct ShortCode: Sendable {
    /// 1 to 128 Unicode scalars, none of them a control character.
    public let code: String
    /// The URL is looked up as if it had been scanned.
    public let url: InvocationURL

    /// - Throws: `AdministrationError.invalidShortCode`, or `.unmatchableURL` for a URL that no experience can
    ///   match.
    public init(code: String, url: InvocationURL) throws(AdministrationError) {
        // The code is a value that an identifier rule can read.
        guard (try? LocationIdentifier(code)) != nil else { throw .invalidShortCode }
        guard url.isMatchable else { throw .unmatchableURL }
        self.code = code
        self.url = url
    }
}

/// Compares codes by bytes. Two `String`s are equal if one has the composed and the other the decomposed form of a character.
extension ShortCode: Hashable {
    public static func == (one: Self, other: Self) -> Bool {
        one.code.utf8.elementsEqual(other.code.utf8) && one.url == other.url
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(url)
    }
}
