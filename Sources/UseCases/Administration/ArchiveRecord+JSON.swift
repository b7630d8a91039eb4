import Formats
import Foundation

extension ArchiveRecord {
    /// A line: the record's kind under `type`, and the members that it always has, without null members.
    var json: JSONObject {
        let members: JSONObject =
            switch self {
            case .tenant(let tenant): tenant.json
            case .image(let image): ["file": .string(Data(image.file).base64EncodedString())]
            case .clip(let clip): clip.json
            case .domain(let domain): domain.json
            case .item(let item): item.patchable
            case .end(let count): ["records": JSONValue(count)]
            }
        var json: JSONObject = ["type": .string(type)]
        for (key, value) in members where value != .null { json[key] = value }
        return json
    }

    /// Reads a line, whose every field must be known.
    /// - Throws: `JSONFieldError` or `RowRefusal`, which name the field.
    init(_ json: JSONObject) throws {
        var fields = JSONObjectReader(json)
        let type = try fields.requiredString("type")
        switch type {
        case "tenant": self = .tenant(try ArchivedTenant(&fields))
        case "image":
            guard let file = Data(base64Encoded: try fields.requiredString("file")) else {
                throw RowRefusal("file", "not Base64")
            }
            self = .image(ArchivedImage(file: Array(file)))
        case "clip": self = .clip(try Clip(&fields))
        case "domain": self = .domain(try ArchivedDomain(&fields))
        case "end": self = .end(try fields.requiredInteger("records"))
        default:
            guard let kind = TenantArchive.collections.first(where: { $0.typeName == type }) else {
                throw JSONFieldError.invalid(
                    path: "type", reason: "must be one of \(TenantArchive.types.joined(separator: ", "))")
            }
            self = .item(try kind.init(&fields))
        }
        try fields.finish()
    }
}
