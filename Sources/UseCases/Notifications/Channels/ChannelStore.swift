public import APNsPayload
public import Tenancy

/// The owners of channels.
public protocol ChannelStore: Sendable {
    /// The team of a tenant's clip, and whether the tenant is a test tenant; nil when the tenant has no such clip.
    func team(of clip: BundleID, of tenant: TenantID) async throws -> (team: TeamID, isOfTest: Bool)?

    /// Checks that the tenant's quotas leave room for one more channel of its clip.
    ///
    /// - Throws: What ``add(_:of:)`` throws if they do not.
    func checkRoom(of clip: BundleID, _ environment: APNsEnvironment, of tenant: TenantID) async throws

    func add(_ channel: BroadcastChannel, of tenant: TenantID) async throws

    /// Nil if the tenant does not have the channel.
    func channel(_ id: ChannelID, of tenant: TenantID) async throws -> BroadcastChannel?

    func remove(_ channel: BroadcastChannel, of tenant: TenantID) async throws
}
