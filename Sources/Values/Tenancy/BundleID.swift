/// The bundle identifier of an App Clip or of its parent app, such as `com.example.MyApp.Clip`.
///
/// Letters, digits, `-` and `.`, no empty component, at most 155 bytes; compared exactly. Source: Apple,
/// "CFBundleIdentifier" (the character set); the length is App Store Connect's limit [observed].
public struct BundleID: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) throws(TenancyError) {
        let components = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= 155, components.count >= 2,
            components.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isAllowed) })
        else { throw .invalidBundleID }
        self.text = text
    }

    public var description: String { text }

    /// The bundle ID of the app that an App Clip with this ID belongs to: all but the last component.
    ///
    /// Source: Apple, "Creating an App Clip with Xcode": the clip's bundle ID starts with the app's.
    public var parent: BundleID? {
        guard let dot = text.lastIndex(of: ".") else { return nil }
        return try? BundleID(String(text[..<dot]))
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
