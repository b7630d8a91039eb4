import DoorstepClient
import SwiftUI

/// The full app: it replaces the App Clip, opens its URLs, and continues where the App Clip stopped.
@main
struct RestaurantApp: App {
    @UIApplicationDelegateAdaptor(PushDelegate.self) private var delegate
    @State private var restaurant = Restaurant(.full)

    var body: some Scene {
        WindowGroup {
            RestaurantScreen(restaurant: restaurant, evidence: evidence)
                .onContinueUserActivity(NSUserActivityTypeBrowsingWeb) { activity in
                    if let invocation = ClipInvocation(activity) { restaurant.show(invocation) }
                }
                .task {
                    delegate.restaurant = restaurant
                    restaurant.show(ClipInvocation(url: nil))
                }
        }
    }

    /// There is no `confirmAcquired(in:)` in a full app.
    private func evidence(_ region: ClipLocation.Region) async -> PresenceEvidence {
        await Fix.current().map { .coordinate($0) } ?? .none
    }
}
