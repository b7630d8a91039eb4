import Invocation

/// A name for people to read: 1 to 128 characters (Unicode scalars), without control characters, with at least one visible character.
public struct DisplayName: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) throws(AdministrationError) {
        try self.init(stored: text)
        guard !text.isBlank else { throw .blankName }
    }

    /// Reads a stored name. Names from older versions may be blank.
    public init(stored text: String) throws(AdministrationError) {
        guard (1...128).contains(text.unicodeScalars.count), !text.utf8.span.hasControlCharacter
        else { throw .invalidName }
        self.text = text
    }

    public var description: String { text }
}
