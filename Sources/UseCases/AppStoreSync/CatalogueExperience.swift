public import Cards
public import Geodesy
public import Invocation

/// An advanced experience as the catalogue has it, its card not inherited yet.
public struct CatalogueExperience: Sendable {
    public var url: URLPrefix
    /// The card's title and subtitle in its default language, before those of ``card``.
    public var text: CardText?
    public var card: Card
    /// Nil for an experience that is bound to no single location.
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

    /// What is to be registered: each value is the experience's, else its location's, else its clip's.
    ///
    /// Where any of them says something of a place, its name and its point are the location's own unless a card says others. A
    /// place of which nobody says anything is none: Maps is told of no business by accident. [ours]
    /// - Parameter primaryLanguage: the app's, in which a card is whose default language nobody says. [ours]
    public func desired(primaryLanguage: CardLanguage) -> DesiredExperience {
        var card = self.card.inheriting(location?.card ?? Card()).inheriting(clipCard)
        let language = card.defaultLanguage ?? primaryLanguage
        card.defaultLanguage = language
        if let text { card.texts[language] = card.texts[language].map(text.inheriting) ?? text }
        if let location, card.place != nil {
            var own = Place()
            // A name that is too long for Apple's card is no reason to send none of the place.
            if location.name.unicodeScalars.count <= Place.maximumTextLength { own.names = [location.name] }
            own.point = Place.DisplayPoint(location.center)
            card.place = card.place?.inheriting(own)
        }
        return DesiredExperience(
            url, ExperienceContent(card, isPoweredBy: isPoweredBy), location: location?.identifier,
            obstacles: isDomainProved ? [] : [.domainUnproved])
    }
}
