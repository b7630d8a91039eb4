/// A writer of HTML, piece by piece, in which data from elsewhere can only be text.
///
/// It closes elements where their content ends, and escapes text and values of attributes; only literals in
/// the source are written unescaped. It offers no event attributes, no style attributes, no inline scripts,
/// and no unchecked links. Takes time linear in the bytes.
public struct HTMLWriter: ~Copyable {
    /// The written bytes, UTF-8.
    public private(set) var bytes: [UInt8] = []

    public init(capacity: Int = 4_096) {
        bytes.reserveCapacity(capacity)
    }

    /// Writes a whole page.
    ///
    /// - Parameter language: The language of its text, as a BCP 47 tag.
    public static func page(
        language: String, head: (inout HTMLWriter) -> Void, body: (inout HTMLWriter) -> Void
    ) -> [UInt8] {
        var writer = HTMLWriter()
        writer.raw("<!doctype html>")
        writer.element(.html, .lang(language)) { html in
            html.element(.head) { page in
                page.void(.meta, .charset)
                head(&page)
            }
            html.element(.body) { body(&$0) }
        }
        return writer.bytes
    }

    /// Writes an element with its content.
    ///
    /// - Parameter attributes: Nil ones are omitted.
    public mutating func element(
        _ tag: HTMLTag, _ attributes: HTMLAttribute?..., content: (inout HTMLWriter) -> Void
    ) {
        open(tag.name, attributes)
        content(&self)
        close(tag)
    }

    /// Writes an element that holds text alone.
    public mutating func element(_ tag: HTMLTag, _ attributes: HTMLAttribute?..., text: String = "") {
        open(tag.name, attributes)
        self.text(text)
        close(tag)
    }

    /// Writes an element that has no content and no end tag, such as `<br>`.
    public mutating func void(_ tag: HTMLVoidTag, _ attributes: HTMLAttribute?...) {
        open(tag.name, attributes)
    }

    /// Writes a text, escaped, so that it remains text whatever it contains.
    public mutating func text(_ text: String) {
        escape(text)
    }

    /// Writes a literal of the source unescaped.
    public mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Makes the page run a module of its own host (HTML §4.12.1): never an inline script.
    public mutating func module(_ source: HTMLLink) {
        open("script", [.type("module"), .src(source)])
        raw("</script>")
    }

    /// Writes a style sheet from a literal in the source; a policy contains its hash.
    public mutating func style(_ sheet: StaticString) {
        raw("<style>")
        raw(sheet)
        raw("</style>")
    }

    private mutating func open(_ name: StaticString, _ attributes: [HTMLAttribute?]) {
        raw("<")
        raw(name)
        for case let attribute? in attributes {
            raw(" ")
            raw(attribute.prefix)
            raw(attribute.name)
            guard let value = attribute.value else { continue }
            raw("=\"")
            escape(value)
            raw("\"")
        }
        raw(">")
    }

    private mutating func close(_ tag: HTMLTag) {
        raw("</")
        raw(tag.name)
        raw(">")
    }

    /// The same in text and between quotes. Control characters, which HTML does not have, are U+FFFD (Infra §4.5, HTML
    /// §13.2.3.5).
    private mutating func escape(_ text: String) {
        var text = text
        text.withUTF8 { text in
            var start = 0
            for (index, byte) in text.enumerated() {
                // Most bytes are letters, which come after all escaped characters except one.
                if byte > UInt8(ascii: ">"), byte != 0x7F { continue }
                guard let escaped = Self.escaped(byte) else { continue }
                bytes.append(contentsOf: text[start..<index])
                raw(escaped)
                start = index + 1
            }
            bytes.append(contentsOf: text[start...])
        }
    }

    private static func escaped(_ byte: UInt8) -> StaticString? {
        switch byte {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "'"): "&#39;"
        case 0x09, 0x0A, 0x0D: nil
        case 0..<0x20, 0x7F: "\u{FFFD}"
        default: nil
        }
    }
}
