/// The texts of a card in one language; nil inherits.
///
/// Lengths count Unicode scalars, as PostgreSQL's `char_length` does. Apple does not document how it
/// counts.
public struct CardText: Sendable, Hashable {
    /// Source: App Store Connect Help, "App Clip information". [Apple]
    public static let maximumTitleLength = 30
    /// Source: App Store Connect Help, "App Clip information". [Apple]
    public static let maximumSubtitleLength = 56

    public let title: String?
    public let subtitle: String?

    /// - Throws: `.invalidTitle` or `.invalidSubtitle` for an empty or too long text, or one with a control character.
    public init(title: String? = nil, subtitle: String? = nil) throws(CardError) {
        guard title?.isText(ofAtMost: Self.maximumTitleLength) != false else { throw .invalidTitle }
        guard subtitle?.isText(ofAtMost: Self.maximumSubtitleLength) != false else { throw .invalidSubtitle }
        self.init(checkedTitle: title, subtitle: subtitle)
    }

    /// Both texts are nil.
    static let none = CardText(checkedTitle: nil, subtitle: nil)

    private init(checkedTitle title: String?, subtitle: String?) {
        self.title = title
        self.subtitle = subtitle
    }

    /// Returns the texts with the other's values where its own are nil.
    public func inheriting(_ other: CardText) -> CardText {
        CardText(checkedTitle: title ?? other.title, subtitle: subtitle ?? other.subtitle)
    }
}

extension String {
    /// Whether the text has from 1 to `limit` Unicode scalars, none of them a control character.
    func isText(ofAtMost limit: Int) -> Bool {
        let scalars = unicodeScalars
        return !scalars.isEmpty && scalars.prefix(limit + 1).count <= limit
            && scalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}
