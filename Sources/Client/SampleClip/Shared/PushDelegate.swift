import UIKit

/// Hands the device token on.
@MainActor
final class PushDelegate: NSObject, UIApplicationDelegate {
    var restaurant: Restaurant?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        application.registerForRemoteNotifications()
        return true
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken token: Data
    ) {
        Task { await restaurant?.receive(deviceToken: token) }
    }
}
