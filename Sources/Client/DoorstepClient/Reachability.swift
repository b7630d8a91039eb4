public import Foundation

/// The notifications that the app may receive, and the tokens to send them to.
public struct Reachability: Sendable, Hashable, CustomStringConvertible {
    /// The permission, named as in `UNAuthorizationStatus`. An App Clip has `ephemeral` for 8 hours after
    /// each launch, without a prompt [Apple: "Enabling notifications in App Clips"].
    public enum Permission: String, Sendable, Codable, CaseIterable {
        case notDetermined
        case denied
        case authorized
        case provisional
        case ephemeral
    }

    /// The system's current permission.
    public var permission: Permission
    /// The token from `didRegisterForRemoteNotificationsWithDeviceToken`.
    public var deviceToken: Data?
    /// The push-to-start tokens of Live Activities, by the type of their attributes; at most 16.
    public var startTokens: [String: Data]

    /// Creates a value from the system's data; without a token the server keeps the one that it has.
    public init(permission: Permission, deviceToken: Data? = nil, startTokens: [String: Data] = [:]) {
        self.permission = permission
        self.deviceToken = deviceToken
        self.startTokens = startTokens
    }

    /// A text without the tokens.
    public var description: String {
        "\(permission.rawValue), \(deviceToken == nil ? "no token" : "a token")"
    }
}

/// The server's record of this install after a launch.
public struct RegisteredInstance: Sendable, Hashable, Codable {
    /// The ID of the instance: store it with an order, so that notifications about the order can be sent.
    public var id: UUID
    /// The bundle ID of the App Clip, also for the full app.
    public var clip: String
    /// The end of an ephemeral permission; nil for any other.
    public var reachableUntil: Date?
    /// Whether there is a device token that APNs has not refused.
    public var hasToken: Bool
}
