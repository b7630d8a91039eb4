/// A language of a card: Apple has 32, without regions or scripts.
///
/// Source: App Store Connect API 4.4.1, `AppClipAdvancedExperienceLanguage`. [Apple]
public enum CardLanguage: String, Sendable, Hashable, CaseIterable, Comparable {
    case arabic = "AR"
    case catalan = "CA"
    case czech = "CS"
    case danish = "DA"
    case german = "DE"
    case greek = "EL"
    case english = "EN"
    case spanish = "ES"
    case finnish = "FI"
    case french = "FR"
    case hebrew = "HE"
    case hindi = "HI"
    case croatian = "HR"
    case hungarian = "HU"
    case indonesian = "ID"
    case italian = "IT"
    case japanese = "JA"
    case korean = "KO"
    case malay = "MS"
    case dutch = "NL"
    case norwegian = "NO"
    case polish = "PL"
    case portuguese = "PT"
    case romanian = "RO"
    case russian = "RU"
    case slovak = "SK"
    case swedish = "SV"
    case thai = "TH"
    case turkish = "TR"
    case ukrainian = "UK"
    case vietnamese = "VI"
    case chinese = "ZH"

    public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

    /// Returns the language for a BCP 47 tag: its first subtag counts, in either case.
    ///
    /// `zh-Hans` and `zh-Hant` are both ``chinese``, `pt-BR` and `pt-PT` both ``portuguese``; `nb` and `nn`
    /// are ``norwegian``; `uk` is Ukrainian. The codes that IANA's registry has retired, `iw` and `in`, are
    /// read as `he` and `id`. The mapping to Apple's languages is [ours].
    ///
    /// - Throws: `.malformedLanguageTag` for an invalid tag (`pt_BR`), `.unsupportedLanguage` for a
    ///   language that Apple does not support.
    public init(tag: String) throws(CardError) {
        let subtags = tag.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard tag.utf8.count <= Self.maximumTagLength, let first = subtags.first,
            (2...8).contains(first.count), first.allSatisfy({ Self.isLetter($0) }),
            subtags.allSatisfy({ (1...8).contains($0.count) && $0.allSatisfy(Self.isAlphanumeric) })
        else { throw .malformedLanguageTag }
        let code = String(decoding: first, as: UTF8.self).uppercased()
        guard let language = Self(rawValue: Self.otherCodes[code] ?? code) else {
            throw .unsupportedLanguage
        }
        self = language
    }

    /// Returns the languages of tags, all of which must differ: Apple has one text where BCP 47 has
    /// `zh-Hans` and `zh-Hant`.
    ///
    /// - Throws: As ``init(tag:)`` does, and `.sameLanguage` for the first two tags of one language.
    public static func languages(ofTags tags: [String]) throws(CardError) -> [Self] {
        var languages: [Self] = []
        for tag in tags.prefix(allCases.count + 1) {
            let language = try Self(tag: tag)
            guard !languages.contains(language) else { throw .sameLanguage(language) }
            languages.append(language)
        }
        return languages
    }

    /// Enough for every tag of a language that Apple has. [ours]
    private static let maximumTagLength = 64

    private static let otherCodes = ["NB": "NO", "NN": "NO", "IW": "HE", "IN": "ID"]

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
