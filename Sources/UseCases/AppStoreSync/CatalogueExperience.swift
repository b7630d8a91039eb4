public import Cards
public import Geodesy
public import Invocation

/// An advanced experience of the catalogue. Its card inherits no values yet.
public struct CatalogueExperience: Sendable {
    public var url: URLPrefix
    /// The card's title and subtitle in its default language, which take precedence over ``card``.
    public var text: CardText?
    public var card: Card
    /// Nil if the experience is not bound to a single location.
    public var location: Location?
    public var clipCard: Card
    public var isPoweredBy: Bool
    /// Whether the tenant has proved that the URL's host is its own.
    public var isDomainProved: Bool

    public struct Location: Sendable {
        public var identifier: String
        public var name: String
        public var center: Coordinate
        public var card: Card

        public init(identifier: String, name: String, center: Coordinate, card: Card) {
            self.identifier = identifier
            self.name = name
            self.center = center
            self.card = card
        }
    }

    public init(
        url: URLPrefix, text: CardText?, card: Card, location: Location?, clipCard: Card, isPoweredBy: Bool,
        isDomainProved: Bool
    ) {
        self.url = url
        self.text = text
        self.card = card
        self.location = location
        self.clipCard = clipCard
        self.isPoweredBy = isPoweredBy
        self.isDomainProved = isDomainProved
    }

    /// The content to register: each value from the experience, otherwise from its location, otherwise from its clip.
    ///
    /// If any of them has a Maps place, its name and point default to the location's. Without a place in any of them, none is
    /// sent, so that no business appears in Maps by accident. [ours]
    /// - Parameter primaryLanguage: The app's language, used for cards without a default language. [ours]
    public func desired(primaryLanguage: CardLanguage) -> DesiredExperience {
        var card = self.card.inheriting(location?.card ?? Card()).inheriting(clipCard)
        let language = card.defaultLanguage ?? primaryLanguage
        card.defaultLanguage = language
        if let text { card.texts[language] = card.texts[language].map(text.inheriting) ?? text }
        if let location, card.place != nil {
            var own = Place()
            // If the name is too long for Apple's card, the rest of the place is still sent.
            if location.name.unicodeScalars.count <= Place.maximumTextLength { own.names = [location.name] }
            own.point = Place.DisplayPoint(location.center)
            card.place = card.place?.inheriting(own)
        }
        return DesiredExperience(
            url, ExperienceContent(card, isPoweredBy: isPoweredBy), location: location?.identifier,
            obstacles: isDomainProved ? [] : [.domainUnproved])
    }
}
