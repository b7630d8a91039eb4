/// The short name of a tenant for operators, such as `donut-shop`.
///
/// 1 to 63 of `a`–`z`, `0`–`9` and `-`, neither first nor last a hyphen: the characters of a DNS label (RFC
/// 1123 §2.1), in lower case.
public struct TenantSlug: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) throws(TenancyError) {
        guard (1...63).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed),
            !text.hasPrefix("-"), !text.hasSuffix("-")
        else { throw .invalidSlug }
        self.text = text
    }

    public var description: String { text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
