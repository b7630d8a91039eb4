import Formats

/// The body of a request, checked against the schemas of the specification.
struct RequestBody: Sendable {
    let attributes: JSONObject
    /// Identifiers by the names of the relationships; nil for an empty relationship.
    let relationships: [String: [String]?]
    let included: [Included]

    /// An element of `included`.
    struct Included: Sendable {
        let id: String?
        let attributes: JSONObject
    }

    /// - Parameter id: The identifier of the resource to change; nil for a new one.
    init(
        _ bytes: [UInt8], of type: String, id: String?, as name: String, _ specification: Specification
    ) throws(ErrorDocument) {
        guard let document = try? JSONValue(parsing: bytes) else { throw ErrorDocument(.notJSON) }
        guard let shape = specification.resources[type]?.bodies[name] else {
            throw ErrorDocument(.methodNotAllowed)
        }
        var checker = BodyChecker(specification)
        guard let members = checker.members(document, of: ["data", "included"], at: ""),
            let data = members["data"].flatMap({
                checker.members($0, of: ["type", "id", "attributes", "relationships"], at: "/data")
            })
        else {
            checker.add(.unprocessable(at: "/data", "The document has no 'data'."))
            throw checker.document
        }
        checker.checkType(data["type"], type, at: "/data/type")
        switch (data["id"], id) {
        case (nil, nil): break
        case (_?, nil):
            checker.add(.entity("UNEXPECTED_ID", at: "/data/id", "A new resource must not have an id."))
        case (let given, let id?):
            if given?.stringValue != id {
                checker.add(.unprocessable(at: "/data/id", "The id is not that of the path."))
            }
        }
        attributes = checker.attributes(
            data["attributes"], shape, specification.resources[type]?.attributes ?? [:],
            at: "/data/attributes")
        relationships = checker.relationships(data["relationships"], shape, at: "/data/relationships")
        included = checker.included(members["included"], shape)
        guard checker.document.errors.isEmpty else { throw checker.document }
    }
}

/// Collects all errors in the schema of a body.
private struct BodyChecker {
    private let specification: Specification
    private var errors: [ErrorObject] = []

    init(_ specification: Specification) {
        self.specification = specification
    }

    var document: ErrorDocument { ErrorDocument(errors) }

    mutating func add(_ error: ErrorObject) {
        // A response contains a few errors, not as many as a caller can cause.
        if errors.count < 20 { errors.append(error) }
    }

    mutating func members(_ value: JSONValue, of names: Set<String>, at pointer: String) -> JSONObject? {
        guard let members = value.objectValue else {
            add(.unprocessable(at: pointer, "The value is no object."))
            return nil
        }
        for (key, _) in members where !names.contains(key) { add(.unknownMember(at: "\(pointer)/\(key)")) }
        return members
    }

    mutating func checkType(_ value: JSONValue?, _ type: String, at pointer: String) {
        if value?.stringValue != type {
            add(.unprocessable(at: pointer, "The type must be '\(type)'."))
        }
    }

    /// - Parameter readable: The attributes of the resource that this body must not contain.
    mutating func attributes(
        _ value: JSONValue?, _ shape: Specification.Body, _ readable: [String: ValueShape],
        at pointer: String
    ) -> JSONObject {
        let attributes = value.flatMap { members($0, at: pointer) } ?? [:]
        for (key, value) in attributes {
            if let shape = shape.attributes[key] {
                if let error = shape.error(in: value, at: "\(pointer)/\(key)") { add(error) }
            } else if readable[key] != nil {
                add(
                    .attribute(
                        "INVALID.UNMODIFIABLE", at: "\(pointer)/\(key)",
                        "The attribute '\(key)' can not be set by this request"))
            } else {
                add(
                    .attribute(
                        "UNKNOWN", at: "\(pointer)/\(key)",
                        "The attribute '\(key)' is not an attribute of the resource"))
            }
        }
        for name in shape.requiredAttributes where attributes[name] == nil {
            add(.attribute("REQUIRED", at: "\(pointer)/\(name)", "You must provide a value for '\(name)'"))
        }
        return attributes
    }

    mutating func relationships(
        _ value: JSONValue?, _ shape: Specification.Body, at pointer: String
    ) -> [String: [String]?] {
        var relationships: [String: [String]?] = [:]
        for (key, value) in value.flatMap({ members($0, at: pointer) }) ?? [:] {
            guard let relationship = shape.relationships[key] else {
                add(.unknownMember(at: "\(pointer)/\(key)"))
                continue
            }
            let place = "\(pointer)/\(key)"
            guard let data = members(value, of: ["data"], at: place)?["data"] else {
                add(.relationship("INVALID", at: place, "The relationship has no 'data'."))
                continue
            }
            switch (relationship.isToMany, data) {
            case (true, .array(let elements)):
                relationships.updateValue(
                    elements.enumerated().compactMap {
                        identifier($0.element, relationship.type, at: "\(place)/data/\($0.offset)")
                    }, forKey: key)
            case (false, .object):
                relationships.updateValue(
                    identifier(data, relationship.type, at: "\(place)/data").map { [$0] }, forKey: key)
            default: add(.relationship("INVALID", at: "\(place)/data", "The linkage is of another form."))
            }
        }
        for name in shape.requiredRelationships
        where value?.objectValue?[name] == nil {
            add(
                .relationship(
                    "REQUIRED", at: "\(pointer)/\(name)",
                    "You must provide a value for the relationship '\(name)'"))
        }
        return relationships
    }

    mutating func included(_ value: JSONValue?, _ shape: Specification.Body) -> [RequestBody.Included] {
        guard let value else { return [] }
        guard let type = shape.included, let inline = specification.resources[type]?.bodies["inline"],
            let elements = value.arrayValue
        else {
            add(.unprocessable(at: "/included", "Nothing of this kind can be included."))
            return []
        }
        return elements.enumerated().compactMap { index, element in
            let pointer = "/included/\(index)"
            guard let object = members(element, of: ["type", "id", "attributes"], at: pointer) else {
                return nil
            }
            checkType(object["type"], type, at: "\(pointer)/type")
            if let id = object["id"], id.stringValue == nil {
                add(.unprocessable(at: "\(pointer)/id", "The id is no string."))
            }
            return RequestBody.Included(
                id: object["id"]?.stringValue,
                attributes: attributes(object["attributes"], inline, [:], at: "\(pointer)/attributes"))
        }
    }

    private mutating func identifier(_ value: JSONValue, _ type: String, at pointer: String) -> String? {
        guard let object = members(value, of: ["type", "id"], at: pointer) else { return nil }
        checkType(object["type"], type, at: "\(pointer)/type")
        guard let id = object["id"]?.stringValue else {
            add(.unprocessable(at: "\(pointer)/id", "The id is missing."))
            return nil
        }
        return id
    }

    private mutating func members(_ value: JSONValue, at pointer: String) -> JSONObject? {
        guard let members = value.objectValue else {
            add(.unprocessable(at: pointer, "The value is no object."))
            return nil
        }
        return members
    }
}
