import AppStoreSync
import Cards
import Formats

/// An experience in a document of App Store Connect, with the included resources.
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

    /// Reads a row. A row with a missing member or an unknown value is `unreadable`, by the first such member: a partly read
    /// row would look like a change.
    ///
    /// Values that a card cannot have (a longer title, another member of a place) are left out: Doorstep did not write them,
    /// and the desired value shows as a change.
    /// - Parameters:
    ///   - position: of the row in its listing, which names a row without an identifier.
    ///   - images: the digests of images that are on record, by their identifiers.
    init(
        _ resource: JSONValue, at position: Int, _ included: Included, images: [String: ImageDigest]
    ) {
        var row = RowReader()
        let members = row.object(resource, "row")
        let id = row.text(members["id"], "id")
        let attributes = row.object(members["attributes"], "attributes")
        let link = row.text(attributes["link"], "link")
        let status = row.known(attributes["status"], "status", as: RemoteExperience.Status.self)
        if status == nil { row.fail(attributes["status"], "status") }
        let placeStatus = row.known(
            attributes["placeStatus"], "placeStatus", as: RemoteExperience.PlaceStatus.self)
        let relationships = members["relationships"]?.objectValue ?? [:]
        imageID = Self.identifiers(relationships["headerImage"])?.first

        var card = Card()
        card.image = imageID.flatMap { images[$0] }
        var localizationIDs: [CardLanguage: String] = [:]
        if let texts = Self.identifiers(relationships["localizations"]) {
            for textID in texts {
                let text = included["appClipAdvancedExperienceLocalizations", textID]
                let name = text?["language"]
                guard let language = row.known(name, "language", as: CardLanguage.self) else {
                    row.fail(name, "language")
                    continue
                }
                localizationIDs[language] = textID
                let title = (try? CardText(title: text?["title"]?.stringValue))?.title
                let subtitle = (try? CardText(subtitle: text?["subtitle"]?.stringValue))?.subtitle
                card.texts[language] = try? CardText(title: title, subtitle: subtitle)
            }
        } else {
            row.fail(relationships["localizations"], "localizations")
        }
        self.localizationIDs = localizationIDs
        card.defaultLanguage = row.known(
            attributes["defaultLanguage"], "defaultLanguage", as: CardLanguage.self)
        card.action = row.known(attributes["action"], "action", as: CardAction.self)
        card.businessCategory = row.known(
            attributes["businessCategory"], "businessCategory", as: BusinessCategory.self)
        card.place = row.place(attributes["place"])
        remote = RemoteExperience(
            id: id ?? "row \(position)", link: link ?? "",
            ExperienceContent(card, isPoweredBy: attributes["isPoweredBy"]?.boolValue ?? false),
            status: status ?? .received, placeStatus: placeStatus, unreadable: row.failure)
    }

    /// The resources of a relationship, to one or to many; nil if there is none, or if a resource is missing.
    private static func identifiers(_ relationship: JSONValue?) -> [String]? {
        let members = relationship?.objectValue
        guard let data = members?["data"] else { return nil }
        let values = data.arrayValue ?? (data == .null ? [] : [data])
        let ids = values.compactMap { $0.objectValue?["id"]?.stringValue }
        let total = members?["meta"]?.objectValue?["paging"]?.objectValue?["total"]?.numberValue?.int
        return ids.count == values.count && total.map { $0 == ids.count } != false ? ids : nil
    }
}

/// Reads the members of a row, and remembers the first that cannot be read.
private struct RowReader {
    private(set) var failure: String?

    /// Maximum length of a value in a message. [ours]
    private static let maximumLength = 100

    mutating func fail(_ value: JSONValue?, _ path: String) {
        guard failure == nil else { return }
        let text = value?.text.prefix(Self.maximumLength)
        failure = text.map { "\(path) \($0)" } ?? "\(path) is missing"
    }

    mutating func object(_ value: JSONValue?, _ path: String) -> JSONObject {
        guard let members = value?.objectValue else {
            fail(value, path)
            return [:]
        }
        return members
    }

    mutating func text(_ value: JSONValue?, _ path: String) -> String? {
        guard let text = value?.stringValue, !text.isEmpty else {
            fail(value, path)
            return nil
        }
        return text
    }

    /// Nil for a value that is missing or null, and for one that is not among the cases, which fails the row.
    mutating func known<Case: RawRepresentable<String>>(
        _ value: JSONValue?, _ path: String, as _: Case.Type
    ) -> Case? {
        guard let value, value != .null else { return nil }
        guard let known = value.stringValue.flatMap(Case.init(rawValue:)) else {
            fail(value, path)
            return nil
        }
        return known
    }

    /// Member by member, so that one that cannot be read does not take the others away.
    mutating func place(_ value: JSONValue?) -> Place? {
        guard let value, value != .null else { return nil }
        let members = object(value, "place")
        _ = known(members["mapAction"], "place.mapAction", as: MapAction.self)
        _ = known(members["relationship"], "place.relationship", as: Place.Relationship.self)
        _ = known(
            members["displayPoint"]?.objectValue?["source"], "place.displayPoint.source",
            as: Place.DisplayPoint.Source.self)
        _ = known(
            members["phoneNumber"]?.objectValue?["type"], "place.phoneNumber.type",
            as: Place.PhoneNumber.PhoneType.self)
        var place: Place?
        for (key, value) in members {
            guard let part = try? Place(JSONObjectReader([key: value] as JSONObject)) else { continue }
            place = place.map(part.inheriting) ?? part
        }
        return place
    }
}
