/// A name for people to read: 1 to 128 characters (Unicode scalars), without control characters, with at least one visible character.
public struct DisplayName: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// The reason why a text is not a name.
    public enum Refusal: Error, Sendable, CustomStringConvertible {
        case invalid
        case blank

        public var description: String {
            switch self {
            case .invalid: "a name is 1 to 128 characters, none of them a control character"
            case .blank: "a name must have at least one visible character"
            }
        }
    }

    public init(_ text: String) throws(Refusal) {
        try self.init(stored: text)
        guard !text.isBlank else { throw .blank }
    }

    /// Reads a stored name. Names from older versions may be blank.
    public init(stored text: String) throws(Refusal) {
        guard (1...128).contains(text.unicodeScalars.count), !text.utf8.span.hasControlCharacter
        else { throw .invalid }
        self.text = text
    }

    public var description: String { text }
}
