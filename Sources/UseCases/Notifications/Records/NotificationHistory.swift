public import APNsPayload
public import Invocation
public import Tenancy

/// Reads a tenant's notifications, instances and channels for its keys, without push tokens.
public protocol NotificationHistory: Sendable {
    /// The newest first, from before one on, up to `limit`.
    func notifications(
        _ selection: NotificationSelection, of tenant: TenantID, before last: NotificationID?, limit: Int
    ) async throws -> [RecordedNotification]

    /// Instances sorted by ID, after a given one, up to `limit`. An instance that is launched again keeps its position.
    func instances(
        _ selection: InstanceSelection, of tenant: TenantID, after last: InstanceID?, limit: Int
    ) async throws -> [InstanceSummary]

    /// The latest launched first, after one, up to `limit`.
    func latestInstances(
        _ selection: InstanceSelection, of tenant: TenantID, after last: LaunchLocation?, limit: Int
    ) async throws -> [InstanceSummary]

    /// By clip, environment and ID, after one, up to `limit`.
    func channels(
        _ selection: ChannelSelection, of tenant: TenantID, after last: ChannelCursor?, limit: Int
    ) async throws -> [BroadcastChannel]
}

/// A selection of notifications. Without a condition, it selects all.
public struct NotificationSelection: Sendable, Hashable {
    public var clip: BundleID?
    /// Of this business.
    public var location: LocationIdentifier?
    /// Only notifications that keys restricted to locations sent to one of these; nil for all.
    public var locations: Set<LocationIdentifier>?

    public init(
        clip: BundleID? = nil, location: LocationIdentifier? = nil,
        within locations: Set<LocationIdentifier>? = nil
    ) {
        self.clip = clip
        self.location = location
        self.locations = locations
    }
}

/// A selection of channels. Without a condition, it selects all.
public struct ChannelSelection: Sendable, Hashable {
    public var clip: BundleID?
    public var environment: APNsEnvironment?

    public init(clip: BundleID? = nil, environment: APNsEnvironment? = nil) {
        self.clip = clip
        self.environment = environment
    }
}

/// The position of a channel in a tenant's list.
public struct ChannelCursor: Sendable, Hashable {
    public let clip: BundleID
    public let environment: APNsEnvironment
    public let id: ChannelID

    public init(clip: BundleID, environment: APNsEnvironment, id: ChannelID) {
        self.clip = clip
        self.environment = environment
        self.id = id
    }
}

extension BroadcastChannel {
    public var place: ChannelCursor { ChannelCursor(clip: clip, environment: environment, id: id) }
}
