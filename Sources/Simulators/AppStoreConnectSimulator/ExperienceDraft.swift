import Formats
import Foundation

/// The state of an experience after a request, with the data for judging it.
struct ExperienceDraft: Sendable {
    /// Nil for a new experience.
    let old: SimulatedExperience?
    let clipID: String
    let link: String
    private(set) var attributes: JSONObject
    private(set) var imageID: String
    private(set) var texts: [SimulatedLocalization]
    /// The identifiers that refer to new localizations.
    private(set) var localIDs: [String] = []
    /// Identifiers that are only in the linkage or only in `included`.
    private(set) var danglingIDs: [String] = []

    init(_ body: RequestBody, changing old: SimulatedExperience?, _ account: inout SimulatedAccount) {
        self.old = old
        clipID = body.id("appClip") ?? old?.clipID ?? ""
        link = old?.link ?? body.attributes["link"]?.stringValue ?? ""
        imageID = body.id("headerImage") ?? old?.imageID ?? ""
        attributes = old?.attributes ?? [:]
        for (key, value) in body.attributes where !["link", "removed"].contains(key) {
            // Apple does not document the effect of null on a required attribute. Here it has no effect.
            if value != .null {
                attributes[key] = value
            } else if !["defaultLanguage", "isPoweredBy"].contains(key) {
                attributes[key] = nil
            }
        }
        texts = old.map(account.texts) ?? []
        take(body, &account)
    }

    private mutating func take(_ body: RequestBody, _ account: inout SimulatedAccount) {
        var included: [String: JSONObject] = [:]
        for element in body.included {
            if let id = element.id, included.updateValue(element.attributes, forKey: id) == nil { continue }
            danglingIDs.append(element.id ?? "")
        }
        guard let linked = body.relationships["localizations"] ?? nil else {
            danglingIDs += included.keys
            return
        }
        let before = Dictionary(texts.map { ($0.id, $0) }) { first, _ in first }
        var after: [SimulatedLocalization] = []
        for id in linked {
            let written = included.removeValue(forKey: id)
            if var text = before[id] {
                for (key, value) in written ?? [:] { text.attributes[key] = value == .null ? nil : value }
                after.append(text)
            } else if let written {
                localIDs.append(id)
                let given = written.reduce(into: JSONObject()) {
                    $0[$1.key] = $1.value == .null ? nil : $1.value
                }
                after.append(SimulatedLocalization(id: account.newID(), attributes: given))
            } else {
                danglingIDs.append(id)
            }
        }
        danglingIDs += included.keys
        if !account.knobs.omittedLocalizationsGo {
            let languages = Set(after.compactMap(\.language))
            let ids = Set(after.map(\.id))
            after += texts.filter { !ids.contains($0.id) && !languages.contains($0.language ?? "") }
        }
        texts = after
    }

    var languages: [String] { texts.compactMap(\.language) }

    var place: JSONObject? { attributes["place"]?.objectValue }

    /// Stores the experience.
    /// - Returns: The identifier of the experience.
    func store(in account: inout SimulatedAccount, at now: Date) -> String {
        var experience =
            old
            ?? SimulatedExperience(
                id: account.newID(), clipID: clipID, link: link, attributes: [:], localizationIDs: [],
                imageID: imageID, made: now, placed: now)
        if experience.attributes["place"] != attributes["place"] { experience.placed = now }
        experience.attributes = attributes
        experience.imageID = imageID
        experience.localizationIDs = texts.map(\.id)
        account.store(experience, texts)
        return experience.id
    }
}

extension RequestBody {
    /// The resource of a to-one relationship.
    fileprivate func id(_ relationship: String) -> String? {
        (relationships[relationship] ?? nil)?.first
    }
}
