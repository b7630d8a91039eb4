/// The list of URLs for which App Store Connect generates the App Clip Codes of an advanced experience: one
/// URL per line.
///
/// Source: Apple, App Store Connect Help, "Generate App Clip Codes", which requires a CSV file of the
/// codes' invocation URLs, each of which must match the selected experience. The page mentions no header
/// and no limit, so the file has neither. [ours]
public struct AppStoreConnectFile: Sendable, Hashable {
    public let urls: [AppClipCodeURL]

    /// - Throws: The first row found that cannot become a code.
    public init(_ urls: [AppClipCodeURL]) throws(CodeFileError) {
        if let problem = Self.problems(of: urls).first { throw problem }
        self.urls = urls
    }

    /// Returns the rows that a file cannot contain, with the reasons, in order.
    public static func problems(of urls: [AppClipCodeURL]) -> [CodeFileError] {
        CodeFile.problems(urls.map { (nil, $0) })
    }

    /// The file's text, RFC 4180.
    public var csv: String { CodeFile.csv(urls.map { [$0.text] }) }
}
