import Invocation
public import JSON
import Tenancy

extension ExperienceRecord: WrittenItem {
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
    public static var defaults: JSONObject { ["kind": .string(ExperienceKind.advanced.rawValue)] }
    public static var omitted: Set<String> { ["card"] }
    public static let filters: [String: @Sendable (String) -> String?] = [
        "kind": { ExperienceKind(rawValue: $0)?.rawValue }, "url": { try? URLPrefix($0).canonical },
        "clip": { try? BundleID($0).text }, "location": { try? LocationIdentifier($0).text },
    ]
    public var key: ExperienceID { ExperienceID(experience.kind, experience.url) }

    /// Without the ID, which kind and URL make.
    public var patchable: JSONObject {
        var members = json
        members["id"] = nil
        return members
    }

    /// What there is not, is null; a card that says nothing is left out.
    public var json: JSONObject {
        var json: JSONObject = [
            "id": .string(key.text), "url": .string(experience.url.canonical),
            "kind": .string(experience.kind.rawValue),
            "clip": .string(experience.clip.text), "location": .null, "identifierRule": .null,
            "title": title.map(JSONValue.string) ?? .null,
            "subtitle": subtitle.map(JSONValue.string) ?? .null,
        ]
        switch experience.binding {
        case .unbound: break
        case .location(let identifier): json["location"] = .string(identifier.text)
        case .rule(let rule): json["identifierRule"] = .string(rule.description)
        }
        card.add(to: &json)
        return json
    }

    public init(_ fields: inout JSONObjectReader) throws {
        let (clip, url) = (try fields.requiredString("clip"), try fields.requiredString("url"))
        let kind = try fields.requiredCase("kind", of: ExperienceKind.self)
        let (location, rule) = (
            try fields.optionalString("location"), try fields.optionalString("identifierRule")
        )
        // With both, the first one is refused; the rule alone is named as it is here.
        let binding: LocationBinding =
            if let rule, location == nil {
                .rule(
                    try RowRefusal.naming("identifierRule") { () throws(ExperienceError) in
                        try IdentifierRule(rule)
                    })
            } else {
                try LocationBinding(location: location, rule: rule)
            }
        let bundleID = try RowRefusal.naming("clip") { () throws(TenancyError) in try BundleID(clip) }
        let prefix = try RowRefusal.naming("url") { () throws(URLPrefixError) in try URLPrefix(url) }
        let experience = try RowRefusal.naming("url") { () throws(ExperienceError) in
            try Experience(url: prefix, kind: kind, clip: bundleID, binding: binding)
        }
        let (title, subtitle) = (try fields.optionalString("title"), try fields.optionalString("subtitle"))
        let card = try fields.card()
        self = try RowRefusal.naming({ $0 == .invalidTitle ? "title" : "subtitle" }) {
            () throws(AdministrationError) in
            try ExperienceRecord(experience, title: title, subtitle: subtitle, card: card)
        }
        guard try fields.optionalString("id").map({ $0 == key.text }) != false else {
            throw RowRefusal("id", "not what kind and URL make")
        }
    }
}
