import Invocation

/// A name for people to read: 1 to 128 characters (Unicode scalars), none of them a control character.
public struct DisplayName: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) throws(AdministrationError) {
        guard (1...128).contains(text.unicodeScalars.count), !text.utf8.span.hasControlCharacter
        else { throw .invalidName }
        self.text = text
    }

    public var description: String { text }
}
