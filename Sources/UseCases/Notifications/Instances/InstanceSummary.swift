public import APNsPayload
public import Foundation
public import Tenancy

/// An instance in a list.
public struct InstanceSummary: Sendable, Hashable {
    public let id: InstanceID
    public let clip: BundleID
    public let app: InstalledApp
    public let environment: APNsEnvironment
    public let permission: NotificationPermission
    public let launchedAt: Date
    public let launchCount: Int
    public let hasToken: Bool
    public let activityCount: Int

    public init(
        id: InstanceID, clip: BundleID, app: InstalledApp, environment: APNsEnvironment,
        permission: NotificationPermission, launchedAt: Date, launchCount: Int, hasToken: Bool,
        activityCount: Int
    ) {
        self.id = id
        self.clip = clip
        self.app = app
        self.environment = environment
        self.permission = permission
        self.launchedAt = launchedAt
        self.launchCount = launchCount
        self.hasToken = hasToken
        self.activityCount = activityCount
    }
}

/// The position of an instance in a list by latest launch.
public struct LaunchLocation: Sendable, Hashable {
    public let launchedAt: Date
    public let id: InstanceID

    public init(launchedAt: Date, id: InstanceID) {
        self.launchedAt = launchedAt
        self.id = id
    }
}

extension InstanceSummary {
    public var launchPlace: LaunchLocation { LaunchLocation(launchedAt: launchedAt, id: id) }
}
