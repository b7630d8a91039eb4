import Formats
import Foundation

/// The schema of an attribute's value, from Apple's specification.
indirect enum ValueShape: Sendable {
    case string
    case uri
    case boolean
    case integer
    case number
    case choice(Set<String>)
    case object([String: ValueShape])
    case array(ValueShape)
    case nullable(ValueShape)

    /// The error of a value; nil for a valid value.
    func error(in value: JSONValue, at pointer: String) -> ErrorObject? {
        switch (self, value) {
        case (.nullable(let shape), _):
            return value == .null ? nil : shape.error(in: value, at: pointer)
        case (.string, .string), (.boolean, .bool), (.number, .number): return nil
        case (.uri, .string(let text)) where URL(string: text)?.scheme != nil: return nil
        case (.integer, .number(let number)) where number.int != nil: return nil
        case (.choice(let names), .string(let text)) where names.contains(text): return nil
        case (.array(let shape), .array(let elements)):
            for (index, element) in elements.enumerated() {
                if let error = shape.error(in: element, at: "\(pointer)/\(index)") { return error }
            }
            return nil
        case (.object(let members), .object(let object)):
            for (key, member) in object {
                guard let shape = members[key] else { return .unknownMember(at: "\(pointer)/\(key)") }
                if let error = shape.error(in: member, at: "\(pointer)/\(key)") { return error }
            }
            return nil
        default:
            return .attribute("INVALID", at: pointer, "The value is not one that the attribute can have.")
        }
    }
}

extension ValueShape {
    /// - Parameters:
    ///   - definitions: The named enumerations and objects of the specification.
    init(_ json: JSONValue, _ definitions: Specification.Definitions) throws(JSONFieldError) {
        if case .string(let name) = json {
            switch name {
            case "string", "string:date-time": self = .string
            case "string:uri": self = .uri
            case "boolean": self = .boolean
            case "integer": self = .integer
            case "number": self = .number
            default: throw .invalid(path: name, reason: "is no type")
            }
            return
        }
        var fields = try JSONObjectReader(json)
        let isNullable = try fields.optionalBool("nullable") ?? false
        let shape: ValueShape
        if let type = fields.optionalValue("type") {
            shape = try ValueShape(type, definitions)
        } else if let name = try fields.optionalString("enum") {
            shape = .choice(try definitions.enumeration(name))
        } else if let values = try fields.optionalArray("values") {
            shape = .choice(Set(values.compactMap(\.stringValue)))
        } else if let name = try fields.optionalString("object") {
            shape = try Self.object(try definitions.object(name), definitions)
        } else if let members = try fields.optionalMembers("fields") {
            shape = try Self.object(members, definitions)
        } else {
            shape = .array(try ValueShape(try fields.requiredValue("array"), definitions))
        }
        try fields.finish()
        self = isNullable ? .nullable(shape) : shape
    }

    private static func object(
        _ members: JSONObject, _ definitions: Specification.Definitions
    ) throws(JSONFieldError) -> ValueShape {
        var shapes: [String: ValueShape] = [:]
        for (key, member) in members { shapes[key] = try ValueShape(member, definitions) }
        return .object(shapes)
    }
}
