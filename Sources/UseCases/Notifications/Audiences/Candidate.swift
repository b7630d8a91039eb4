public import APNsPayload
public import Foundation
public import Tenancy

/// An instance that may get a notification, in its state at the time of the decision.
public struct Candidate: Sendable, Hashable {
    public let instance: InstanceID
    public let clip: BundleID
    public let app: InstalledApp
    public let environment: APNsEnvironment
    public let permission: NotificationPermission
    /// The latest launch, by whatever URL.
    public let launchedAt: Date
    /// The latest launch at the target's business; nil when there was none.
    public let launchedAtBusiness: Date?
    /// Distinguishes it from the clip's other instances on the device; nil if it was never launched by a URL.
    public let launch: URLLaunch?
    /// The latest confirmation at the target's location; nil when there was none.
    public let confirmedAt: Date?
    public let token: Token
    /// Whether something of another business of the clip may still wait at APNs for the device.
    public var hasOtherBusiness: Bool

    /// The state of the token that the notification needs.
    public enum Token: Sendable, Hashable {
        case none
        case good
        /// APNs or a later registration reported the token as dead.
        case dead
    }

    /// A launch with a URL: the latest one at the target's business. If there is none, the latest of all launches.
    public struct URLLaunch: Sendable, Hashable {
        /// Canonical, without fragment.
        public let url: String
        /// The registered URL of the experience that was launched.
        public let experienceURL: String
        /// Whether the launch led to no location, as by a generic URL.
        public let isOfNoLocation: Bool

        public init(url: String, experienceURL: String, isOfNoLocation: Bool = false) {
            self.url = url
            self.experienceURL = experienceURL
            self.isOfNoLocation = isOfNoLocation
        }
    }

    public init(
        instance: InstanceID, clip: BundleID, app: InstalledApp, environment: APNsEnvironment,
        permission: NotificationPermission, launchedAt: Date, launchedAtBusiness: Date?,
        launch: URLLaunch? = nil, confirmedAt: Date?, token: Token, hasOtherBusiness: Bool
    ) {
        self.instance = instance
        self.clip = clip
        self.app = app
        self.environment = environment
        self.permission = permission
        self.launchedAt = launchedAt
        self.launchedAtBusiness = launchedAtBusiness
        self.launch = launch
        self.confirmedAt = confirmedAt
        self.token = token
        self.hasOtherBusiness = hasOtherBusiness
    }
}
