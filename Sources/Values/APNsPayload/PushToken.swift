/// What APNs knows a device, or a Live Activity on it, by.
///
/// Secret: who has it and the provider's key can write to the device. Its description does not hold it.
public struct PushToken: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    public let bytes: [UInt8]

    /// The bytes a token may have; Apple fixes no length ("Registering your app with APNs"), so the bounds are ours.
    public static let lengths = 8...256

    /// Nil when there are fewer or more bytes than ``lengths``.
    public init?(_ bytes: [UInt8]) {
        guard Self.lengths.contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// From hexadecimal digits in either case; nil for anything else.
    public init?(hex: String) {
        let digits = hex.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        self.init(
            stride(from: 0, to: digits.count, by: 2).map {
                UInt8((digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0))
            })
    }

    /// In lower case, as it stands in the path of a request to APNs.
    public var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    public var description: String { "push token" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
