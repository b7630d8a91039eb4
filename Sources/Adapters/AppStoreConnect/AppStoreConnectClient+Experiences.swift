public import AppStoreSync
public import Cards
import Formats
import NIOHTTP1

extension AppStoreConnectClient {
    /// Creates an experience.
    ///
    /// The caller has recorded the request before: if the error reports `mayHaveHappened`, only a list shows the result.
    /// - Parameters:
    ///   - content: Has a text in its default language; its image is not used.
    ///   - image: the identifier of the image at App Store Connect.
    /// - Returns: its identifier.
    public func createExperience(
        at link: String, _ content: ExperienceContent, clip: String, image: String,
        fence: @escaping Fence = {}
    ) async throws(AppStoreConnectError) -> String {
        var attributes = Self.attributes(content)
        attributes["link"] = .string(link)
        let (linkage, included) = Self.localizations(content.card.texts, [:])
        let body: JSONValue = [
            "data": [
                "type": "appClipAdvancedExperiences", "attributes": .object(attributes),
                "relationships": [
                    "appClip": Self.linkage("appClips", clip),
                    "headerImage": Self.linkage("appClipAdvancedExperienceImages", image),
                    "localizations": ["data": .array(linkage)],
                ],
            ],
            "included": .array(included),
        ]
        let document = try await write(.POST, "/v1/appClipAdvancedExperiences", body, fence)
        guard let id = document["data"]?.objectValue?["id"]?.stringValue else {
            throw .unreadableResponse(status: 201, requestID: nil)
        }
        return id
    }

    /// Writes only what changes. A place and the texts are written as a whole, because Apple replaces them as a whole.
    /// - Parameters:
    ///   - content: The desired content.
    ///   - localizations: The identifiers of the existing texts, which are kept.
    ///   - image: The identifier of the new image at App Store Connect, if the image changes.
    public func updateExperience(
        _ id: String, _ changes: [FieldChange], to content: ExperienceContent,
        localizations: [CardLanguage: String], image: String?, fence: @escaping Fence = {}
    ) async throws(AppStoreConnectError) {
        let members = Set(changes.map { String($0.path.prefix { $0 != "." && $0 != "[" }) })
        var attributes: JSONObject = [:]
        for (key, value) in Self.attributes(content) where members.contains(key) { attributes[key] = value }
        var relationships: JSONObject = [:]
        var included: [JSONValue] = []
        if members.contains("texts") {
            let (linkage, texts) = Self.localizations(content.card.texts, localizations)
            relationships["localizations"] = ["data": .array(linkage)]
            included = texts
        }
        if members.contains("image"), let image {
            relationships["headerImage"] = Self.linkage("appClipAdvancedExperienceImages", image)
        }
        try await change(id, attributes, relationships, included, fence)
    }

    /// Removes an experience with `removed: true`. The attribute in Apple's article would damage another one.
    public func removeExperience(
        _ id: String, fence: @escaping Fence = {}
    ) async throws(AppStoreConnectError) {
        try await change(id, ["removed": true], [:], [], fence)
    }

    private func change(
        _ id: String, _ attributes: JSONObject, _ relationships: JSONObject = [:],
        _ included: [JSONValue] = [], _ fence: @escaping Fence
    ) async throws(AppStoreConnectError) {
        var data: JSONObject = ["type": "appClipAdvancedExperiences", "id": .string(id)]
        if !attributes.isEmpty { data["attributes"] = .object(attributes) }
        if !relationships.isEmpty { data["relationships"] = .object(relationships) }
        var body: JSONObject = ["data": .object(data)]
        if !included.isEmpty { body["included"] = .array(included) }
        _ = try await write(
            .PATCH, "/v1/appClipAdvancedExperiences/\(try Self.checked(id))", .object(body), fence)
    }

    // MARK: Bodies

    /// All but link, image and texts.
    private static func attributes(_ content: ExperienceContent) -> JSONObject {
        let card = content.card
        var attributes: JSONObject = ["isPoweredBy": .bool(content.isPoweredBy)]
        attributes["defaultLanguage"] = card.defaultLanguage.map { .string($0.rawValue) }
        attributes["action"] = card.action.map { .string($0.rawValue) }
        attributes["businessCategory"] = card.businessCategory.map { .string($0.rawValue) }
        attributes["place"] = card.place.map { .object($0.json) }
        return attributes
    }

    private static func linkage(_ type: String, _ id: String) -> JSONValue {
        ["data": ["type": .string(type), "id": .string(id)]]
    }

    /// Texts by the identifiers they have, new ones by local ones: `${…}` is demanded since April 2026. [observed]
    private static func localizations(
        _ texts: [CardLanguage: CardText], _ ids: [CardLanguage: String]
    ) -> (linkage: [JSONValue], included: [JSONValue]) {
        var linkage: [JSONValue] = []
        var included: [JSONValue] = []
        for (language, text) in texts.sorted(by: { $0.key < $1.key }) {
            let identifier: JSONObject = [
                "type": "appClipAdvancedExperienceLocalizations",
                "id": .string(ids[language] ?? "${\(language.rawValue)}"),
            ]
            var attributes: JSONObject = ["language": .string(language.rawValue)]
            attributes["title"] = text.title.map(JSONValue.string)
            attributes["subtitle"] = text.subtitle.map(JSONValue.string)
            var resource = identifier
            resource["attributes"] = .object(attributes)
            linkage.append(.object(identifier))
            included.append(.object(resource))
        }
        return (linkage, included)
    }
}
