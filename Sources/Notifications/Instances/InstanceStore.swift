public import Foundation
public import Tenancy

/// What is to be kept of a launch.
public struct InstanceRegistration: Sendable, Hashable {
    public let id: InstanceID
    public let clip: BundleID
    public let app: InstalledApp
    public let environment: APNsEnvironment
    public let permission: NotificationPermission
    public let launch: Launch
    public let tokens: [TokenPlace: PushToken]

    public init(
        id: InstanceID, clip: BundleID, app: InstalledApp, environment: APNsEnvironment,
        permission: NotificationPermission, launch: Launch, tokens: [TokenPlace: PushToken]
    ) {
        self.id = id
        self.clip = clip
        self.app = app
        self.environment = environment
        self.permission = permission
        self.launch = launch
        self.tokens = tokens
    }
}

/// Where instances are kept. Each function is done whole or not at all, and throws
/// ``NotificationStoreError/unavailable`` when the store does not answer.
///
/// What a tenant's instance is, no other tenant's function sees.
public protocol InstanceStore: Sendable {
    /// Keeps a launch as ``InstanceRegistrar`` says.
    /// - Returns: The instance as it is then, and whether there was none before; nil when the tenant or the clip is gone.
    func register(
        _ registration: InstanceRegistration, of tenant: TenantID, at now: Date
    ) async throws -> (instance: Instance, isNew: Bool)?

    func instance(_ id: InstanceID, of tenant: TenantID) async throws -> Instance?

    /// - Returns: Whether there was one.
    func delete(_ id: InstanceID, of tenant: TenantID) async throws -> Bool

    /// - Returns: Whether the instance is there.
    func setToken(
        _ token: PushToken, ofActivity activity: String, for id: InstanceID, of tenant: TenantID, at now: Date
    ) async throws -> Bool

    /// - Returns: Whether it was there.
    func removeActivity(
        _ activity: String, for id: InstanceID, of tenant: TenantID
    ) async throws -> Bool
}
