/// The content of an experience's card, and its place in Maps.
///
/// Nil inherits: an experience inherits from its location, and a location from the clip. A value that is
/// nil everywhere is not managed: it stays at Apple as it is.
public struct Card: Sendable, Hashable {
    /// The card's language for people whose own is not among its texts.
    public var defaultLanguage: CardLanguage?
    public var action: CardAction?
    public var businessCategory: BusinessCategory?
    public var image: ImageDigest?
    public var texts: [CardLanguage: CardText]
    public var place: Place?

    public init(
        defaultLanguage: CardLanguage? = nil, action: CardAction? = nil,
        businessCategory: BusinessCategory? = nil, image: ImageDigest? = nil,
        texts: [CardLanguage: CardText] = [:], place: Place? = nil
    ) {
        self.defaultLanguage = defaultLanguage
        self.action = action
        self.businessCategory = businessCategory
        self.image = image
        self.texts = texts
        self.place = place
    }

    /// Bytes of a card as JSON; all that a card in 32 languages has room for in practice. [ours]
    public static let maximumLength = 16_384

    /// Whether all members are nil.
    public var isEmpty: Bool { self == Card() }

    /// Returns the card with the other card's values where its own are nil: texts and place member by
    /// member.
    public func inheriting(_ other: Card) -> Card {
        Card(
            defaultLanguage: defaultLanguage ?? other.defaultLanguage, action: action ?? other.action,
            businessCategory: businessCategory ?? other.businessCategory, image: image ?? other.image,
            texts: texts.merging(other.texts) { $0.inheriting($1) },
            place: place.map { place in other.place.map(place.inheriting) ?? place } ?? other.place)
    }
}
