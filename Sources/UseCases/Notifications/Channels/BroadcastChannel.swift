public import APNsPayload
public import Foundation
public import Tenancy

/// A broadcast channel of a clip: whoever follows it gets what is sent to it, without a token of their own.
///
/// Source: Apple, "Setting up broadcast push notifications".
public struct BroadcastChannel: Sendable, Hashable {
    public let id: ChannelID
    public let clip: BundleID
    public let environment: APNsEnvironment
    /// Whether APNs keeps the last message for devices that are offline; without, a message reaches who is online.
    public let storesLastMessage: Bool
    public let createdAt: Date

    public init(
        id: ChannelID, clip: BundleID, environment: APNsEnvironment, storesLastMessage: Bool, createdAt: Date
    ) {
        self.id = id
        self.clip = clip
        self.environment = environment
        self.storesLastMessage = storesLastMessage
        self.createdAt = createdAt
    }
}

/// What APNs calls a channel: some bytes in Base64.
public struct ChannelID: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// The bytes that the text may have: what the column takes [ours].
    static let lengths = 1...128

    /// Nil for what is no Base64 (RFC 4648 §4), or longer than 128 bytes.
    public init?(_ text: String) {
        guard Self.lengths.contains(text.utf8.count), Data(base64Encoded: text) != nil else { return nil }
        self.text = text
    }

    /// From its form for paths: Base64 of RFC 4648 §5, padded or not.
    public init?(pathComponent: String) {
        let text = pathComponent.replacing("=", with: "").replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        self.init(text + padding)
    }

    /// The ID without what stands for something else in a URL (RFC 4648 §5).
    public var pathComponent: String {
        text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    public var description: String { text }
}
