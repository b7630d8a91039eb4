import Cards
import JSON
import Registration

/// An experience as a document of App Store Connect has it, with what the document includes.
struct ListedExperience {
    let remote: RemoteExperience
    let localizationIDs: [CardLanguage: String]
    let imageID: String?

    /// The resources of a document's `included`, by type and identifier.
    struct Included {
        private var attributes: [String: JSONObject] = [:]

        init(_ document: JSONObject) {
            for value in document["included"]?.arrayValue ?? [] {
                guard let members = value.objectValue, let type = members["type"]?.stringValue,
                    let id = members["id"]?.stringValue
                else { continue }
                attributes["\(type) \(id)"] = members["attributes"]?.objectValue ?? [:]
            }
        }

        subscript(type: String, id: String) -> JSONObject? { attributes["\(type) \(id)"] }
    }

    /// Nil where something is missing, or is a status or action that is not known: what is half read would be taken for a change.
    ///
    /// What cannot be a card here (a longer title, another member of a place) is left out: it is not ours, and what is desired
    /// instead shows as a change.
    /// - Parameter images: the digests of images that are on record, by their identifiers.
    init?(_ resource: JSONValue, _ included: Included, images: [String: ImageDigest]) {
        guard let members = resource.objectValue, let id = members["id"]?.stringValue,
            let attributes = members["attributes"]?.objectValue,
            let link = attributes["link"]?.stringValue,
            let status = attributes["status"]?.stringValue.flatMap(RemoteExperience.Status.init),
            let relationships = members["relationships"]?.objectValue,
            let texts = Self.identifiers(relationships["localizations"])
        else { return nil }
        imageID = Self.identifiers(relationships["headerImage"])?.first
        var card = Card()
        card.image = imageID.flatMap { images[$0] }
        var localizationIDs: [CardLanguage: String] = [:]
        for textID in texts {
            guard let text = included["appClipAdvancedExperienceLocalizations", textID],
                let language = text["language"]?.stringValue.flatMap(CardLanguage.init(rawValue:))
            else { return nil }
            localizationIDs[language] = textID
            let title = (try? CardText(title: text["title"]?.stringValue))?.title
            let subtitle = (try? CardText(subtitle: text["subtitle"]?.stringValue))?.subtitle
            card.texts[language] = try? CardText(title: title, subtitle: subtitle)
        }
        self.localizationIDs = localizationIDs
        card.defaultLanguage = attributes["defaultLanguage"]?.stringValue.flatMap(
            CardLanguage.init(rawValue:))
        card.action = attributes["action"]?.stringValue.flatMap(CardAction.init)
        card.businessCategory = attributes["businessCategory"]?.stringValue.flatMap(BusinessCategory.init)
        card.place = attributes["place"]?.objectValue.flatMap(Self.place)
        remote = RemoteExperience(
            id: id, link: link,
            ExperienceContent(card, isPoweredBy: attributes["isPoweredBy"]?.boolValue ?? false),
            status: status,
            placeStatus: attributes["placeStatus"]?.stringValue.flatMap(RemoteExperience.PlaceStatus.init))
    }

    /// Member by member, so that one that cannot be read does not take the others away.
    private static func place(_ json: JSONObject) -> Place? {
        var place: Place?
        for (key, value) in json {
            guard let part = try? Place(JSONObjectReader([key: value] as JSONObject)) else { continue }
            place = place.map(part.inheriting) ?? part
        }
        return place
    }

    /// Those of a linkage, of one or of many; nil where there is none, or not all of it.
    private static func identifiers(_ relationship: JSONValue?) -> [String]? {
        let members = relationship?.objectValue
        guard let data = members?["data"] else { return nil }
        let values = data.arrayValue ?? (data == .null ? [] : [data])
        let ids = values.compactMap { $0.objectValue?["id"]?.stringValue }
        let total = members?["meta"]?.objectValue?["paging"]?.objectValue?["total"]?.numberValue?.int
        return ids.count == values.count && total.map { $0 == ids.count } != false ? ids : nil
    }
}
