import Formats

/// The token by which APNs identifies a device, or a Live Activity on it.
///
/// Secret: with it and the provider's key, anyone can send notifications to the device. Its description
/// does not contain it.
public struct PushToken: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    public let bytes: [UInt8]

    /// The bytes a token may have; Apple fixes no length ("Registering your app with APNs"), so the bounds are ours.
    public static let lengths = 8...256

    /// Nil if the number of bytes is outside ``lengths``.
    public init?(_ bytes: [UInt8]) {
        guard Self.lengths.contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// From hexadecimal digits in either case; nil for anything else.
    public init?(hex: String) {
        guard let bytes = Base16.bytes(hex) else { return nil }
        self.init(bytes)
    }

    /// In lower case, as in the path of a request to APNs.
    public var hex: String { Base16.text(bytes) }

    public var description: String { "push token" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
