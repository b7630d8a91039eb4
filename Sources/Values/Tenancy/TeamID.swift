/// An Apple Developer team, ten upper-case letters and digits such as `ABCDE12345`.
public struct TeamID: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init(_ text: String) throws(TenancyError) {
        guard Self.isWellFormed(text) else { throw .invalidTeamID }
        self.text = text
    }

    public var description: String { text }

    static func isWellFormed(_ text: String) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy(isAllowed)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
