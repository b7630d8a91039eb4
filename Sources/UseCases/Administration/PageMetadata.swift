/// The values in a page's `meta` elements that banners and previews use.
///
/// Comments, scripts and styles are skipped. Each byte is read a constant number of times.
public struct PageMetadata: Sendable {
    /// The first banner; nil if there is none.
    public private(set) var banner: SmartAppBanner?
    /// The Open Graph properties by name, such as `og:title`. Of several with the same name, the first counts.
    public private(set) var properties: [String: String] = [:]

    public init(ofPage page: [UInt8]) {
        var scanner = TagScanner(page)
        while let attributes = scanner.nextMeta() {
            let content = attributes["content"] ?? ""
            if banner == nil, attributes["name"]?.lowercased() == "apple-itunes-app" {
                banner = SmartAppBanner(content: content)
            }
            // A `name` is read like a `property`. [observed]
            let name = (attributes["property"] ?? attributes["name"] ?? "").lowercased()
            if name.hasPrefix("og:"), properties[name] == nil {
                properties[name] = content.unescapingCharacterReferences
            }
        }
    }
}

extension String {
    /// Replaces the usual character references. Others remain unchanged.
    fileprivate var unescapingCharacterReferences: String {
        guard utf8.contains(UInt8(ascii: "&")) else { return self }
        var text = ""
        var rest = self[...]
        while let start = rest.firstIndex(of: "&") {
            text += rest[..<start]
            rest = rest[start...]
            guard let (reference, character) = Self.references.first(where: { rest.hasPrefix($0.0) }) else {
                text.append(rest.removeFirst())
                continue
            }
            text += character
            rest = rest.dropFirst(reference.count)
        }
        return text + rest
    }

    private static let references = [
        ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"),
    ]
}
