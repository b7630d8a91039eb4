public import Cards
public import Invocation

/// An experience with its card.
public struct ExperienceRecord: Sendable, Hashable {
    public let experience: Experience
    /// The title in the default language. It has priority over ``card``. At most 30 characters [Apple].
    public let title: String?
    /// At most 56 characters [Apple].
    public let subtitle: String?
    /// The experience's own card, without members that it inherits from its location and its clip.
    public var card: Card

    /// - Throws: `AdministrationError.invalidTitle` or `.invalidSubtitle` for an empty or too long text.
    public init(
        _ experience: Experience, title: String? = nil, subtitle: String? = nil, card: Card = Card()
    ) throws(AdministrationError) {
        do throws(CardError) {
            _ = try CardText(title: title, subtitle: subtitle)
        } catch {
            throw error == .invalidTitle ? .invalidTitle : .invalidSubtitle
        }
        self.experience = experience
        self.title = title
        self.subtitle = subtitle
        self.card = card
    }
}
