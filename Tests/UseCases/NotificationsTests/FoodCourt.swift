import Formats
import Foundation
import Invocation
import Lookups
import Notifications
import Tenancy
import ValueFixtures

/// A tenant with the clip of Apple's example, which serves many restaurants, and a clip of one business.
struct FoodCourt {
    let tenant = LookupIndex.tenant
    let now = Date(timeIntervalSince1970: 1_772_368_200)
    var table = LookupIndex()

    init() throws {
        try open(of: tenant)
    }

    /// Adds a tenant with both clips.
    mutating func open(of tenant: TenantID) throws {
        let restaurant = LocationBinding.location(try LocationIdentifier("restaurant_a"))
        try table.register(
            [
                Self.many("/restaurants", .unbound), Self.many("/restaurants/restaurant_a", restaurant),
                Self.many("/path", .rule(IdentifierRule("path:2"))),
                Self.many("/query?v=1", .rule(IdentifierRule("query:id"))),
                Self.many("/query", .rule(IdentifierRule("query:id"))),
                Self.many("/hash", .rule(IdentifierRule("hash:h"))),
                Self.many("/fixed?id=a", .rule(IdentifierRule("query:id"))),
                Self.many("/place", .rule(IdentifierRule("coordinates:lat,lon"))),
                Self.many("/default", restaurant, kind: .default),
                Self.many("/demo", restaurant, kind: .demo),
                Self.many("/restaurants/restaurant_a/order", restaurant, kind: .default),
                Experience(
                    url: URLPrefix("https://solo.example.com"), kind: .advanced,
                    clip: BundleID("com.example.Solo.Clip")),
                Experience(
                    url: URLPrefix("https://appclip.apple.com/id?p=com.example.Bikes.Clip"), kind: .default,
                    clip: BundleID("com.example.Bikes.Clip"), binding: .rule(IdentifierRule("query:bike"))),
                Experience(
                    url: URLPrefix("https://bikes.example.com/demo"), kind: .demo,
                    clip: BundleID("com.example.Bikes.Clip")),
            ], of: tenant)
        try table.set(.clips, .clip(tenant, Self.clip, isMultiBusiness: true))
        for clip in ["com.example.Solo.Clip", "com.example.Bikes.Clip"] {
            try table.set(.clips, .clip(tenant, clip, isMultiBusiness: false))
        }
    }

    private static func many(
        _ path: String, _ binding: LocationBinding, kind: ExperienceKind = .advanced
    ) throws -> Experience {
        try Experience(
            url: URLPrefix("https://example.com" + path), kind: kind, clip: BundleID(clip), binding: binding)
    }

    /// The clip that serves many restaurants.
    static let clip = "com.example.MyApp.Clip"
    static let order = "https://example.com/restaurants/restaurant_a/order/1234"

    func compose(
        _ url: String = order, aps: JSONObject = ["alert": "Ready."], custom: JSONObject = [:],
        headers: JSONObject = [:], launchedAt: Date? = nil, of other: TenantID? = nil
    ) throws -> Result<ComposedNotification, CompositionRefusal> {
        let request = NotificationRequest(
            url: try InvocationURL(url), aps: aps, custom: custom, headers: headers)
        return Result { () throws(CompositionRefusal) in
            try NotificationComposer().compose(
                request, launchedAt: launchedAt, in: table.of(other ?? tenant), at: now)
        }
    }
}

extension Result<ComposedNotification, CompositionRefusal> {
    var composed: ComposedNotification? {
        if case .success(let notification) = self { notification } else { nil }
    }

    var refusal: CompositionRefusal? {
        if case .failure(let refusal) = self { refusal } else { nil }
    }
}
