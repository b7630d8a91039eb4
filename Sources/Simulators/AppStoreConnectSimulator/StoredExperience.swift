public import Formats

/// An experience in the simulator, independent of its listings.
public struct StoredExperience: Sendable {
    public let id: String
    public let link: String
    public let imageID: String
    public let isRemoved: Bool
    /// The attributes in responses.
    public let attributes: JSONObject
    /// The localizations by language.
    public let texts: [String: JSONObject]

    public var json: JSONObject {
        [
            "id": .string(id), "link": .string(link), "imageID": .string(imageID),
            "removed": .bool(isRemoved),
            "attributes": .object(attributes),
            "texts": .object(
                texts.sorted { $0.key < $1.key }.reduce(into: JSONObject()) { $0[$1.key] = .object($1.value) }
            ),
        ]
    }
}
