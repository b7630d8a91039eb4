import Foundation

/// The host of an invocation URL, in canonical form.
///
/// A domain name is lower-cased, in A-labels (UTS 46), without its trailing dot: labels of 1 to 63 letters,
/// digits, hyphens and underscores, no hyphen at either end, 253 bytes in all. An underscore is no part of a
/// host name in RFC 1123 §2.1, but the DNS holds such names, so it passes [ours]. Percent-encoding in a host
/// is refused: no domain name needs it [ours].
struct InvocationHost {
    let text: String

    /// Whether the host is an IP address in any spelling.
    ///
    /// A name whose last label is a number, decimal or `0x…`, counts as one: browsers read all of `127.1`,
    /// `0x7f000001` and `2130706433` as IPv4 addresses (WHATWG URL, "ends in a number").
    let isIPAddress: Bool

    /// - Parameter bytes: the host as written, without its port.
    init(_ bytes: some Collection<UInt8>) throws(InvocationURLError) {
        guard !bytes.isEmpty else { throw .noHost }
        if bytes.first == UInt8(ascii: "[") {
            text = try Self.ipv6Literal(bytes)
            isIPAddress = true
            return
        }
        var name = Array(bytes)
        if name.contains(where: { $0 >= 0x80 }) {
            guard let converted = Self.asciiName(String(decoding: name, as: UTF8.self)) else {
                throw .invalidHost
            }
            name = converted
        }
        name = name.map(\.lowercasedASCII)
        if name.last == UInt8(ascii: ".") { name.removeLast() }
        guard !name.isEmpty else { throw .noHost }
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard name.count <= 253, labels.allSatisfy(Self.isLabel) else { throw .invalidHost }
        text = String(decoding: name, as: UTF8.self)
        isIPAddress = labels.last.map(Self.isNumber) ?? false
    }

    /// The A-label form of a name with other characters than ASCII, by Foundation's UTS 46.
    private static func asciiName(_ name: String) -> [UInt8]? {
        guard let encoded = URLComponents(string: "https://\(name)/")?.encodedHost else { return nil }
        let bytes = Array(encoded.utf8)
        return bytes.allSatisfy { $0 < 0x80 } ? bytes : nil
    }

    private static func isLabel(_ label: some BidirectionalCollection<UInt8>) -> Bool {
        (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
            && label.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }

    private static func isNumber(_ label: some Collection<UInt8>) -> Bool {
        label.allSatisfy(\.isASCIIDigit)
            || label.starts(with: "0x".utf8) && label.dropFirst(2).allSatisfy(\.isHexDigit)
    }

    private static func ipv6Literal(_ bytes: some Collection<UInt8>) throws(InvocationURLError) -> String {
        let literal = String(decoding: bytes.map(\.lowercasedASCII), as: UTF8.self)
        var address = in6_addr()
        guard literal.hasSuffix("]"),
            inet_pton(AF_INET6, String(literal.dropFirst().dropLast()), &address) == 1
        else { throw .invalidHost }
        return literal
    }
}
