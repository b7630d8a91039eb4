public import Foundation

/// The server that an app calls, and the app's description of itself.
public struct ClipConfiguration: Sendable {
    /// The running app: App Clip or full app. The full app replaces the App Clip when it is installed
    /// [Apple: "Sharing data between your App Clip and your full app"].
    public enum RunningApp: String, Sendable, Codable {
        case clip
        case full
    }

    /// The environment of APNs, from the build's entitlement `aps-environment`: `sandbox` for development
    /// builds.
    public enum PushEnvironment: String, Sendable, Codable {
        case production
        case sandbox
    }

    /// Scheme, host and port of the server. A path is not allowed: a request's signature covers the path
    /// from the root.
    public var server: URL
    /// A publishable key, `dpk_…`. It ships in the app, so it is not a secret.
    public var publishableKey: String
    /// The bundle ID of the App Clip; in the full app, of the App Clip that it replaces.
    public var clip: String
    /// The running app: the full app identifies itself with each launch.
    public var runningApp: RunningApp
    /// The environment of the device tokens that are registered.
    public var pushEnvironment: PushEnvironment
    /// The retry budget for requests that a person waits for.
    public var interactive: RetryBudget
    /// The retry budget for background requests: launches, tokens, attestation.
    public var background: RetryBudget

    /// Creates a configuration from the app's own data.
    public init(
        server: URL, publishableKey: String, clip: String, runningApp: RunningApp = .clip,
        pushEnvironment: PushEnvironment = .production, interactive: RetryBudget = .interactive,
        background: RetryBudget = .background
    ) {
        self.server = server
        self.publishableKey = publishableKey
        self.clip = clip
        self.runningApp = runningApp
        self.pushEnvironment = pushEnvironment
        self.interactive = interactive
        self.background = background
    }
}

extension ClipConfiguration: CustomStringConvertible {
    /// A text without the key.
    public var description: String { "\(clip) at \(server.host ?? "no host")" }
}
