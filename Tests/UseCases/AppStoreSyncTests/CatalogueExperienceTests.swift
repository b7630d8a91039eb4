import AppStoreSync
import Cards
import Formats
import Geodesy
import Invocation
import Testing

/// The values to register for an experience, from the cards of the clip, the location and the experience.
@Suite struct CatalogueExperienceTests {
    private static func experience(
        text: CardText? = nil, card: Card = Card(), location: Card? = nil, clip: Card = Card(),
        isDomainProved: Bool = true
    ) throws -> CatalogueExperience {
        let center = try Coordinate(latitude: 51.5, longitude: -0.125)
        return CatalogueExperience(
            url: try URLPrefix("https://example.com/a"), text: text, card: card,
            location: location.map {
                CatalogueExperience.Location(identifier: "a", name: "Café A", center: center, card: $0)
            },
            clipCard: clip, isPoweredBy: true, isDomainProved: isDomainProved)
    }

    @Test func nearestCardMemberWins() throws {
        let clip = Card(
            defaultLanguage: .german, action: .open, businessCategory: .foodAndDrink,
            texts: [.german: try CardText(title: "Kette", subtitle: "Bestellen")])
        let location = Card(action: .view, texts: [.german: try CardText(subtitle: "Tische")])
        let desired = try Self.experience(
            text: CardText(title: "Hier"), card: Card(action: .play), location: location, clip: clip
        ).desired(primaryLanguage: .english)
        let card = desired.content.card
        #expect(card.action == .play && card.businessCategory == .foodAndDrink)
        #expect(card.defaultLanguage == .german)
        #expect(card.texts == [.german: try CardText(title: "Hier", subtitle: "Tische")])
        #expect(card.place == nil && desired.content.isPoweredBy && desired.location == "a")
        #expect(desired.obstacles.isEmpty)
    }

    @Test func titleUsesAppsPrimaryLanguageByDefault() throws {
        let desired = try Self.experience(text: CardText(title: "Hello")).desired(primaryLanguage: .french)
        #expect(desired.content.card.defaultLanguage == .french)
        #expect(desired.content.card.texts == [.french: try CardText(title: "Hello")])
    }

    @Test func placeDefaultsToLocationData() throws {
        var place = Place()
        place.relationship = .authorized
        let desired = try Self.experience(location: Card(), clip: Card(place: place)).desired(
            primaryLanguage: .english)
        let found = try #require(desired.content.card.place)
        #expect(found.names == ["Café A"] && found.relationship == .authorized)
        #expect(found.point?.coordinate.latitude == 51.5 && found.point?.source == .calculated)

        place.names = ["Another"]
        let named = try Self.experience(location: Card(place: place)).desired(primaryLanguage: .english)
        #expect(named.content.card.place?.names == ["Another"])
        // An experience without a location inherits nothing from one.
        let free = try Self.experience(clip: Card(place: place)).desired(primaryLanguage: .english)
        #expect(free.content.card.place?.point == nil)
    }

    @Test func sentContentRoundTrips() throws {
        var place = Place()
        place.mapAction = .restaurantReservation
        let content = try Self.experience(
            text: CardText(title: "Zwölf"), location: Card(place: place)
        ).desired(primaryLanguage: .english).content
        let text = JSONValue.object(content.json).serialized()
        #expect(try ExperienceContent(JSONObjectReader(JSONValue(parsing: text))) == content)
    }

    @Test func unprovedDomainIsObstacle() throws {
        let desired = try Self.experience(isDomainProved: false).desired(primaryLanguage: .english)
        #expect(desired.obstacles == [.domainUnproved])
    }
}
