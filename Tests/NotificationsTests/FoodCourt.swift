import Foundation
import Invocation
import JSON
import Notifications
import Tenancy

/// A tenant with the clip of Apple's example, which serves many restaurants, and a clip of one business.
struct FoodCourt {
    let tenant = TenantID(UUID())
    let now = Date(timeIntervalSince1970: 1_772_368_200)
    var store = MemoryExperienceStore()

    init() throws {
        let restaurant = LocationBinding.location(try LocationIdentifier("restaurant_a"))
        store.experiences[tenant] = try [
            Self.many("/restaurants", .unbound), Self.many("/restaurants/restaurant_a", restaurant),
            Self.many("/path", .rule(IdentifierRule("path:2"))),
            Self.many("/query?v=1", .rule(IdentifierRule("query:id"))),
            Self.many("/query", .rule(IdentifierRule("query:id"))),
            Self.many("/hash", .rule(IdentifierRule("hash:h"))),
            Self.many("/fixed?id=a", .rule(IdentifierRule("query:id"))),
            Self.many("/place", .rule(IdentifierRule("coordinates:lat,lon"))),
            Self.many("/default", restaurant, kind: .default), Self.many("/demo", restaurant, kind: .demo),
            Self.many("/restaurants/restaurant_a/order", restaurant, kind: .default),
            ClipExperience(
                Experience(
                    url: URLPrefix("https://solo.example.com"), kind: .advanced,
                    clip: BundleID("com.example.Solo.Clip")),
                clipIsMultiBusiness: false),
        ]
    }

    private static func many(
        _ path: String, _ binding: LocationBinding, kind: ExperienceKind = .advanced
    ) throws -> ClipExperience {
        ClipExperience(
            try Experience(
                url: URLPrefix("https://example.com" + path), kind: kind,
                clip: BundleID("com.example.MyApp.Clip"), binding: binding),
            clipIsMultiBusiness: true)
    }

    static let order = "https://example.com/restaurants/restaurant_a/order/1234"

    func compose(
        _ url: String = order, aps: JSONObject = ["alert": "Ready."], custom: JSONObject = [:],
        headers: JSONObject = [:], launchedAt: Date? = nil
    ) async throws -> Composition {
        let request = NotificationRequest(
            url: try InvocationURL(url), aps: aps, custom: custom, headers: headers, launchedAt: launchedAt)
        return try await NotificationComposer(store: store).compose(request, of: tenant, at: now)
    }
}

extension Composition {
    var composed: ComposedNotification? {
        if case .composed(let notification) = self { notification } else { nil }
    }

    var refusal: CompositionRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}
