public import Cards
public import Invocation
import Tenancy

/// The texts, image and links that a page shows for a URL's destination; nil if not configured.
public struct Presentation: Sendable, Hashable {
    /// The language of title and subtitle, if the cards have any.
    public var language: CardLanguage?
    public var title: String?
    public var subtitle: String?
    public var image: ImageDigest?
    public var appStoreID: String?
    public var androidURL: String?
    /// The site's own name.
    public var siteName: String?
}

extension TenantTable {
    /// The card to show for an experience: its own values, otherwise the location's, otherwise the clip's.
    ///
    /// All texts are in one language, the same for every visitor: the default language. If no card has texts in the default
    /// language, English is used, otherwise the first language that the cards have. [ours]
    public func presentation(of experience: IndexedExperience, at location: Location?) -> Presentation {
        guard let index else { return Presentation() }
        let table = snapshot.table
        let name = LookupIndex.ClipName(tenant: index, bundleID: experience.clip.text)
        let clip = table.clipIndices[name].map { table.clips[Int($0)] }
        var presentation = Presentation()
        presentation.appStoreID = clip?.links?.appStoreID
        presentation.androidURL = clip?.links?.androidURL
        presentation.siteName = clip?.links?.siteName
        var cards = [table.card(experience.kind.cardNamespace, index, experience.url.utf8.span)]
        if let identifier = location?.registeredIdentifier {
            cards.append(table.card(.locationCard, index, identifier.text.utf8.span))
        }
        if let clip { cards.append(clip.card) }
        cards.removeAll(where: \.isEmpty)
        presentation.show(cards)
        return presentation
    }

    /// Returns the target URL of the short code in a URL if an experience matches the target. Nil if the URL has no code, or if the
    /// target contains a code again.
    public func target(ofCodeIn url: InvocationURL) -> InvocationURL? {
        guard let match = match(url),
            case .shortCode(let code) = match.experience.readIdentifier(in: url, by: match),
            let stored = self.url(ofShortCode: code)
        else { return nil }
        return switch lookUp(stored: stored) {
        case .doesNotMatch, .shortCodeAgain: nil
        case .found, .noIdentifier, .unknownIdentifier: stored
        }
    }
}

extension Presentation {
    /// - Parameter cards: The cards in order of precedence, the highest first.
    fileprivate mutating func show(_ cards: [PackedCard]) {
        guard !cards.isEmpty else { return }
        image = cards.lazy.compactMap(\.image).first
        language = Self.language(of: cards)
        for card in cards {
            card.forEachText { language, title, subtitle in
                guard language == nil || language == self.language else { return true }
                self.title = self.title ?? PackedCard.text(title)
                self.subtitle = self.subtitle ?? PackedCard.text(subtitle)
                return language == nil
            }
        }
    }

    private static func language(of cards: [PackedCard]) -> CardLanguage? {
        let said = cards.lazy.compactMap(\.defaultLanguage).first
        var first: CardLanguage?
        var (hasSaid, hasEnglish) = (false, false)
        for card in cards {
            card.forEachText { language, _, _ in
                // Texts without a language are in the default language that the card declares.
                guard let language, language != said else {
                    hasSaid = hasSaid || said != nil
                    return true
                }
                if language == .english { hasEnglish = true }
                first = min(first ?? language, language)
                return true
            }
        }
        return hasSaid ? said : hasEnglish ? .english : first
    }
}
