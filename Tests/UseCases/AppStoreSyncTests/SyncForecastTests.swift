import AppStoreSync
import Cards
import Testing

struct SyncForecastTests {
    /// Ten thousand experiences need 10,000 creations, 51 pages, and 3 requests for each image.
    @Test func forecastCountsFirstApplyOfTenThousand() throws {
        let content = try Registrations.content()
        let image = try #require(Registrations.image)
        let plan = try Registrations.plan(
            (0..<10_000).map { try Registrations.desired("d\($0)", content) })
        let shared = SyncForecast(plan, sizes: [image: 1_500_000], listed: 0)
        #expect(shared.requests == 10_054)
        #expect(shared.images == 1)
        #expect(shared.megabytes == 1.5)
        let own = SyncForecast(plan, sizes: [image: 1_500_000], sharesImages: false, listed: 0)
        #expect(own.requests == 40_051)
        #expect(own.images == 10_000)
        #expect(own.megabytes == 15_000)
        #expect(own.hours(requestsPerHour: 40_051) == 1)
        #expect(own.hours(requestsPerHour: 0) == nil)
        let uploaded = SyncForecast(plan, sizes: [:], uploaded: [image], listed: 0)
        #expect(uploaded.requests == 10_051)
        #expect(uploaded.imageBytes == 0)
    }

    @Test func forecastCountsRequestsOfEachStep() throws {
        let content = try Registrations.content()
        let changed = try Registrations.content("New")
        let other = try ImageDigest(String(repeating: "cd", count: 32))
        let plan = try Registrations.plan(
            [
                try Registrations.desired("new", content), try Registrations.desired("texts", changed),
                try Registrations.desired("image", Registrations.content(image: other)),
                try Registrations.desired("adopted", content), try Registrations.desired("same", content),
            ],
            ["texts", "image", "same", "left"].map {
                try Registrations.created($0, content, id: $0)
            },
            ["texts", "image", "same", "left", "adopted"].map {
                Registrations.remote($0, content, id: $0)
            },
            policy: SyncPolicy(primaryLanguage: .english, adopts: true, allowedRemovals: 2))
        let image = try #require(Registrations.image)
        let forecast = SyncForecast(plan, sizes: [other: 2_000_000], uploaded: [image], listed: 5)
        // One creation, two updates, one removal, three requests for an image, and two listings.
        #expect(forecast.requests == 1 + 2 + 1 + 3 + 2)
        #expect(forecast.imageBytes == 2_000_000)
    }
}
