import Formats
import Foundation

/// The part of Apple's specification that the simulator implements.
///
/// Source: `specification.json` beside this file, condensed from Apple's OpenAPI document of API 4.4.1.
struct Specification: Sendable {
    let resources: [String: Resource]
    let operations: [Operation]

    /// A type of resource.
    struct Resource: Sendable {
        /// The schemas of the resource's attributes in responses, by name.
        let attributes: [String: ValueShape]
        let relationships: [String: Relationship]
        /// The schemas of bodies that create a resource, change one, or contain one in another resource's `included`.
        let bodies: [String: Body]
    }

    struct Relationship: Sendable {
        /// Empty if a response contains nothing but links.
        let type: String
        let isToMany: Bool
        let hasLinks: Bool
        let hasPaging: Bool
    }

    /// The `data` of a request's body, or an element of its `included`.
    struct Body: Sendable {
        let attributes: [String: ValueShape]
        let requiredAttributes: [String]
        let relationships: [String: Relationship]
        let requiredRelationships: [String]
        /// The type of resources in `included`; nil if the body may not have them.
        let included: String?
    }

    struct Operation: Sendable {
        let method: String
        /// A path such as `/v1/apps/{id}`.
        let path: String
        let parameters: [String: Parameter]
        /// `create` or `update`.
        let body: String?
        /// The type of the resource; nil for linkages.
        let type: String?
        let isList: Bool
    }

    enum Parameter: Sendable {
        case strings
        case choices(Set<String>)
        case limit(maximum: Int)
        case cursor
    }

    /// Named schemas that others refer to.
    struct Definitions: Sendable {
        let enums: JSONObject
        let objects: JSONObject

        func enumeration(_ name: String) throws(JSONFieldError) -> Set<String> {
            guard let values = enums[name]?.arrayValue else { throw .missing(path: "enums.\(name)") }
            return Set(values.compactMap(\.stringValue))
        }

        func object(_ name: String) throws(JSONFieldError) -> JSONObject {
            guard let members = objects[name]?.objectValue else { throw .missing(path: "objects.\(name)") }
            return members
        }
    }

    init() throws {
        var file = try JSONObjectReader(try JSONValue(parsing: PackageResources.specification_json))
        let definitions = Definitions(
            enums: try file.requiredMembers("enums"), objects: try file.requiredMembers("objects"))
        var resources: [String: Resource] = [:]
        for (type, value) in try file.requiredMembers("resources") {
            resources[type] = try Resource(try JSONObjectReader(value, path: type), definitions)
        }
        self.resources = resources
        let fieldsets = try file.requiredMembers("fieldsets")
        var operations: [Operation] = []
        for (path, methods) in try file.requiredMembers("paths") {
            for (method, value) in try JSONObjectReader.members(methods) {
                operations.append(
                    try Operation(
                        method: method.uppercased(), path: path, try JSONObjectReader(value, path: path),
                        fieldsets))
            }
        }
        self.operations = operations
    }

    /// The operations at a path with any method, and the identifier in the path.
    func operations(at path: Substring) -> (operations: [Operation], id: String)? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        var id = ""
        let found = operations.filter { operation in
            let template = operation.path.split(separator: "/", omittingEmptySubsequences: false)
            guard template.count == parts.count else { return false }
            for (expected, part) in zip(template, parts) where expected != part {
                guard expected == "{id}", !part.isEmpty else { return false }
                id = part.removingPercentEncoding ?? String(part)
            }
            return true
        }
        return found.isEmpty ? nil : (found, id)
    }
}

extension Specification.Resource {
    fileprivate init(
        _ json: JSONObjectReader, _ definitions: Specification.Definitions
    ) throws(JSONFieldError) {
        var json = json
        var read = try json.requiredObject("read")
        attributes = try read.shapes("attributes", definitions)
        relationships = try read.relationships()
        var bodies: [String: Specification.Body] = [:]
        for name in ["create", "update", "inline"] {
            guard var body = try json.optionalObject(name) else { continue }
            bodies[name] = Specification.Body(
                attributes: try body.shapes("attributes", definitions),
                requiredAttributes: try body.names("attributesRequired"),
                relationships: try body.relationships(),
                requiredRelationships: try body.names("relationshipsRequired"),
                included: try body.optionalString("included"))
        }
        self.bodies = bodies
    }
}

extension Specification.Operation {
    fileprivate init(
        method: String, path: String, _ json: JSONObjectReader, _ fieldsets: JSONObject
    ) throws(JSONFieldError) {
        var json = json
        var parameters: [String: Specification.Parameter] = [:]
        for (name, value) in try json.optionalMembers("query") ?? [:] {
            switch value {
            case .string: parameters[name] = .strings
            case .object(let members):
                parameters[name] = .limit(maximum: members["max"]?.numberValue?.int ?? 0)
            case .array(let values) where name == "fields":
                for type in values.compactMap(\.stringValue) {
                    let fields = fieldsets[type]?.arrayValue ?? []
                    parameters["fields[\(type)]"] = .choices(Set(fields.compactMap(\.stringValue)))
                }
            default: parameters[name] = .choices(Set((value.arrayValue ?? []).compactMap(\.stringValue)))
            }
        }
        let returns = try json.requiredValue("returns")
        isList = returns.stringValue == "linkages" || returns.objectValue?["many"] != nil
        if isList { parameters["cursor"] = .cursor }
        type = (returns.objectValue?["one"] ?? returns.objectValue?["many"])?.stringValue
        self.method = method
        self.path = path
        self.parameters = parameters
        body = try json.optionalString("body")
    }
}

extension JSONObjectReader {
    fileprivate static func members(_ value: JSONValue) throws(JSONFieldError) -> JSONObject {
        guard let members = value.objectValue else { throw .wrongType(path: "", expected: "an object") }
        return members
    }

    fileprivate mutating func shapes(
        _ key: String, _ definitions: Specification.Definitions
    ) throws(JSONFieldError) -> [String: ValueShape] {
        var shapes: [String: ValueShape] = [:]
        for (name, value) in try optionalMembers(key) ?? [:] {
            shapes[name] = try ValueShape(value, definitions)
        }
        return shapes
    }

    fileprivate mutating func names(_ key: String) throws(JSONFieldError) -> [String] {
        (try optionalArray(key) ?? []).compactMap(\.stringValue)
    }

    fileprivate mutating func relationships() throws(JSONFieldError) -> [String: Specification.Relationship] {
        var relationships: [String: Specification.Relationship] = [:]
        for (name, value) in try optionalMembers("relationships") ?? [:] {
            var json = try JSONObjectReader(value, path: name)
            relationships[name] = Specification.Relationship(
                type: try json.optionalString("type") ?? "",
                isToMany: try json.requiredString("to") == "many",
                hasLinks: try json.optionalBool("links") ?? false,
                hasPaging: try json.optionalBool("paging") ?? false)
        }
        return relationships
    }
}
