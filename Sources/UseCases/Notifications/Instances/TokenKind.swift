/// One of an instance's tokens: its purpose, and its name among those of the same purpose.
public enum TokenKind: Sendable, Hashable {
    /// Shows notifications on the device.
    case device
    /// Starts Live Activities whose attributes are of this type (iOS 17.2 and later). [Apple]
    case start(attributesType: String)
    /// Updates and ends the Live Activity with this ID.
    case activity(String)

    /// How the database names the kind.
    public var kind: String {
        switch self {
        case .device: "device"
        case .start: "start"
        case .activity: "activity"
        }
    }

    /// The type of the attributes, or the ID of the activity; empty for the token of the device, which is the only one of its kind.
    public var name: String {
        switch self {
        case .device: ""
        case .start(let name), .activity(let name): name
        }
    }

    /// The maximum number of Unicode scalars of a name [ours].
    private static let nameLengths = 1...128

    /// Whether the text can be a name: long enough and not too long, and without U+0000, which PostgreSQL does not take.
    public static func isName(_ text: String) -> Bool {
        nameLengths.contains(text.unicodeScalars.count) && !text.unicodeScalars.contains("\0")
    }
}
