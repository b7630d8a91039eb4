import Administration
import AppSiteAssociation
import Cards
import JSON
import Lookups

/// An item that is read from a server's response.
protocol ServedItem: Resource {
    /// - Parameter key: The requested key; nil if the item contains it.
    static func served(_ json: JSONObject, as key: Key?) throws -> Self
    /// The body that writes the item.
    var sent: JSONObject { get }
    /// How that is sent.
    var content: (type: String, bytes: [UInt8]) { get }
}

extension ServedItem {
    var content: (type: String, bytes: [UInt8]) {
        ("application/json", JSONValue.object(sent).serialized())
    }
}

extension ServedItem where Self: WritableResource {
    static func served(_ json: JSONObject, as key: Key?) throws -> Self { try read(json, as: key) }
    var sent: JSONObject { patchable }
}

extension Clip: ServedItem {
    /// Omitted members would stay.
    var sent: JSONObject {
        var members = patchable
        if attestation == nil { members["attestation"] = .null }
        return members
    }
}

extension LocationRecord: ServedItem {}
extension ExperienceRecord: ServedItem {}
extension ShortCode: ServedItem {}

extension CardImage: ServedItem {
    static func served(_ json: JSONObject, as _: ImageDigest?) throws -> CardImage {
        var fields = JSONObjectReader(json)
        return try CardImage(&fields)
    }

    /// Sent as it is, without the form of responses.
    var sent: JSONObject { [:] }
    var content: (type: String, bytes: [UInt8]) { (format.rawValue, file ?? []) }
}

extension DomainRecord: ServedItem {
    static func served(_ json: JSONObject, as _: DomainName?) throws -> DomainRecord {
        var fields = JSONObjectReader(json.withoutNulls)
        return try DomainRecord(&fields)
    }

    /// The content and the pages alone: the rest is the server's.
    var sent: JSONObject {
        ["content": (content?.json).map(JSONValue.object) ?? .null, "pages": .string(pages.rawValue)]
    }
}
