public import Foundation

extension UUID {
    /// Reads 8-4-4-4-12 hexadecimal digits, and nothing else (RFC 9562 §4): `init(uuidString:)` also
    /// accepts texts with signs, white space, and any text after a U+0000.
    public init?(text: String) {
        guard let uuid = UUID(uuidString: text), uuid.uuidString == text.uppercased() else { return nil }
        self = uuid
    }
}
