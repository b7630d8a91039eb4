import AppClip
import DoorstepClient
import SwiftUI

/// The App Clip: opened at a table by a tag or a code.
@main
struct RestaurantClip: App {
    @UIApplicationDelegateAdaptor(PushDelegate.self) private var delegate
    @State private var restaurant = Restaurant(.clip)
    @State private var payload: APActivationPayload?

    var body: some Scene {
        WindowGroup {
            RestaurantScreen(restaurant: restaurant, evidence: evidence)
                .onContinueUserActivity(NSUserActivityTypeBrowsingWeb) { activity in
                    payload = activity.appClipActivationPayload
                    if let invocation = ClipInvocation(activity) { restaurant.show(invocation) }
                }
                .task {
                    delegate.restaurant = restaurant
                    // A return without a URL. If there is a URL, its activity arrives too and replaces this
                    // one.
                    restaurant.show(ClipInvocation(url: nil))
                }
        }
    }

    /// Returns the system's own verdict; the system has none for a launch without a URL.
    private func evidence(_ region: ClipLocation.Region) async -> PresenceEvidence {
        guard let payload else { return await Fix.current().map { .coordinate($0) } ?? .none }
        return .device(await payload.deviceResult(in: region))
    }
}
