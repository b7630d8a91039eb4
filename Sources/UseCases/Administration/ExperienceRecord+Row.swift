import Cards
public import Invocation
import Tenancy

extension ExperienceRecord: ImportableRow {
    /// `clip` is a bundle ID. Read where they are there: `kind` (empty means `advanced`), `location` or
    /// `identifier_rule`, `title`, `subtitle`, and the card's.
    public static let requiredColumns = ["clip", "url"]
    public static let optionalColumns = ["kind", "location", "identifier_rule", "title", "subtitle"]
    public static let namingColumn = "url"

    public static func read(_ fields: CSVFields) throws(RowRefusal) -> ExperienceRecord {
        let clip = try RowRefusal.naming("clip") { () throws(TenancyError) in try BundleID(fields["clip"]) }
        let url = try RowRefusal.naming("url") { () throws(URLPrefixError) in try URLPrefix(fields["url"]) }
        let kindText = fields["kind"].isEmpty ? ExperienceKind.advanced.rawValue : fields["kind"]
        guard let kind = ExperienceKind(rawValue: kindText) else {
            throw RowRefusal("kind", "not one of advanced, default, demo")
        }
        let binding = try LocationBinding(
            location: fields["location"].nonEmpty, rule: fields["identifier_rule"].nonEmpty)
        let experience = try RowRefusal.naming("url") { () throws(ExperienceError) in
            try Experience(url: url, kind: kind, clip: clip, binding: binding)
        }
        let card = try fields.card()
        return try RowRefusal.naming({ $0 == .invalidTitle ? "title" : "subtitle" }) {
            () throws(AdministrationError) in
            try ExperienceRecord(
                experience, title: fields["title"].nonEmpty, subtitle: fields["subtitle"].nonEmpty, card: card
            )
        }
    }

    public static func cleared(by header: CSVHeader) -> ClearedFields {
        var cleared = ClearedFields()
        for (column, _) in header.others {
            switch column {
            case "location", "title", "subtitle": cleared.members.append(column)
            case "identifier_rule": cleared.members.append("identifierRule")
            case _ where column.isOfCard: cleared.card.append(Card.path(ofColumn: column))
            default: break
            }
        }
        return cleared
    }
}

extension ExperienceRecord {
    /// The columns that an export begins with; those of cards follow.
    static let columns = ["clip", "url", "kind", "location", "identifier_rule", "title", "subtitle"]

    /// The values of ``columns``; what there is none of is empty.
    var fields: [String] {
        var (location, rule) = ("", "")
        switch experience.binding {
        case .unbound: break
        case .location(let identifier): location = identifier.text
        case .rule(let identifierRule): rule = identifierRule.description
        }
        return [
            experience.clip.text, experience.url.canonical, experience.kind.rawValue, location, rule,
            title ?? "", subtitle ?? "",
        ]
    }

    /// What stands in the columns after ``columns``, by their names: the card.
    public var furtherFields: [String: String] { card.furtherFields }
}

extension LocationBinding {
    /// Reads the two columns, or options, of which one at most is given.
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

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
