import Foundation

/// The host of an invocation URL, in canonical form.
///
/// A domain name is lower-cased, in A-labels (UTS 46), without its trailing dot. Labels have 1 to 63
/// letters, digits, hyphens and underscores, no hyphen at either end, 253 bytes in all. A label that begins
/// with `xn--` must be an A-label (RFC 5890 §2.3.2.1). RFC 1123 §2.1 allows no underscore in a host name,
/// but the DNS does, so it is accepted [ours]. Percent-encoding in a host is refused: no domain name needs
/// it [ours].
enum InvocationHost {
    /// The maximum length of a domain name, in bytes.
    static let maximumLength = 253

    /// Appends the host in canonical form.
    ///
    /// - Parameter text: The host as written, without its port.
    /// - Returns: Whether the host is an IP address in any spelling.
    static func append(_ text: Span<UInt8>, to bytes: inout [UInt8]) throws(InvocationURLError) -> Bool {
        guard !text.isEmpty else { throw .noHost }
        if text[0] == UInt8(ascii: "[") {
            try appendIPv6Literal(text, to: &bytes)
            return true
        }
        let start = bytes.count
        if text.allSatisfy({ $0 < 0x80 }) {
            for index in text.indices { bytes.append(text[index].lowercasedASCII) }
        } else {
            // No form of a name is longer than its A-labels, and encoding a longer one takes quadratic
            // time.
            let text = string(text)
            guard text.unicodeScalars.count <= maximumLength, let name = asciiName(text) else {
                throw .invalidHost
            }
            for byte in name.utf8 { bytes.append(byte.lowercasedASCII) }
        }
        if bytes.count > start, bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        return try isNumeric(name: bytes.span.extracting(start...))
    }

    /// Whether a label's length and its ends are valid.
    static func hasLabelShape(_ label: Span<UInt8>) -> Bool {
        (1...63).contains(label.count) && label[0] != UInt8(ascii: "-")
            && label[label.count - 1] != UInt8(ascii: "-")
    }

    /// Whether a label has the prefix of an A-label.
    static func isEncoded(_ label: Span<UInt8>) -> Bool { label.hasBytes(of: "xn--", at: 0) }

    /// Whether a label with the prefix is an A-label: it decodes to a label with characters outside ASCII
    /// whose A-label it is.
    ///
    /// A label that UTS 46 maps to other characters has no A-label of its own, however it is encoded: a
    /// device that encodes the host again would request another host.
    private static func isALabel(_ label: Span<UInt8>) -> Bool {
        guard let decoded = Punycode.decoded(label.extracting(4...)), !decoded.allSatisfy(\.isASCII),
            let again = asciiName(String(String.UnicodeScalarView(decoded)))
        else { return false }
        return again.utf8.count == label.count
            && zip(label.indices, again.utf8).allSatisfy { label[$0] == $1 }
    }

    /// Whether a name counts as an IP address: its last label is a number, decimal or `0x…`.
    ///
    /// Browsers read all of `127.1`, `0x7f000001` and `2130706433` as IPv4 addresses (WHATWG URL, "ends in
    /// a number").
    private static func isNumeric(name: Span<UInt8>) throws(InvocationURLError) -> Bool {
        guard !name.isEmpty else { throw .noHost }
        guard name.count <= maximumLength else { throw .invalidHost }
        var start = 0
        while true {
            let end = name.firstIndex(of: UInt8(ascii: "."), in: start..<name.count)
            let label = name.extracting(start..<end)
            guard hasLabelShape(label), label.allSatisfy(ByteClass.label.contains) else { throw .invalidHost }
            guard !isEncoded(label) || isALabel(label) else { throw .invalidPunycode }
            guard end < name.count else { return isNumber(label) }
            start = end + 1
        }
    }

    private static func isNumber(_ label: Span<UInt8>) -> Bool {
        label.allSatisfy(\.isASCIIDigit)
            || label.hasBytes(of: "0x", at: 0) && label.extracting(2...).allSatisfy(\.isHexDigit)
    }

    /// Returns the A-label form of a name with characters outside ASCII, by Foundation's UTS 46.
    private static func asciiName(_ name: String) -> String? {
        guard let encoded = URLComponents(string: "https://\(name)/")?.encodedHost else { return nil }
        return encoded.utf8.allSatisfy { $0 < 0x80 } ? encoded : nil
    }

    private static func appendIPv6Literal(
        _ text: Span<UInt8>, to bytes: inout [UInt8]
    ) throws(InvocationURLError) {
        guard text.count > 2, text[text.count - 1] == UInt8(ascii: "]") else { throw .invalidHost }
        var address = in6_addr()
        guard inet_pton(AF_INET6, string(text.extracting(1..<(text.count - 1))), &address) == 1 else {
            throw .invalidHost
        }
        for index in text.indices { bytes.append(text[index].lowercasedASCII) }
    }

    private static func string(_ text: Span<UInt8>) -> String {
        text.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
