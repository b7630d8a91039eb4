public import Foundation

/// What the app may be sent, and by which tokens.
public struct Reachability: Sendable, Hashable, CustomStringConvertible {
    /// As `UNAuthorizationStatus` names it. An App Clip has `ephemeral` for 8 hours after each launch, without asking [documented:
    /// Apple, "Enabling notifications in App Clips"].
    public enum Permission: String, Sendable, Codable, CaseIterable {
        case notDetermined
        case denied
        case authorized
        case provisional
        case ephemeral
    }

    /// As the system has it now.
    public var permission: Permission
    /// As `didRegisterForRemoteNotificationsWithDeviceToken` has it.
    public var deviceToken: Data?
    /// The push-to-start tokens of Live Activities, by the type of their attributes; at most 16.
    public var startTokens: [String: Data]

    /// Takes what the system says; without a token the server keeps the one it has.
    public init(permission: Permission, deviceToken: Data? = nil, startTokens: [String: Data] = [:]) {
        self.permission = permission
        self.deviceToken = deviceToken
        self.startTokens = startTokens
    }

    /// Without the tokens.
    public var description: String {
        "\(permission.rawValue), \(deviceToken == nil ? "no token" : "a token")"
    }
}

/// What the server knows of this install after a launch.
public struct RegisteredInstance: Sendable, Hashable, Codable {
    /// Of the instance: what an order is to be kept with, so that news of it can be sent.
    public var id: UUID
    /// The bundle ID of the App Clip, also for the full app.
    public var clip: String
    /// When an ephemeral permission ends; nil for any other.
    public var reachableUntil: Date?
    /// Whether there is a device token that APNs has not refused.
    public var hasToken: Bool
}
