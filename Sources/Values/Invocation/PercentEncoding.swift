/// Percent-encoding in the one form that Doorstep writes (RFC 3986 §2.1 and §6.2.2).
enum PercentEncoding {
    /// Whether each `%` is followed by two hexadecimal digits.
    static func isWellFormed(_ text: Span<UInt8>) -> Bool {
        var index = 0
        while index < text.count {
            if text[index] == UInt8(ascii: "%") {
                guard decodedByte(in: text, at: index) != nil else { return false }
                index += 3
            } else {
                index += 1
            }
        }
        return true
    }

    /// Whether an encoded byte begins at an index, in upper-case hex and one that must be encoded.
    static func isCanonical(_ text: Span<UInt8>, at index: Int) -> Bool {
        guard let byte = decodedByte(in: text, at: index), !byte.isUnreserved else { return false }
        let isUpperCase = { (digit: UInt8) in digit < UInt8(ascii: "a") }
        return isUpperCase(text[index + 1]) && isUpperCase(text[index + 2])
    }

    /// Appends the canonical text of one URL component.
    ///
    /// Encoded unreserved characters are decoded. Other encoded bytes remain encoded, in upper-case hex,
    /// and a byte that is not `allowed` in the component is encoded.
    ///
    /// - Parameter text: Well-formed percent-encoding.
    static func appendCanonical(_ text: Span<UInt8>, allowing allowed: ByteClass, to bytes: inout [UInt8]) {
        var index = 0
        while true {
            let end = text.firstIndex(in: index..<text.count) { !allowed.contains($0) }
            bytes.append(text.extracting(index..<end))
            guard end < text.count else { return }
            if let decoded = decodedByte(in: text, at: end) {
                if decoded.isUnreserved {
                    bytes.append(decoded)
                } else {
                    appendEncoded(decoded, to: &bytes)
                }
                index = end + 3
            } else {
                appendEncoded(text[end], to: &bytes)
                index = end + 1
            }
        }
    }

    /// Returns the decoded text of a canonical component, or nil if its bytes are not UTF-8.
    static func decoded(_ component: some Collection<UInt8>) -> String? {
        guard component.contains(UInt8(ascii: "%")) else { return String(decoding: component, as: UTF8.self) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(component.count)
        var rest = component.makeIterator()
        while let byte = rest.next() {
            if byte == UInt8(ascii: "%"), let high = rest.next()?.hexValue, let low = rest.next()?.hexValue {
                decoded.append(high << 4 | low)
            } else {
                decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Returns the byte of `%` and two hexadecimal digits at an index.
    private static func decodedByte(in text: Span<UInt8>, at index: Int) -> UInt8? {
        guard text[index] == UInt8(ascii: "%"), index + 2 < text.count,
            let high = text[index + 1].hexValue, let low = text[index + 2].hexValue
        else { return nil }
        return high << 4 | low
    }

    private static func appendEncoded(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "%"))
        bytes.append((byte >> 4).upperCaseHexDigit)
        bytes.append((byte & 0xF).upperCaseHexDigit)
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ text: Span<UInt8>) {
        text.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}

extension UInt8 {
    /// The digit of a number below 16.
    fileprivate var upperCaseHexDigit: UInt8 {
        self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "A") + self - 10
    }
}
