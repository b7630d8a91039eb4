import Invocation

/// A name for people to read: 1 to 128 characters (Unicode scalars), none of them a control character, and at least one visible.
public struct DisplayName: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) throws(AdministrationError) {
        try self.init(stored: text)
        guard !text.isBlank else { throw .blankName }
    }

    /// Reads a name as it is stored; older ones may be blank.
    public init(stored text: String) throws(AdministrationError) {
        guard (1...128).contains(text.unicodeScalars.count), !text.utf8.span.hasControlCharacter
        else { throw .invalidName }
        self.text = text
    }

    public var description: String { text }
}
