/// Percent-encoding in the one form that Doorstep writes (RFC 3986 §2.1 and §6.2.2).
enum PercentEncoding {
    /// Whether each `%` is followed by two hexadecimal digits.
    static func isWellFormed(_ bytes: some Collection<UInt8>) -> Bool {
        var digitsDue = 0
        for byte in bytes {
            if digitsDue > 0 {
                guard byte.isHexDigit else { return false }
                digitsDue -= 1
            } else if byte == UInt8(ascii: "%") {
                digitsDue = 2
            }
        }
        return digitsDue == 0
    }

    /// The canonical text of one URL component.
    ///
    /// Encoded unreserved characters are decoded, other encoded bytes stay encoded, in upper-case hex, and a
    /// byte that the component may not hold (`isAllowed`) is encoded.
    /// - Parameter bytes: well-formed percent-encoding.
    static func canonical(
        _ bytes: some Collection<UInt8>, allowing isAllowed: (UInt8) -> Bool
    ) -> String {
        var canonical: [UInt8] = []
        canonical.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let decoded = popHexPair(&rest) {
                if decoded.isUnreserved {
                    canonical.append(decoded)
                } else {
                    appendEncoded(decoded, to: &canonical)
                }
            } else if isAllowed(byte) {
                canonical.append(byte)
            } else {
                appendEncoded(byte, to: &canonical)
            }
        }
        return String(decoding: canonical, as: UTF8.self)
    }

    /// The text that a canonical component stands for, or nil when its bytes are not UTF-8.
    static func decoded(_ component: String) -> String? {
        var decoded: [UInt8] = []
        var rest = Array(component.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let pair = popHexPair(&rest) {
                decoded.append(pair)
            } else {
                decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func popHexPair<Bytes: Collection<UInt8>>(_ rest: inout Bytes) -> UInt8?
    where Bytes.SubSequence == Bytes {
        guard let high = rest.popFirst()?.hexValue, let low = rest.popFirst()?.hexValue else { return nil }
        return high << 4 | low
    }

    private static func appendEncoded(_ byte: UInt8, to bytes: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
    }
}
