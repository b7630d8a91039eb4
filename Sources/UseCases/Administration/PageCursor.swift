import Formats

/// The end of a list's page, in characters that need no encoding in a query. Clients treat it as opaque.
public enum PageCursor {
    /// - Parameter name: the last item's.
    public static func text(of name: String) -> String { Base64URL.text(name.utf8) }

    /// The last item's name; nil for a text that is not a cursor.
    public static func name(in text: String) -> String? {
        Base64URL.bytes(text).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
