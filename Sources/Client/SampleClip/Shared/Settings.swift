import DoorstepClient
import Foundation

/// Values to replace with your own.
enum Settings {
    static let appGroup = "group.com.example.MyApp"

    static func configuration(_ app: ClipConfiguration.RunningApp) -> ClipConfiguration {
        ClipConfiguration(
            server: server, publishableKey: "dpk_REPLACE_ME", clip: "com.example.MyApp.Clip", runningApp: app,
            pushEnvironment: pushEnvironment)
    }

    private static var server: URL {
        guard let url = URL(string: "https://doorstep.example.com") else {
            preconditionFailure("the server's URL is not valid")
        }
        return url
    }

    /// The value of the build's entitlement `aps-environment`.
    private static var pushEnvironment: ClipConfiguration.PushEnvironment {
        #if DEBUG
            .sandbox
        #else
            .production
        #endif
    }
}
