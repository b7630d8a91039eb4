extension JSONValue {
    /// The value as a JSON text in UTF-8, without white space.
    ///
    /// Equal values give equal bytes: the members of objects are written in the order of their keys' UTF-8
    /// bytes, and only what RFC 8259 §7 demands is escaped, which is neither `/` nor anything beyond ASCII.
    public func serialized() -> [UInt8] {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return bytes
    }

    /// Appends what `serialized()` returns.
    public func write(into bytes: inout [UInt8]) {
        write(into: &bytes, indentation: nil)
    }

    /// The value as a JSON text for people: one member or element a line, indented by two spaces.
    public func prettyPrinted() -> String {
        var bytes: [UInt8] = []
        write(into: &bytes, indentation: 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Writes on one line when there is no indentation.
    private func write(into bytes: inout [UInt8], indentation: Int?) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let number): bytes.append(contentsOf: number.literal.utf8)
        case .string(let text): Self.write(text, into: &bytes)
        case .array(let elements):
            Self.write(elements, between: "[", "]", into: &bytes, indentation: indentation) {
                element, bytes, indentation in
                element.write(into: &bytes, indentation: indentation)
            }
        case .object(let object):
            Self.write(object, between: "{", "}", into: &bytes, indentation: indentation) {
                member, bytes, indentation in
                Self.write(member.key, into: &bytes)
                bytes.append(UInt8(ascii: ":"))
                if indentation != nil {
                    bytes.append(UInt8(ascii: " "))
                }
                member.value.write(into: &bytes, indentation: indentation)
            }
        }
    }

    private static func write<Items: Collection>(
        _ items: Items, between opening: Unicode.Scalar, _ closing: Unicode.Scalar, into bytes: inout [UInt8],
        indentation: Int?, item writeItem: (Items.Element, inout [UInt8], Int?) -> Void
    ) {
        let inner = indentation.map { $0 + 2 }
        bytes.append(UInt8(ascii: opening))
        var isFirst = true
        for item in items {
            if !isFirst {
                bytes.append(UInt8(ascii: ","))
            }
            isFirst = false
            breakLine(into: &bytes, indentation: inner)
            writeItem(item, &bytes, inner)
        }
        if !isFirst {
            breakLine(into: &bytes, indentation: indentation)
        }
        bytes.append(UInt8(ascii: closing))
    }

    private static func breakLine(into bytes: inout [UInt8], indentation: Int?) {
        guard let indentation else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indentation))
    }

    private static func write(_ text: String, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes.append(contentsOf: "\\\"".utf8)
            case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
            case 0x08: bytes.append(contentsOf: "\\b".utf8)
            case 0x0C: bytes.append(contentsOf: "\\f".utf8)
            case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
            case UInt8(ascii: "\r"): bytes.append(contentsOf: "\\r".utf8)
            case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
            case ..<0x20:
                bytes.append(contentsOf: (byte < 0x10 ? "\\u000" : "\\u00").utf8)
                bytes.append(contentsOf: String(byte, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
