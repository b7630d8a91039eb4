public import Cards
public import Formats
import Invocation
import Lookups

/// A resource as the bodies of requests and responses have it.
public protocol APIItem: Resource {
    /// Reads an item of a response.
    /// - Parameter key: The requested key; nil if the item contains it.
    static func served(_ json: JSONObject, as key: Key?) throws -> Self
    /// The members of the request that writes the item.
    var sent: JSONObject { get }
    /// The body of that request.
    var content: (type: String, bytes: [UInt8]) { get }
}

extension APIItem {
    public var content: (type: String, bytes: [UInt8]) {
        ("application/json", JSONValue.object(sent).serialized())
    }
}

extension APIItem where Self: WritableResource {
    public static func served(_ json: JSONObject, as key: Key?) throws -> Self { try read(json, as: key) }
    public var sent: JSONObject { patchable }
}

extension Clip {
    /// Omitted members would stay.
    public var sent: JSONObject {
        var members = patchable
        if attestation == nil { members["attestation"] = .null }
        return members
    }
}

extension CardImage: APIItem {
    public static func served(_ json: JSONObject, as _: ImageDigest?) throws -> CardImage {
        var fields = JSONObjectReader(json)
        return try CardImage(&fields)
    }

    /// The body is the file.
    public var sent: JSONObject { [:] }
    public var content: (type: String, bytes: [UInt8]) { (format.rawValue, file ?? []) }
}

extension DomainRecord: APIItem {
    public static func served(_ json: JSONObject, as _: DomainName?) throws -> DomainRecord {
        var fields = JSONObjectReader(json.withoutNulls)
        return try DomainRecord(&fields)
    }

    /// The content and the pages. The server sets the other members.
    public var sent: JSONObject {
        ["content": (content?.json).map(JSONValue.object) ?? .null, "pages": .string(pages.rawValue)]
    }
}

extension JSONObject {
    /// Its members without null ones, which a reader would refuse as the wrong type.
    public var withoutNulls: JSONObject {
        reduce(into: [:]) { if $1.value != .null { $0[$1.key] = $1.value } }
    }
}
