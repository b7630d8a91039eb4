public import JSON

/// An experience as the simulator has it, whatever its listings say.
public struct StoredExperience: Sendable {
    public let id: String
    public let link: String
    public let imageID: String
    public let isRemoved: Bool
    /// As they are read.
    public let attributes: JSONObject
    /// By language.
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
