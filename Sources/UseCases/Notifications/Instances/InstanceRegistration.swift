public import APNsPayload
public import Foundation
public import Tenancy

/// The stored data of a launch.
public struct InstanceRegistration: Sendable, Hashable {
    public let id: InstanceID
    /// Nil for the clip that is stored with the instance.
    public let clip: BundleID?
    public let app: InstalledApp
    public let environment: APNsEnvironment
    public let permission: NotificationPermission
    public let launchedAt: Date
    /// Nil for a launch without a URL, which is at no business.
    public let launch: Launch?
    public let tokens: [TokenKind: PushToken]
    /// The ID of the key of App Attest that signed the report; nil without one. An unbound instance is bound to this key.
    public let attestKey: [UInt8]?
    /// Whether a clip requires attestation: then no instance that is bound to another key is reached, and a key has
    /// ``Instance/maximumOfKey`` at most.
    public let isHeldToKey: Bool
    /// A launch by the same URL from this time on is the same launch, and not counted again.
    public let sameLaunchSince: Date

    /// - Parameter sameLaunchSince: Nil for `launchedAt`.
    public init(
        id: InstanceID, clip: BundleID?, app: InstalledApp, environment: APNsEnvironment,
        permission: NotificationPermission, launchedAt: Date, launch: Launch?,
        tokens: [TokenKind: PushToken], attestKey: [UInt8]? = nil, isHeldToKey: Bool = false,
        sameLaunchSince: Date? = nil
    ) {
        self.id = id
        self.clip = clip
        self.app = app
        self.environment = environment
        self.permission = permission
        self.launchedAt = launchedAt
        self.launch = launch
        self.tokens = tokens
        self.attestKey = attestKey
        self.isHeldToKey = isHeldToKey
        self.sameLaunchSince = sameLaunchSince ?? launchedAt
    }
}
