public import Formats
public import Invocation
import Tenancy

extension ExperienceRecord: CollectionResource {
    public static let fields: [Field<ExperienceRecord>] = [
        Field(
            "id", .identifier(1...2_727, pattern: "^exp_[A-Za-z0-9_-]+$"), .readOnly,
            "Follows from kind and URL.", isStored: false, shown: { .text($0.key.text) }
        ) { _ in nil },
        Field(
            "clip", .identifier(1...155), .required, "The bundle ID of one of the tenant's clips.",
            column: "bundle_id"
        ) { .text($0.experience.clip.text) },
        Field("url", .url, .key, "The registered URL: https, without a port or fragment.") {
            .text($0.experience.url.canonical)
        },
        Field(
            "kind", .choice(ExperienceKind.allCases.map(\.rawValue)), .key, "The kind of experience.",
            default: .string(ExperienceKind.advanced.rawValue)
        ) { .text($0.experience.kind.rawValue) },
        Field(
            "location", .identifier(1...128), .optional,
            "The identifier of the location that the experience is bound to. Excludes `identifierRule`.",
            column: "location_identifier", alternative: "identifierRule", references: LocationRecord.typeName
        ) { FieldValue($0.experience.binding.location?.text) },
        Field(
            "identifierRule", .identifier(1...2_048), .optional,
            """
            The rule that reads the location's identifier from the URL: `path:N`, `query:NAME`, `hash:NAME` or \
            `coordinates:LAT,LON[,RADIUS]`.
            """, column: "identifier_rule", cell: "identifier_rule", alternative: "location"
        ) { FieldValue($0.experience.binding.rule?.description) },
        Field("title", .text(1...30), .optional, "The title on the App Clip card [Apple].") {
            FieldValue($0.title)
        },
        Field("subtitle", .text(1...56), .optional, "The subtitle on the App Clip card [Apple].") {
            FieldValue($0.subtitle)
        },
        Field("card", .card, .optional, "The card of the experience.", isOmitted: true) {
            FieldValue($0.card)
        },
    ]

    public init(_ values: inout some FieldValues) throws {
        let clip = try values.text("clip") { text throws(TenancyError) in try BundleID(text) }
        let url = try values.text("url") { text throws(URLPrefixError) in try URLPrefix(text) }
        let kind = try values.choice("kind", of: ExperienceKind.self)
        let binding = try LocationBinding(&values)
        let experience = try values.naming("url") { () throws(ExperienceError) in
            try Experience(url: url, kind: kind, clip: clip, binding: binding)
        }
        let (title, subtitle) = (try values.optionalText("title"), try values.optionalText("subtitle"))
        let card = try values.card()
        self = try values.naming({ $0 == .invalidTitle ? "title" : "subtitle" }) {
            () throws(AdministrationError) in
            try ExperienceRecord(experience, title: title, subtitle: subtitle, card: card)
        }
        guard try values.optionalText("id").map({ $0 == key.text }) != false else {
            throw RowRefusal("id", "not what kind and URL make")
        }
    }

    public static func key(named text: String) -> ExperienceID? { ExperienceID(text) }
    public static func name(of key: ExperienceID) -> String { key.text }
    public static func members(of key: ExperienceID) -> JSONObject {
        [
            "id": .string(key.text), "kind": .string(key.kind.rawValue), "url": .string(key.url.canonical),
        ]
    }
    public static func unknown(_ key: ExperienceID) -> AdministrationError {
        .unknownExperience(key.kind, key.url)
    }
    public static func existing(_ key: ExperienceID) -> AdministrationError { .experienceExists }
    public static let collection = "experiences"
    public static let noun = "experience"
    public static let example: JSONObject = [
        "clip": "com.example.MyApp.Clip", "url": "https://appclip.example.com/shop/42", "kind": "advanced",
    ]
    public static let fileNotes = """
        Only clip and url are required; location and identifier_rule exclude each other. Columns card.PATH are fields of the card. \
        If the file lacks a column, that field keeps its value; an empty cell clears it.
        """
    public static let filters: [String: @Sendable (String) -> String?] = [
        "kind": { ExperienceKind(rawValue: $0)?.rawValue }, "url": { try? URLPrefix($0).canonical },
        "clip": { try? BundleID($0).text }, "location": { try? LocationIdentifier($0).text },
    ]
    public var key: ExperienceID { ExperienceID(experience.kind, experience.url) }

    /// The values of the card by column. In CSV, these columns follow the columns of the fields.
    public var furtherFields: JSONObject {
        card.furtherFields.reduce(into: [:]) { $0[$1.key] = .string($1.value) }
    }
}

extension LocationBinding {
    package var location: LocationIdentifier? {
        if case .location(let location) = self { location } else { nil }
    }

    package var rule: IdentifierRule? {
        if case .rule(let rule) = self { rule } else { nil }
    }

    fileprivate init(_ values: inout some FieldValues) throws {
        let (location, rule) = (
            try values.optionalText("location"), try values.optionalText("identifierRule")
        )
        if let rule, location == nil {
            self = .rule(
                try values.naming("identifierRule") { () throws(ExperienceError) in try IdentifierRule(rule) }
            )
        } else {
            try self.init(location: location, rule: rule)
        }
    }

    /// Reads a location's identifier or an identifier rule. At most one of them may be given.
    public init(location: String?, rule: String?) throws(RowRefusal) {
        switch (location, rule) {
        case (nil, nil):
            self = .unbound
        case (let location?, nil):
            self = .location(
                try RowRefusal.naming("location") { () throws(ExperienceError) in
                    try LocationIdentifier(location)
                })
        case (nil, let rule?):
            self = .rule(
                try RowRefusal.naming("identifier_rule") { () throws(ExperienceError) in
                    try IdentifierRule(rule)
                })
        case (_?, _?):
            throw RowRefusal("location", "an experience has a location or an identifier rule, not both")
        }
    }
}
