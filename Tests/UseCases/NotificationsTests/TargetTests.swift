import APNsPayload
import Formats
import Invocation
import Lookups
import Notifications
import Tenancy
import Testing
import ValueFixtures

@Suite struct TargetTests {
    private let court: FoodCourt

    init() throws {
        court = try FoodCourt()
    }

    /// Source: Apple, "Enabling notifications in App Clips".
    @Test func compositionMatchesApplesExample() throws {
        let composition = try court.compose(
            aps: [
                "alert": [
                    "title": "Order Status", "subtitle": "Restaurant A", "body": "Your order is ready.",
                ],
                "category": "order_status",
            ])
        let notification = try #require(composition.composed)
        let expected = """
            {
                "aps" : {
                    "alert" : {
                        "title" : "Order Status",
                        "subtitle" : "Restaurant A",
                        "body" : "Your order is ready."
                    },
                    "category" : "order_status",
                    "target-content-id" : "https://example.com/restaurants/restaurant_a/order/1234"
                }
            }
            """
        #expect(notification.payload.json == (try JSONValue(parsing: expected.utf8)))
        #expect(notification.payload.bytes == notification.payload.json.serialized())
        #expect(notification.experience.url == "https://example.com/restaurants/restaurant_a")
        #expect(notification.warnings.isEmpty)
        #expect(
            notification.headers.fields.map { "\($0.name): \($0.value)" } == [
                "apns-push-type: alert", "apns-topic: com.example.MyApp.Clip", "apns-priority: 10",
            ])
    }

    @Test(arguments: [
        // The whole canonical invocation URL, with query and fragment.
        (
            "HTTPS://Example.com:443/restaurants/restaurant_a/./order/%31?b=&a=%2f#top",
            "https://example.com/restaurants/restaurant_a/order/1?b&a=%2F#top"
        ),
        ("https://example.com/restaurants/restaurant_a/", "https://example.com/restaurants/restaurant_a"),
    ])
    func targetIsCanonicalInvocationURL(url: String, target: String) throws {
        let notification = try #require(try court.compose(url).composed)
        let aps = notification.payload.json.objectValue?["aps"]?.objectValue
        #expect(aps?["target-content-id"] == .string(target))
    }

    @Test(arguments: [
        "https://example.com", "https://example.com/restaurantsb",
        "http://example.com/restaurants/restaurant_a",
        "https://example.com:8443/restaurants/restaurant_a", "https://192.0.2.1/restaurants/restaurant_a",
        // Only a default, or only a demo experience.
        "https://example.com/default", "https://example.com/demo",
        "https://appclip.apple.com/id?p=com.example.MyApp.Clip",
    ])
    func multiBusinessClipWithoutAdvancedExperienceIsRejected(
        url: String
    ) throws {
        let refusal = try court.compose(url).refusal
        #expect(refusal == .doesNotMatch)
        #expect(refusal?.code == "does_not_match")
    }

    /// Apple requires a target only for clips that serve several businesses. [Apple]
    @Test(arguments: [
        ("https://appclip.apple.com/id?p=com.example.Bikes.Clip&bike=1041", ExperienceKind.default),
        ("https://appclip.apple.com/id?p=com.example.Bikes.Clip", .default),
        ("https://bikes.example.com/demo", .demo),
    ])
    func singleBusinessClipNeedsNoTarget(url: String, kind: ExperienceKind) throws {
        let notification = try #require(try court.compose(url).composed)
        #expect(notification.target == nil)
        #expect(notification.payload.json == ["aps": ["alert": "Ready."]])
        #expect(notification.experience.kind == kind)
        #expect(notification.headers.topic == "com.example.Bikes.Clip")
        #expect(try court.compose("https://bikes.example.com/demo/x").refusal == .doesNotMatch)
    }

    // MARK: Tenants

    @Test func experiencesOfOtherTenantDoNotMatch() throws {
        var court = court
        let other = TenantID(number: 2)
        #expect(try court.compose(of: other).refusal == .doesNotMatch)
        try court.table.set(.tenants, .tenant(other))
        #expect(try court.compose(of: other).refusal == .doesNotMatch)
    }

    @Test func urlMatchesTenantsOwnExperience() throws {
        var court = court
        let other = TenantID(number: 2)
        try court.table.register(
            [
                Experience(
                    url: URLPrefix("https://example.com/restaurants"), kind: .advanced,
                    clip: BundleID("com.example.Other.Clip"))
            ], of: other)
        let notification = try #require(try court.compose(of: other).composed)
        #expect(notification.experience.url == "https://example.com/restaurants")
        #expect(notification.headers.topic == "com.example.Other.Clip")
        let mine = try #require(try court.compose().composed)
        #expect(mine.experience.url == "https://example.com/restaurants/restaurant_a")
        #expect(mine.headers.topic == FoodCourt.clip)
    }

    // MARK: Many businesses

    @Test(arguments: [
        // Without a location: the whole URL without the fragment, because registered URLs have none.
        (
            "/restaurants/restaurant_b/order?x=1#top", "/restaurants",
            "/restaurants/restaurant_b/order?x=1"
        ),
        ("/restaurants", "/restaurants", nil),
        // path:2
        ("/path/x/a/order?x=1", "/path", "/path/x/a"), ("/path/x/%2fa", "/path", "/path/x/%2Fa"),
        ("/path/x?y=1", "/path", "/path/x?y=1"), ("/path/x//a", "/path", "/path/x//a"),
        // query:id
        ("/query/order?x=1&id=a", "/query", "/query?id=a"),
        ("/query/order?id=a&v=1", "/query?v=1", "/query?v=1&id=a"),
        ("/query?x=1", "/query", "/query?x=1"), ("/query?id&x=1", "/query", "/query?id&x=1"),
        ("/query?id=a&id=b", "/query", "/query?id=a"),
        // The rule reads an item of the experience's own URL.
        ("/fixed?id=a&x=1", "/fixed?id=a", nil),
        // hash:h
        ("/hash?x=1&h=3kF", "/hash", "/hash?h=3kF"), ("/hash?x=1", "/hash", "/hash?x=1"),
        // coordinates:lat,lon
        ("/place?lat=1&lon=2&sig=Z29vZA", "/place", nil),
    ])
    func unspecificBusinessIsRejectedWithSuggestedExperience(
        url: String, matched: String, register: String?
    ) throws {
        var court = court
        let url = "https://example.com" + url
        let refusal = try #require(try court.compose(url).refusal)
        guard case .notBusinessSpecific(let experience, let suggested) = refusal else {
            Issue.record("\(refusal)")
            return
        }
        #expect(experience.url == "https://example.com" + matched)
        #expect(suggested?.canonical == register.map { "https://example.com" + $0 })
        #expect(refusal.code == "not_business_specific")

        // The suggested URL can be registered, and solves the problem.
        guard let suggested else { return }
        let binding = LocationBinding.location(try LocationIdentifier("a"))
        try court.table.register(
            [Experience(url: suggested, kind: .advanced, clip: experience.clip, binding: binding)],
            of: court.tenant)
        let matched = try #require(try court.compose(url).composed).experience
        #expect(matched.url == suggested.canonical)
        #expect(matched.binding == binding)
    }

    @Test func multiBusinessFlagComesFromClipRow() throws {
        var court = court
        let url = "https://example.com/restaurants/restaurant_b"
        func code() throws -> String? { try court.compose(url).refusal?.code }
        #expect(try code() == "not_business_specific")
        try court.table.set(.clips, .clip(court.tenant, FoodCourt.clip, isMultiBusiness: false))
        #expect(try code() == nil)
        // Rows of another clip, and of another tenant's clip with the same name, have no effect.
        try court.table.set(.clips, .clip(court.tenant, "com.example.Other.Clip", isMultiBusiness: true))
        try court.open(of: TenantID(number: 2))
        #expect(try code() == nil)
        #expect(try court.compose(url, of: TenantID(number: 2)).refusal?.code == "not_business_specific")
        try court.table.set(.clips, .clip(court.tenant, FoodCourt.clip, isMultiBusiness: true))
        #expect(try code() == "not_business_specific")
        court.table.remove(.clips, of: court.tenant, key: [FoodCourt.clip])
        #expect(try code() == nil)
    }

    @Test func singleBusinessClipNeedsNoSpecificMatch() throws {
        let notification = try #require(try court.compose("https://solo.example.com/any").composed)
        #expect(notification.experience.url == "https://solo.example.com")
        #expect(notification.headers.topic == "com.example.Solo.Clip")
    }
}
