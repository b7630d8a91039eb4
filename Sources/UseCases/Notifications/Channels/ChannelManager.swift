public import APNsPayload
public import Tenancy

/// Manages the broadcast channels of an app, which Live Activities follow.
///
/// Source: Apple, "Sending channel management requests to APNs".
public protocol ChannelManager: Sendable {
    /// Makes a channel.
    /// - Parameter storesLastMessage: Whether APNs stores the last message for offline devices, for at most eight hours. If
    ///   not, it accepts only messages with the expiration 0. [Apple]
    /// - Returns: the ID of the channel, in base64.
    func createChannel(
        of bundleID: BundleID, team: TeamID, environment: APNsEnvironment, storesLastMessage: Bool
    ) async -> ChannelOutcome<String>

    /// The IDs of all channels of the app.
    func channels(
        of bundleID: BundleID, team: TeamID, environment: APNsEnvironment
    ) async -> ChannelOutcome<[String]>

    /// Deletes a channel, for ever.
    func deleteChannel(
        _ id: String, of bundleID: BundleID, team: TeamID, environment: APNsEnvironment
    ) async -> ChannelOutcome<ChannelDeleted>
}
