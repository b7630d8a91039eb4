import Encodings

/// Where a page of a list ended, in letters that need no encoding in a query: opaque to all but those who page.
public enum PageCursor {
    /// - Parameter name: the last item's.
    public static func text(of name: String) -> String { Base64URL.text(name.utf8) }

    /// The last item's name; nil for a text that is no cursor.
    public static func name(in text: String) -> String? {
        Base64URL.bytes(text).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
