public import APNsPayload
public import Foundation
public import Invocation
public import Tenancy

/// What a clip tells of itself after it was launched.
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

/// What an authentic receipt says of where the person was.
public struct PresenceProof: Sendable, Hashable {
    /// Nil for a place that came signed in its URL.
    public let location: LocationIdentifier?
    public let isInRegion: Bool
    /// Whether that rests on a device's own result or on a coordinate. One that rests on neither confirms nothing.
    public let hasEvidence: Bool
    /// A whole minute.
    public let minute: Date

    public init(location: LocationIdentifier?, isInRegion: Bool, hasEvidence: Bool, minute: Date) {
        self.location = location
        self.isInRegion = isInRegion
        self.hasEvidence = hasEvidence
        self.minute = minute
    }
}
