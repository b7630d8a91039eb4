import DoorstepClient
import SwiftUI

/// The restaurant, or those nearby, and the order.
struct RestaurantScreen: View {
    let restaurant: Restaurant
    /// Returns this app's evidence that the person is at the location.
    let evidence: @MainActor (ClipLocation.Region) async -> PresenceEvidence

    var body: some View {
        NavigationStack {
            content.navigationTitle(restaurant.place?.name ?? "Restaurants")
        }
    }

    @ViewBuilder private var content: some View {
        if let place = restaurant.place {
            List {
                if let phone = place.details?["phone"] { LabeledContent("Phone", value: phone) }
                Section { orderRow }
            }
        } else if !restaurant.nearby.isEmpty {
            List(restaurant.nearby, id: \.identifier) { found in
                Button {
                    restaurant.choose(found)
                } label: {
                    LabeledContent(
                        found.name,
                        value: Measurement(value: found.distance, unit: UnitLength.meters).formatted())
                }
            }
        } else if let trouble = restaurant.trouble {
            ContentUnavailableView(trouble, systemImage: "fork.knife")
        } else {
            ProgressView()
        }
    }

    @ViewBuilder private var orderRow: some View {
        switch restaurant.order {
        case .none, .failed, .elsewhere:
            Button("Order at this table") {
                Task { await restaurant.placeOrder(evidence: evidence) }
            }
            if restaurant.order == .elsewhere { Text("You are not at this restaurant.") }
            if restaurant.order == .failed { Text("That did not work. Try again.") }
        case .confirming: ProgressView()
        case .placed: Label("Ordered", systemImage: "checkmark")
        }
    }
}
