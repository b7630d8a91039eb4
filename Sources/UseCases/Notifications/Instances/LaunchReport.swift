public import APNsPayload
public import Foundation
public import Invocation
public import Tenancy

/// The report of a clip after its launch.
public struct LaunchReport: Sendable {
    public let instance: InstanceID
    /// Nil for a launch without a URL, for example from a notification or the App Switcher. [Apple]
    public let url: InvocationURL?
    /// The clip, if the report names it.
    public let clip: BundleID?
    public let app: InstalledApp
    public let environment: APNsEnvironment
    public let permission: NotificationPermission
    /// Nil if the app has no token yet, or got none.
    public let token: PushToken?
    /// The tokens by the type of their attributes.
    public let startTokens: [String: PushToken]
    /// Nil for the current time.
    public let launchedAt: Date?
    /// How the clip was launched, if it knows. Only statistics use it.
    public let source: InvocationSource

    public init(
        instance: InstanceID, url: InvocationURL?, clip: BundleID?, app: InstalledApp,
        environment: APNsEnvironment, permission: NotificationPermission, token: PushToken?,
        startTokens: [String: PushToken], launchedAt: Date?,
        source: InvocationSource = .unknown
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
        self.source = source
    }
}
