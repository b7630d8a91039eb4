extension JSONValue {
    /// Returns the value as a JSON text in UTF-8, without white space.
    ///
    /// Equal values give equal bytes: members are written in the order of their keys' UTF-8 bytes. Only
    /// characters that RFC 8259 §7 requires to be escaped are escaped: neither `/` nor anything beyond
    /// ASCII.
    public func serialized() -> [UInt8] {
        written(indentation: nil).bytes
    }

    /// The output of ``serialized()`` as a string.
    public var text: String { String(decoding: serialized(), as: UTF8.self) }

    /// Appends what ``serialized()`` returns.
    public func write(into bytes: inout [UInt8]) {
        bytes.append(contentsOf: serialized())
    }

    /// The value as a JSON text for people: one member or element a line, indented by two spaces.
    public func prettyPrinted() -> String {
        String(decoding: written(indentation: 0).bytes, as: UTF8.self)
    }

    private func written(indentation: Int?) -> JSONWriter {
        var writer = JSONWriter()
        writer.write(self, indentation: indentation)
        return writer
    }
}

extension JSONWriter {
    /// Writes on one line when there is no indentation.
    fileprivate mutating func write(_ value: JSONValue, indentation: Int?) {
        switch value {
        case .null: write(literal: "null")
        case .bool(let value): write(literal: value ? "true" : "false")
        case .number(let number): number.literal.withBytes { write($0) }
        case .string(let text): write(quoted: text)
        case .array(let elements):
            let inner = indentation.map { $0 + 2 }
            write(UInt8(ascii: "["))
            for index in elements.indices {
                startItem(index, indentation: inner)
                write(elements[index], indentation: inner)
            }
            if !elements.isEmpty { breakLine(indentation: indentation) }
            write(UInt8(ascii: "]"))
        case .object(let object):
            let inner = indentation.map { $0 + 2 }
            write(UInt8(ascii: "{"))
            for index in object.members.indices {
                startItem(index, indentation: inner)
                write(quoted: object.members[index].key)
                write(UInt8(ascii: ":"))
                if indentation != nil { write(UInt8(ascii: " ")) }
                write(object.members[index].value, indentation: inner)
            }
            if !object.isEmpty { breakLine(indentation: indentation) }
            write(UInt8(ascii: "}"))
        }
    }

    package mutating func write(_ number: Int) {
        String(number).withBytes { write($0) }
    }

    /// Writes what ``JSONNumber/init(finite:)`` has as its literal, without making one.
    ///
    /// - Precondition: `number` is finite; JSON has no other numbers.
    package mutating func write(finite number: Double) {
        precondition(number.isFinite, "JSON has only finite numbers")
        if let whole = Int32(exactly: number), number.sign == .plus { return write(Int(whole)) }
        number.description.withBytes { write($0.withoutZeroFraction) }
    }

    private mutating func startItem(_ index: Int, indentation: Int?) {
        if index > 0 { write(UInt8(ascii: ",")) }
        breakLine(indentation: indentation)
    }

    private mutating func breakLine(indentation: Int?) {
        guard let indentation else { return }
        write(UInt8(ascii: "\n"))
        for _ in 0..<indentation { write(UInt8(ascii: " ")) }
    }

    package mutating func write(quoted text: String) { write(quoted: text.utf8.span) }

    /// - Parameter text: UTF-8.
    package mutating func write(quoted text: Span<UInt8>) {
        write(UInt8(ascii: "\""))
        text.withUnsafeBufferPointer { text in
            if text.needsEscapes {
                for byte in text { writeEscaped(byte) }
            } else {
                write(text)
            }
        }
        write(UInt8(ascii: "\""))
    }

    private mutating func writeEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): write(literal: "\\\"")
        case UInt8(ascii: "\\"): write(literal: "\\\\")
        case 0x08: write(literal: "\\b")
        case 0x0C: write(literal: "\\f")
        case UInt8(ascii: "\n"): write(literal: "\\n")
        case UInt8(ascii: "\r"): write(literal: "\\r")
        case UInt8(ascii: "\t"): write(literal: "\\t")
        case ..<0x20:
            write(literal: byte < 0x10 ? "\\u000" : "\\u001")
            write(Self.hexadecimalDigit(byte & 0x0F))
        default: write(byte)
        }
    }

    private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// A double's text; that of a whole number without `.0` at its end.
    fileprivate var withoutZeroFraction: Self {
        guard count > 2, self[count - 1] == UInt8(ascii: "0"), self[count - 2] == UInt8(ascii: ".") else {
            return self
        }
        return Self(rebasing: self[..<(count - 2)])
    }

    /// Whether a byte of the text must be escaped. By index, in one expression and without a branch, so
    /// that the compiler vectorizes the loop.
    fileprivate var needsEscapes: Bool {
        var found: UInt8 = 0
        for index in 0..<count {
            let byte = self[index]
            found |=
                (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0)
                | (byte == UInt8(ascii: "\\") ? 1 : 0)
        }
        return found != 0
    }
}
