import AppStoreConnect
import AppStoreConnectSimulator
import AppStoreSync
import Cards
import Formats
import Invocation
import StoreSupport
import Testing

/// Listings and changes of plans.
@Suite(.timeLimit(.minutes(30))) struct AppStoreSyncFlowTests {
    @Test(arguments: [true, false])
    func appAndClipAreFoundByBundleID(_ isIndividual: Bool) async throws {
        try await Store.lend(isIndividual: isIndividual) { store in
            let app = try #require(try await store.client.app(bundleID: "com.example.app"))
            #expect(app.id == StoreFixture.appID)
            #expect(app.primaryLocale == "en-US")
            let clip = try await store.client.clipID(bundleID: StoreFixture.clipBundleID, ofApp: app.id)
            #expect(clip == StoreFixture.clipID)
            #expect(try await store.client.clipID(bundleID: "com.example.none", ofApp: app.id) == nil)
            let other = try await store.client.app(bundleID: "com.example.other")
            #expect((other == nil) == isIndividual)
        }
    }

    @Test func fullCardIsReadBack() async throws {
        try await Store.lend { store in
            let image = try await store.image()
            let content = ExperienceContent(try Store.fullCard(image: image.digest), isPoweredBy: true)
            let id = try await store.client.createExperience(
                at: "https://example.com/12", content, clip: StoreFixture.clipID, image: image.id)
            let listing = try await store.client.listing(
                ofClip: StoreFixture.clipID, images: [image.id: image.digest])
            #expect(listing.listing.isComplete)
            let expected = RemoteExperience(
                id: id, link: "https://example.com/12", content, placeStatus: .pending)
            #expect(listing.listing.experiences == [expected])
            #expect(listing.imageIDs == [id: image.id])
            #expect(listing.localizationIDs[id].map { Set($0.keys) } == [.english, .japanese, .french])
            let one = try await store.client.experience(id, images: [image.id: image.digest])
            #expect(one?.listing.experiences == [expected])
            let unknown = try await store.client.experience(id)
            #expect(unknown?.listing.experiences.first?.content.card.image == nil)
            #expect(try await store.client.experience("none") == nil)
        }
    }

    /// Changes of a card by Maps and people must not make a listing unreadable.
    @Test func listingToleratesInvalidCardValues() async throws {
        try await Store.lend { store in
            let image = try await store.image()
            let id = try await store.create(
                "https://example.com/1", Store.fullCard(image: nil), image: image.id)
            var edit = RemoteEdit()
            edit.attributes = [
                "place": [
                    "names": [.string(String(repeating: "x", count: 300))], "homePage": "tel:1",
                    "newMember": 1,
                    "mapAction": "PAY_TO_PARK",
                ]
            ]
            edit.texts = ["EN": ["title": .string(String(repeating: "x", count: 31))]]
            store.simulator.edit(id, edit)
            let listing = try await store.client.listing(ofClip: StoreFixture.clipID).listing
            let card = try #require(listing.experiences.first).content.card
            #expect(card.place?.mapAction == .payToPark)
            #expect(card.place?.names == nil)
            #expect(card.place?.homePage == nil)
            #expect(card.texts[.english]?.title == nil)
            #expect(card.texts[.english]?.subtitle == "Order")
        }
    }

    /// Plans, applies the plan, and plans again.
    private func apply(
        _ desired: [DesiredExperience], _ applied: [AppliedExperience], _ store: Store,
        images: [ImageDigest: String], allowedRemovals: Int = 0
    ) async throws -> (steps: Int, applied: [AppliedExperience]) {
        let digests = Dictionary(images.map { ($0.value, $0.key) }) { first, _ in first }
        let before = try await store.client.listing(ofClip: StoreFixture.clipID, images: digests)
        let plan = try SyncPlan(
            SyncState(desired: desired, applied: applied, listing: before.listing),
            policy: SyncPolicy(primaryLanguage: .english, allowedRemovals: allowedRemovals))
        var rows = Dictionary(applied.map { ($0.url.canonical, $0) }) { first, _ in first }
        var steps = 0
        for row in plan.rows {
            switch row.step {
            case .create(let content):
                let url = try URLPrefix(row.url)
                let image = try #require(content.card.image.flatMap { images[$0] })
                let id = try await store.client.createExperience(
                    at: row.url, content, clip: StoreFixture.clipID, image: image)
                rows[row.url] = AppliedExperience(url, content, .created(id: id))
            case .update(let id, let changes, let content):
                try await store.client.updateExperience(
                    id, changes, to: content, localizations: before.localizationIDs[id] ?? [:],
                    image: content.card.image.flatMap { images[$0] })
                rows[row.url]?.content = content
            case .remove(let id):
                try await store.client.removeExperience(id)
                rows[row.url] = nil
            case .inStep: continue
            case let other:
                Issue.record("\(other)")
                continue
            }
            steps += 1
        }
        return (steps, Array(rows.values))
    }

    @Test func appliedPlanBringsAppleInStepWithCatalogue() async throws {
        try await Store.lend { store in
            var images: [ImageDigest: String] = [:]
            for seed in 0..<2 {
                let image = try await store.image(seed: seed)
                images[image.digest] = image.id
            }
            let digests = images.keys.sorted { $0.description < $1.description }
            var desired = try (0..<6).map { number in
                DesiredExperience(
                    try URLPrefix("https://example.com/\(number)"),
                    ExperienceContent(try Store.fullCard(image: digests[number % 2])))
            }
            var (steps, applied) = try await apply(desired, [], store, images: images)
            #expect(steps == 6)
            (steps, applied) = try await apply(desired, applied, store, images: images)
            #expect(steps == 0)

            // One of each kind of member is changed, and the last experience is no longer desired.
            desired[0].content.card.texts[.japanese] = try CardText(title: "新しい")
            desired[1].content.card.texts[.german] = try CardText(title: "Neu")
            desired[2].content.card.place?.phone = Place.PhoneNumber("112")
            desired[3].content.card.image = digests[0]
            desired[4].content.isPoweredBy = true
            desired[4].content.card.action = .play
            let removed = desired.removeLast()
            let texts = try await store.client.listing(ofClip: StoreFixture.clipID).localizationIDs
            let changes = store.simulator.counters.requests["PATCH /v1/appClipAdvancedExperiences/{id}"] ?? 0
            (steps, applied) = try await apply(desired, applied, store, images: images, allowedRemovals: 1)
            #expect(steps == 6)
            let after = store.simulator.counters.requests["PATCH /v1/appClipAdvancedExperiences/{id}"] ?? 0
            #expect(after - changes == 6)
            // Remaining texts keep their resources, whether changed or not.
            let kept = try await store.client.listing(ofClip: StoreFixture.clipID).localizationIDs
            for (id, languages) in kept {
                #expect(texts[id]?.allSatisfy { languages[$0.key] == $0.value } == true)
            }
            #expect(kept.values.count { $0[.german] != nil } == 1)
            (steps, applied) = try await apply(desired, applied, store, images: images)
            #expect(steps == 0)
            let last = store.simulator.experiences.filter(\.isRemoved)
            #expect(last.map(\.link) == [removed.url.canonical])
            #expect(store.simulator.counters.creations.values.allSatisfy { $0 == 1 })
        }
    }

    @Test(arguments: [false, true])
    func listingReadsAllPages(_ readsOnly: Bool) async throws {
        try await Store.lend { store in
            let image = try await store.image()
            for number in 0..<201 {
                let card = try Store.card("\(number)", image: nil)
                _ = try await store.create("https://example.com/\(number)", card, image: image.id)
            }
            try await Store.client(of: store.simulator.host, readsOnly: readsOnly) { client in
                let listing = try await client.listing(ofClip: StoreFixture.clipID)
                #expect(listing.listing.isComplete)
                #expect(Set(listing.listing.experiences.map(\.link)).count == 201)
                #expect(client.budget?.hourLimit == 3_600)

                let path = "/v1/appClips"
                store.simulator.faults = [Fault(.repeatRow, times: 1, path: path)]
                #expect(try await client.listing(ofClip: StoreFixture.clipID).listing.isComplete)
                store.simulator.faults = [Fault(.omitRow, times: 1, path: path)]
                let gap = try await client.listing(ofClip: StoreFixture.clipID).listing
                #expect(!gap.isComplete)
                #expect(gap.experiences.count == 200)
                #expect(
                    store.simulator.counters.requests["GET /v1/appClips/{id}/appClipAdvancedExperiences"] == 6
                )

                // The service refuses the page size, so there are more pages.
                store.simulator.faults = []
                store.simulator.turn { $0.refusedParameters = ["limit"] }
                let plain = try await client.listing(ofClip: StoreFixture.clipID).listing
                #expect(plain == listing.listing)
                #expect(
                    store.simulator.counters.requests["GET /v1/appClips/{id}/appClipAdvancedExperiences"]
                        == 12)
            }
        }
    }

    @Test func staleCursorLeavesListingIncomplete() async throws {
        try await Store.lend { store in
            let image = try await store.image()
            store.simulator.turn { $0.refusedParameters = ["limit"] }
            for number in 0..<51 {
                let card = try Store.card("\(number)", image: nil)
                _ = try await store.create("https://example.com/\(number)", card, image: image.id)
            }
            var stale = Fault(
                .response(status: 400, code: "PARAMETER_ERROR.INVALID", retryAfter: nil), times: 1)
            // The service refuses the limit of the first request. The second request gets the first page.
            stale.path = "/v1/appClips"
            store.simulator.faults = [
                Fault(.pass, times: 2, path: stale.path), stale,
            ]
            let listing = try await store.client.listing(ofClip: StoreFixture.clipID).listing
            #expect(!listing.isComplete)
            #expect(listing.experiences.count == 50)
        }
    }
}
