public import APNsPayload
public import Foundation
public import Tenancy

/// A broadcast channel of a clip. Subscribers receive its messages without a token of their own.
///
/// Source: Apple, "Setting up broadcast push notifications".
public struct BroadcastChannel: Sendable, Hashable {
    public let id: ChannelID
    public let clip: BundleID
    public let environment: APNsEnvironment
    /// Whether APNs stores the last message for offline devices; otherwise a message reaches only online devices.
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
