public import APNsPayload
public import Foundation
public import Invocation
public import Tenancy

/// An installation of a clip, or of the full app in its place, with its latest launches.
public struct Instance: Sendable, Hashable {
    public let id: InstanceID
    /// The clip, also when the full app has replaced it.
    public let clip: BundleID
    public let app: InstalledApp
    public let environment: APNsEnvironment
    public let permission: NotificationPermission
    /// The latest launch.
    public let launchedAt: Date
    /// The latest by each URL, the newest first; at most ``maximumLaunches``.
    public let launches: [Launch]
    /// Whether notifications have a token to go to, as far as is known.
    public let hasToken: Bool
    /// The types of attributes whose Live Activities can be started.
    public let startableTypes: [String]
    /// The IDs of the Live Activities that can be updated.
    public let activities: [String]

    /// The maximum number of stored launches. The oldest ones are deleted. [ours]
    public static let maximumLaunches = 64
    /// The maximum number of Live Activities, and of types that can be started, of an instance. The oldest ones are deleted. [ours]
    public static let maximumActivities = 16
    /// The maximum number of instances of a key of App Attest. The key belongs to one installation, which gets a new instance ID
    /// for example after a restore. [ours]
    public static let maximumOfKey = 16
    /// The maximum time of a Live Activity: eight hours active, then four on the Lock Screen. [Apple]
    public static let activityLifetime: TimeInterval = 12 * 60 * 60

    public init(
        id: InstanceID, clip: BundleID, app: InstalledApp, environment: APNsEnvironment,
        permission: NotificationPermission, launchedAt: Date, launches: [Launch], hasToken: Bool,
        startableTypes: [String], activities: [String]
    ) {
        self.id = id
        self.clip = clip
        self.app = app
        self.environment = environment
        self.permission = permission
        self.launchedAt = launchedAt
        self.launches = launches
        self.hasToken = hasToken
        self.startableTypes = startableTypes
        self.activities = activities
    }

    /// The same with other launches.
    public func with(launches: [Launch]) -> Instance {
        Instance(
            id: id, clip: clip, app: app, environment: environment, permission: permission,
            launchedAt: launchedAt, launches: launches, hasToken: hasToken, startableTypes: startableTypes,
            activities: activities)
    }

    /// The instance as seen from some locations: its launches there; nil if there were none. Live Activities are omitted,
    /// because their location is unknown.
    public func seen(at locations: Set<LocationIdentifier>) -> Instance? {
        let launches = launches.filter { $0.location.map(locations.contains) ?? false }
        guard let launchedAt = launches.map(\.launchedAt).max() else { return nil }
        return Instance(
            id: id, clip: clip, app: app, environment: environment, permission: permission,
            launchedAt: launchedAt, launches: launches, hasToken: hasToken, startableTypes: startableTypes,
            activities: [])
    }

    /// Until when the permission that comes with a launch lasts [Apple]; nil for any other permission, which has no such
    /// end or lets nothing through.
    public var reachableUntil: Date? {
        permission == .ephemeral
            ? launchedAt.addingTimeInterval(NotificationComposer.ephemeralPermission) : nil
    }
}

/// The latest launch of an instance by an invocation URL.
public struct Launch: Sendable, Hashable {
    /// Canonical, without fragment; the registered URL of the experience in place of one that carries a place.
    public let url: String
    /// The registered URL of the experience.
    public let experience: String
    /// The business; nil if the URL names no known business, or if the URL contains the coordinates.
    public let location: LocationIdentifier?
    public let launchedAt: Date
    /// The minute of the latest confirmation that the person was at the location.
    public let confirmedAt: Date?

    public init(
        url: String, experience: String, location: LocationIdentifier?, launchedAt: Date, confirmedAt: Date?
    ) {
        self.url = url
        self.experience = experience
        self.location = location
        self.launchedAt = launchedAt
        self.confirmedAt = confirmedAt
    }
}
