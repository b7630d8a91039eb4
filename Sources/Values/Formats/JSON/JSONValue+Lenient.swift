import Foundation

extension JSONValue {
    /// The result of a lenient parse: a text that another program wrote, read as far as RFC 8259 leaves its
    /// meaning open.
    public struct LenientReading: Sendable {
        public let value: JSONValue
        /// The constructs that readers interpret differently, each kind once.
        public let oddities: [Oddity]
    }

    /// A construct that RFC 8259 leaves open, so that some readers accept it and others do not.
    public enum Oddity: Sendable, Hashable, CustomStringConvertible {
        /// RFC 8259 §8.1: texts that systems exchange are UTF-8.
        case utf16
        /// RFC 8259 §8.1: readers may ignore it or treat it as an error.
        case byteOrderMark
        /// RFC 8259 §4 does not define which of the values counts. Here it is the last one.
        case duplicateKey(String)
        /// RFC 8259 §6: beyond a double. Here it is null.
        case numberOutOfRange
        /// RFC 8259 §8.2: half of a surrogate pair. Here it is U+FFFD.
        case loneSurrogate

        public var description: String {
            switch self {
            case .utf16: "it is UTF-16 instead of UTF-8"
            case .byteOrderMark: "it begins with a byte order mark"
            case .duplicateKey(let key): "an object has the key \(JSONPath.quoted(key)) twice"
            case .numberOutOfRange: "a number is too large"
            case .loneSurrogate: "a string has half of a surrogate pair"
            }
        }
    }

    /// Parses a JSON text that other programs read too: it accepts and reports constructs that RFC 8259
    /// leaves open.
    ///
    /// - Throws: `JSONError` for violations of the grammar, and beyond 512 levels of nesting.
    public static func reading(leniently bytes: some Collection<UInt8>) throws(JSONError) -> LenientReading {
        var bytes = Array(bytes)
        var oddities: [Oddity] = []
        if let text = utf16Text(bytes) {
            bytes = Array(text.utf8)
            oddities.append(.utf16)
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            bytes.removeFirst(3)
            if oddities.isEmpty { oddities.append(.byteOrderMark) }
        }
        let reading = try bytes.withUnsafeBufferPointer(JSONParser.parseLeniently).get()
        return LenientReading(value: reading.value, oddities: oddities + reading.oddities)
    }

    /// RFC 4627 §3: the first character of a JSON text is ASCII, so that a NUL beside it shows the order of bytes.
    private static func utf16Text(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 2, bytes.count.isMultiple(of: 2) else { return nil }
        let isBigEndian: Bool
        switch (bytes[0], bytes[1]) {
        case (0xFE, 0xFF): isBigEndian = true
        case (0xFF, 0xFE): isBigEndian = false
        case (0, 1...): isBigEndian = true
        case (1..., 0): isBigEndian = false
        default: return nil
        }
        return String(bytes: bytes, encoding: isBigEndian ? .utf16BigEndian : .utf16LittleEndian)
    }
}
