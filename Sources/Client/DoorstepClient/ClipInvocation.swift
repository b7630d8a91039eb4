public import Foundation

/// The invocation that launched an app.
public struct ClipInvocation: Sendable, Hashable {
    /// The invocation URL; nil for a launch without one, such as from a notification or the App Switcher.
    public var url: URL?

    /// Creates an invocation from a URL that came by other means, such as a location that the person
    /// selected.
    public init(url: URL?) {
        self.url = url
    }

    #if canImport(Darwin)
        /// Creates an invocation from the scene's activity; nil if the activity is no invocation.
        ///
        /// The system launches an App Clip with an activity of the type `NSUserActivityTypeBrowsingWeb`,
        /// whose `webpageURL` is the invocation URL [Apple: "Responding to invocations"].
        public init?(_ activity: NSUserActivity) {
            guard activity.activityType == NSUserActivityTypeBrowsingWeb else { return nil }
            self.init(url: activity.webpageURL)
        }
    #endif
}
