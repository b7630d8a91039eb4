/// Why bytes are not a JSON text that Doorstep takes.
///
/// Offsets count bytes from zero.
public enum JSONError: Error, Sendable, Hashable {
    /// The bytes are not UTF-8: overlong, surrogate or cut-off sequences included.
    case invalidUTF8(offset: Int)
    /// The text begins with a byte order mark, which RFC 8259 §8.1 forbids to senders.
    case byteOrderMark
    /// The text ends inside a value, or is empty.
    case unexpectedEnd
    /// A byte that the grammar does not allow at its place.
    case unexpectedByte(offset: Int)
    /// Something other than white space follows the value.
    case trailingBytes(offset: Int)
    /// A string contains an unescaped character below U+0020.
    case controlCharacter(offset: Int)
    /// A backslash is not followed by one of the escapes of RFC 8259 §7.
    case invalidEscape(offset: Int)
    /// A `\u` escape of half a surrogate pair, which is no character.
    case loneSurrogate(offset: Int)
    /// A number whose magnitude exceeds the range of a double, such as `1e400`.
    case numberOutOfRange(offset: Int)
    /// One object holds a key twice.
    case duplicateKey(String)
    /// Arrays and objects are nested deeper than the limit.
    case tooDeep(limit: Int, offset: Int)

    public var code: String {
        switch self {
        case .invalidUTF8: "invalid_utf8"
        case .byteOrderMark: "byte_order_mark"
        case .unexpectedEnd: "unexpected_end"
        case .unexpectedByte: "unexpected_byte"
        case .trailingBytes: "trailing_bytes"
        case .controlCharacter: "control_character"
        case .invalidEscape: "invalid_escape"
        case .loneSurrogate: "lone_surrogate"
        case .numberOutOfRange: "number_out_of_range"
        case .duplicateKey: "duplicate_key"
        case .tooDeep: "too_deep"
        }
    }
}

extension JSONError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidUTF8(let offset):
            "The JSON text is not valid UTF-8 at byte \(offset)"
        case .byteOrderMark:
            "The JSON text begins with a byte order mark"
        case .unexpectedEnd:
            "The JSON text ends before its value is complete"
        case .unexpectedByte(let offset):
            "The JSON text has a character that does not belong at byte \(offset)"
        case .trailingBytes(let offset):
            "The JSON text goes on after its value at byte \(offset)"
        case .controlCharacter(let offset):
            "A JSON string has an unescaped control character at byte \(offset)"
        case .invalidEscape(let offset):
            "A JSON string has an unknown escape at byte \(offset)"
        case .loneSurrogate(let offset):
            "A JSON string has half of a surrogate pair at byte \(offset)"
        case .numberOutOfRange(let offset):
            "The JSON number at byte \(offset) is too large"
        case .duplicateKey(let key):
            "A JSON object has the key \(JSONPath.quoted(key)) twice"
        case .tooDeep(let limit, let offset):
            "The JSON text is nested deeper than \(limit) levels at byte \(offset)"
        }
    }
}
