/// The Smart App Banner of a page.
///
/// Source: Apple, "Promoting apps with Smart App Banners": `<meta name="apple-itunes-app" content="app-id=…,
/// app-clip-bundle-id=…">`.
public struct SmartAppBanner: Sendable, Hashable {
    /// The app's ID in the App Store.
    public let appID: String?
    /// The bundle ID of the App Clip, unchanged.
    public let clip: String?
    /// `card` for the card that covers the page, from iOS 15 on.
    public let display: String?

    /// Reads the tag's `content`, with its keys in any order; the first of two equal keys counts.
    init(content: String) {
        var values: [String: String] = [:]
        for part in content.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map(Self.trimmed)
            if pair.count == 2, values[pair[0]] == nil { values[pair[0]] = pair[1] }
        }
        appID = values["app-id"]
        clip = values["app-clip-bundle-id"]
        display = values["app-clip-display"]
    }

    /// The first banner of a page; nil if there is none.
    public init?(inPage page: [UInt8]) {
        guard let banner = PageMetadata(ofPage: page).banner else { return nil }
        self = banner
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace = { (character: Character) in character.isWhitespace }
        return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
