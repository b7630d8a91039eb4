public import APNsPayload
public import Foundation
public import Invocation
public import Tenancy

/// The report of a clip after its launch.
public struct LaunchReport: Sendable {
    public let instance: InstanceID
    /// Nil for a launch without one, as from a notification or the App Switcher. [Apple]
    public let url: InvocationURL?
    /// The clip, where the report names it.
    public let clip: BundleID?
    public let app: InstalledApp
    public let environment: APNsEnvironment
    public let permission: NotificationPermission
    /// Nil for an app that has none yet, or was given none.
    public let token: PushToken?
    /// By the type of the attributes.
    public let startTokens: [String: PushToken]
    /// Nil for now.
    public let launchedAt: Date?

    public init(
        instance: InstanceID, url: InvocationURL?, clip: BundleID?, app: InstalledApp,
        environment: APNsEnvironment, permission: NotificationPermission, token: PushToken?,
        startTokens: [String: PushToken], launchedAt: Date?
    ) {
        self.instance = instance
        self.url = url
        self.clip = clip
        self.app = app
        self.environment = environment
        self.permission = permission
        self.token = token
        self.startTokens = startTokens
        self.launchedAt = launchedAt
    }
}
