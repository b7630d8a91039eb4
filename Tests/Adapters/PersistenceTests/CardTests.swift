import Administration
import Cards
import Formats
import Geodesy
import Invocation
import Lookups
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

/// Cards of clips, locations and experiences, stored and imported.
@Suite struct CardTests {
    private static let digest = String(repeating: "0", count: 62) + "a1"

    private static func card(_ title: String = "Café", image: String? = nil) throws -> Card {
        var place = Place()
        place.names = ["Café", "[Kaffee]"]
        place.point = Place.DisplayPoint(try Coordinate(latitude: -1.5e-7, longitude: 180 / 7))
        return Card(
            defaultLanguage: .english, action: .open, businessCategory: .foodAndDrink,
            image: try image.map { try ImageDigest($0) },
            texts: [.english: try CardText(title: title), .japanese: try CardText(subtitle: "営業中")],
            place: place)
    }

    private static func addImage(_ stores: Stores, _ tenant: TenantID) async throws {
        try await stores.administer(
            tenant,
            """
            INSERT INTO doorstep.card_images (tenant_id, sha256, media_type, byte_count)
            VALUES ('\(tenant)', '\(digest)', 'image/png', 1)
            """)
    }

    private static func experience(_ card: Card, title: String? = nil) throws -> ExperienceRecord {
        try ExperienceRecord(
            Experience(
                url: URLPrefix("https://example.com/a"), kind: .advanced,
                clip: BundleID("com.example.MyApp.Clip"), binding: .unbound), title: title, card: card)
    }

    @Test func cardIsStoredForEveryKindOfItem() async throws {
        try await Stores.withTenant { stores, tenant in
            try await Self.addImage(stores, tenant)
            let items = stores.administration.items
            let card = try Self.card(image: Self.digest)
            let clip = try Clip(
                bundleID: BundleID("com.example.MyApp.Clip"), teamID: TeamID("ABCDE12345"),
                isMultiBusiness: true,
                links: ClipLinks(
                    appStoreID: "1234567890", androidURL: "https://play.google.com/store?id=a",
                    siteName: DisplayName("Example")), card: card)
            let location = try LocationRecord.sample("a", card: card)
            let experience = try Self.experience(Card(image: try ImageDigest(Self.digest)))
            try await TenantItems(items.clips, of: tenant, by: "t").create(clip)
            try await TenantItems(items.locations, of: tenant, by: "t").create(location)
            try await TenantItems(items.experiences, of: tenant, by: "t").create(experience)
            #expect(try await items.clips.item(clip.key, of: tenant) == clip)
            #expect(try await items.locations.item(location.key, of: tenant) == location)
            #expect(try await items.experiences.item(experience.key, of: tenant) == experience)

            // The card is removed again.
            let plain = try Clip(
                bundleID: clip.bundleID, teamID: clip.teamID, isMultiBusiness: true)
            _ = try await items.clips.change(clip.key, of: tenant, by: "t") { _ in plain }
            #expect(try await items.clips.item(clip.key, of: tenant) == plain)
        }
    }

    @Test func cardWithUnknownImageIsRejected() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            try await Self.addImage(stores, other)
            let card = try Self.card(image: Self.digest)
            let refusal = AdministrationError.unknownImage(try ImageDigest(Self.digest))
            await #expect(throws: refusal) {
                try await TenantItems(stores.administration.items.locations, of: tenant, by: "t")
                    .create(LocationRecord.sample("a", card: card))
            }
            try await stores.createClip(of: tenant)
            await #expect(throws: refusal) {
                try await TenantItems(stores.administration.items.experiences, of: tenant, by: "t")
                    .create(Self.experience(card))
            }
            let outcome = try await stores.importLocations(
                [.sample("a"), .sample("b", card: card)], of: tenant)
            guard case .refused(let problems) = outcome else {
                Issue.record("imported: \(outcome)")
                return
            }
            #expect(
                problems.first == [
                    ImportProblem(
                        line: 3, reason: "card.image: the tenant has no image \(Self.digest)", item: "b")
                ])
        }
    }

    /// Landing pages use only the texts and the image of a card. Servers follow changes of these.
    @Test func serversFollowCardChanges() async throws {
        try await Stores.withTenant { stores, tenant in
            try await stores.createClip(of: tenant)
            try await stores.importLocations([.sample("a")], of: tenant)
            try await stores.importExperiences([Self.experience(Card(), title: "Own")], of: tenant)
            let followed = FollowedTable(stores.routerPool)
            func presentations() async throws -> [Presentation] {
                // An index that is loaded now equals an index that followed the changes.
                try await [followed.refreshed(), stores.loadTable()].map { table in
                    let table = table.of(tenant)
                    let url = try InvocationURL(Self.experience(Card()).experience.url.canonical)
                    let experience = try #require(table.match(url)).experience
                    return table.presentation(
                        of: experience, at: table.location(try LocationIdentifier("a")))
                }
            }
            for shown in try await presentations() {
                #expect(shown.title == "Own" && shown.subtitle == nil && shown.language == nil)
            }
            let card = Card(
                defaultLanguage: .german, texts: [.german: try CardText(title: "Ort", subtitle: "Hier")],
                place: try Self.card().place)
            #expect(
                try await stores.importLocations([.sample("a", card: card)], of: tenant) == .done(0, 1, 0))
            let clips = stores.administration.items.clips
            _ = try await clips.change(BundleID("com.example.MyApp.Clip"), of: tenant, by: "t") { clip in
                var clip = try #require(clip)
                clip.links = try ClipLinks(appStoreID: "123", siteName: DisplayName("Site"))
                return clip
            }
            for shown in try await presentations() {
                #expect(shown.title == "Own" && shown.subtitle == "Hier" && shown.language == .german)
                #expect(shown.appStoreID == "123" && shown.siteName == "Site")
            }
        }
    }
}
