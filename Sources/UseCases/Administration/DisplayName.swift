/// A name for people to read: 1 to 128 characters (Unicode scalars), none of them a control character.
public struct DisplayName: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) throws(AdministrationError) {
        let scalars = text.unicodeScalars
        guard (1...128).contains(scalars.count),
            scalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw .invalidName }
        self.text = text
    }

    public var description: String { text }
}
