import Invocation
public import JSON
import Tenancy

extension ExperienceRecord {
    /// What there is not, is null.
    public var json: JSONObject {
        var json: JSONObject = [
            "url": .string(experience.url.canonical), "kind": .string(experience.kind.rawValue),
            "clip": .string(experience.clip.text), "location": .null, "identifierRule": .null,
            "title": title.map(JSONValue.string) ?? .null,
            "subtitle": subtitle.map(JSONValue.string) ?? .null,
        ]
        switch experience.binding {
        case .unbound: break
        case .location(let identifier): json["location"] = .string(identifier.text)
        case .rule(let rule): json["identifierRule"] = .string(rule.description)
        }
        return json
    }

    init(_ fields: inout JSONObjectReader) throws {
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
        self = try RowRefusal.naming({ $0 == .invalidTitle ? "title" : "subtitle" }) {
            () throws(AdministrationError) in
            try ExperienceRecord(experience, title: title, subtitle: subtitle)
        }
    }
}
