/// The list that App Store Connect takes to make the App Clip Codes of an advanced experience: one URL a line.
///
/// Source: Apple, App Store Connect Help, "Generate App Clip Codes", which asks for a CSV file of the codes' invocation
/// URLs, each of which must match the selected experience. The page names no header and no limit, so that there is neither.
/// [ours]
public struct AppStoreConnectFile: Sendable, Hashable {
    public let urls: [AppClipCodeURL]

    /// - Throws: the first row found that makes no code.
    public init(_ urls: [AppClipCodeURL]) throws(CodeFileError) {
        if let problem = Self.problems(of: urls).first { throw problem }
        self.urls = urls
    }

    /// What keeps rows out of a file, in their order.
    public static func problems(of urls: [AppClipCodeURL]) -> [CodeFileError] {
        CodeFile.problems(urls.map { (nil, $0) })
    }

    /// The file's text, RFC 4180.
    public var csv: String { CodeFile.csv(urls.map { [$0.text] }) }
}
