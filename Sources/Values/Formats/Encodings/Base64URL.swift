import Foundation

/// Base64 for URLs without padding (RFC 4648 §5), as JOSE writes everything.
public enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        append(Array(bytes).span, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil if the text is not base64 of this kind.
    public static func bytes(_ text: String) -> [UInt8]? {
        guard text.utf8.allSatisfy(alphabet.contains) else { return nil }
        let padded =
            text.replacing("-", with: "+").replacing("_", with: "/")
            + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let bytes = Data(base64Encoded: padded).map(Array.init), self.text(bytes) == text else {
            // Unused bits must be zero: otherwise two texts would have the same meaning.
            return nil
        }
        return bytes
    }

    public static func append(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
        alphabet.withUnsafeBufferPointer { alphabet in
            var index = 0
            while index < bytes.count {
                let left = bytes.count - index
                let group =
                    UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
                    | (left > 2 ? UInt32(bytes[index + 2]) : 0)
                for position in 0...min(left, 3) {
                    text.append(alphabet[Int(group >> UInt32(18 - 6 * position)) & 0x3F])
                }
                index += 3
            }
        }
    }
}
