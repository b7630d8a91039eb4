public import Foundation

extension UUID {
    /// Reads 8-4-4-4-12 hexadecimal digits, and nothing else (RFC 9562 §4): `init(uuidString:)` takes texts with signs,
    /// white space and whatever comes after a U+0000, too.
    public init?(text: String) {
        guard let uuid = UUID(uuidString: text), uuid.uuidString == text.uppercased() else { return nil }
        self = uuid
    }
}
