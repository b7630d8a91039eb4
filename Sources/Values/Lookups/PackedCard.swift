import Cards
import Formats

/// The texts and the image of a card that pages show. Packed bytes let an index hold many cards, and a page needs no JSON parser.
///
/// Format: a byte for the default language, a byte for whether there is an image, the image's SHA-256, and an entry for each
/// language with texts. An entry is the language (0 for the default one), the lengths of title and subtitle, title and subtitle. A
/// card without texts and image has no bytes.
struct PackedCard: Sendable, Hashable {
    let bytes: [UInt8]

    static let none = PackedCard(bytes: [])

    /// The number of a language is its index plus 1.
    private static let languages = CardLanguage.allCases
    private static let headLength = 2
    private static let digestLength = 32

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// - Parameter text: Texts in the default language, which take precedence over the card's.
    init(_ card: Card, _ text: CardText? = nil) {
        guard card.defaultLanguage != nil || card.image != nil || !card.texts.isEmpty || text != nil else {
            self = .none
            return
        }
        var bytes = [Self.number(of: card.defaultLanguage), card.image == nil ? 0 : 1]
        bytes += card.image?.bytes ?? []
        func add(_ language: CardLanguage?, _ text: CardText) {
            let (title, subtitle) = (Array((text.title ?? "").utf8), Array((text.subtitle ?? "").utf8))
            // The length fits into a byte: a title has at most 30 characters and a subtitle at most 56, of up to four bytes each.
            bytes +=
                [Self.number(of: language), UInt8(title.count), UInt8(subtitle.count)] + title + subtitle
        }
        if let text { add(nil, text) }
        for (language, text) in card.texts.sorted(by: { $0.key < $1.key }) { add(language, text) }
        self.bytes = bytes
    }

    var isEmpty: Bool { bytes.isEmpty }

    var defaultLanguage: CardLanguage? { bytes.first.flatMap(Self.language) }

    var image: ImageDigest? {
        guard hasImage else { return nil }
        return ImageDigest(digest: bytes[Self.headLength..<Self.headLength + Self.digestLength])
    }

    /// Visits the texts of each language until the closure returns false. A missing text is empty. The language is nil for the
    /// default one.
    func forEachText(
        _ body: (CardLanguage?, _ title: ArraySlice<UInt8>, _ subtitle: ArraySlice<UInt8>) -> Bool
    ) {
        var position = Self.headLength + (hasImage ? Self.digestLength : 0)
        while position < bytes.count {
            let title = position + 3..<position + 3 + Int(bytes[position + 1])
            let subtitle = title.upperBound..<title.upperBound + Int(bytes[position + 2])
            guard body(Self.language(bytes[position]), bytes[title], bytes[subtitle]) else { return }
            position = subtitle.upperBound
        }
    }

    /// The JSON of the column, without the members that pages do not show; nil if no member is left.
    var json: [UInt8]? {
        var card = Card(defaultLanguage: defaultLanguage)
        forEachText { language, title, subtitle in
            if let language {
                card.texts[language] = try? CardText(title: Self.text(title), subtitle: Self.text(subtitle))
            }
            return true
        }
        return card.isEmpty ? nil : JSONValue.object(card.json).serialized()
    }

    /// The texts in the default language that are stored beside the card.
    var text: (title: [UInt8]?, subtitle: [UInt8]?) {
        var text: (title: [UInt8]?, subtitle: [UInt8]?)
        forEachText { language, title, subtitle in
            guard language == nil else { return true }
            if !title.isEmpty { text.title = Array(title) }
            if !subtitle.isEmpty { text.subtitle = Array(subtitle) }
            return false
        }
        return text
    }

    /// The text in the column.
    var imageText: [UInt8]? { image.map { Array($0.description.utf8) } }

    private var hasImage: Bool { bytes.count > 1 && bytes[1] != 0 }

    /// Nil for empty bytes.
    static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    private static func number(of language: CardLanguage?) -> UInt8 {
        guard let language, let index = languages.firstIndex(of: language) else { return 0 }
        return UInt8(index + 1)
    }

    private static func language(_ number: UInt8) -> CardLanguage? {
        number > 0 && Int(number) <= languages.count ? languages[Int(number) - 1] : nil
    }
}

extension IndexRow {
    /// Returns the part of a card that pages show. An unreadable card counts as empty, so that a location
    /// whose card a later version wrote is still found.
    ///
    /// - Parameter said: Texts in the default language, which take precedence over the card's.
    func card(
        _ card: some IndexColumn, _ image: some IndexColumn, beside said: CardText? = nil
    ) -> PackedCard {
        let (json, digest) = (text(card), text(image))
        guard json != nil || digest != nil || said != nil else { return .none }
        var read = Card()
        if let json, let value = try? JSONValue(parsing: json.utf8), let members = value.objectValue,
            let card = try? Card(JSONObjectReader(members))
        {
            read = card
        }
        read.image = digest.flatMap { try? ImageDigest($0) }
        return PackedCard(read, said)
    }

    /// The experience's own texts in the default language.
    var experienceText: CardText? {
        let (title, subtitle) = (text(ExperienceColumn.title), text(ExperienceColumn.subtitle))
        return title == nil && subtitle == nil ? nil : try? CardText(title: title, subtitle: subtitle)
    }
}
