public import Foundation

/// What an app was launched by.
public struct ClipInvocation: Sendable, Hashable {
    /// Nil for a launch without one, as from a notification or the App Switcher.
    public var url: URL?

    /// Takes the URL of a launch that came by other means, such as a place that was chosen.
    public init(url: URL?) {
        self.url = url
    }

    #if canImport(Darwin)
        /// From what the scene was given; nil when it is no invocation.
        ///
        /// An App Clip is launched with an activity of the type `NSUserActivityTypeBrowsingWeb` whose `webpageURL` is the
        /// invocation URL [documented: Apple, "Responding to invocations"].
        public init?(_ activity: NSUserActivity) {
            guard activity.activityType == NSUserActivityTypeBrowsingWeb else { return nil }
            self.init(url: activity.webpageURL)
        }
    #endif
}
