/// The reason why a card is invalid.
public enum CardError: Error, Sendable, Hashable, CustomStringConvertible {
    case invalidTitle
    case invalidSubtitle
    case malformedLanguageTag
    case unsupportedLanguage
    /// Two of ours are one of Apple's.
    case sameLanguage(CardLanguage)
    case invalidImageDigest
    case invalidHomePage
    case invalidCountryCode
    /// A text, or a list of texts, of a place is empty, too long, or contains control characters; `member`
    /// is Apple's name for it.
    case invalidPlaceText(member: String)

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .invalidTitle: "invalid_title"
        case .invalidSubtitle: "invalid_subtitle"
        case .malformedLanguageTag: "malformed_language_tag"
        case .unsupportedLanguage: "unsupported_language"
        case .sameLanguage: "same_language"
        case .invalidImageDigest: "invalid_image_digest"
        case .invalidHomePage: "invalid_home_page"
        case .invalidCountryCode: "invalid_country_code"
        case .invalidPlaceText: "invalid_place_text"
        }
    }

    public var description: String {
        switch self {
        case .invalidTitle:
            "a title is 1 to \(CardText.maximumTitleLength) characters, none of them a control character"
        case .invalidSubtitle:
            "a subtitle is 1 to \(CardText.maximumSubtitleLength) characters, none of them a control character"
        case .malformedLanguageTag: "a language is named by a tag of BCP 47, such as en or zh-Hant"
        case .unsupportedLanguage: "the language is not one of the 32 that Apple's cards support"
        case .sameLanguage(let language):
            "two languages mean the same one of Apple's, \(language.rawValue), which has no regions or scripts"
        case .invalidImageDigest: "an image is named by its SHA-256 as 64 hexadecimal digits"
        case .invalidHomePage:
            "a home page is an http or https URL of at most \(Place.maximumURLLength) bytes"
        case .invalidCountryCode: "a country code is two capital letters (ISO 3166-1)"
        case .invalidPlaceText(let member):
            "\(member) is 1 to \(Place.maximumTextLength) characters, none a control character; lists have 1 to \(Place.maximumListLength)"
        }
    }
}
