import Formats

/// Rewrites a document so that client generators accept it, and so that generated clients read the responses of later versions.
///
/// The fragments describe the API exactly. Client generators fail on some exact schemas, and closed responses break clients when a
/// member or an enumeration's value is added. The exact keywords stay in the document as `x-current`, and the values of
/// enumerations as `x-extensible-enum`: `deploy/checks/openapi` merges them back and so still checks each response exactly.
struct ClientForm {
    /// Keywords whose values are data, not schemas.
    private static let data: Set<String> = [
        "example", "examples", "x-current", "x-extensible-enum", "default",
    ]
    private static let schemas = "#/components/schemas/"

    /// The whole document in this form.
    static func document(_ document: JSONObject) -> JSONObject {
        guard var result = simplified(.object(document)).objectValue,
            var components = result["components"]?.objectValue,
            var schemas = components["schemas"]?.objectValue
        else { return document }
        var reached: Set<String> = []
        let paths = mapResponses(of: result["paths"] ?? [:]) { collect($0, schemas, &reached) }
        let shared = mapContent(of: components["responses"] ?? [:]) { collect($0, schemas, &reached) }
        // Clients read webhook messages like responses.
        let webhooks = mapMessages(of: result["x-webhooks"] ?? [:]) { collect($0, schemas, &reached) }
        for name in reached { schemas[name] = schemas[name].map(opened) }
        components["schemas"] = .object(schemas)
        components["responses"] = shared
        result["components"] = .object(components)
        result["paths"] = paths
        result["x-webhooks"] = webhooks
        return result
    }

    // MARK: All schemas

    /// Moves keywords that only validate, and that generators take for classes of their own, into `x-current`.
    private static func simplified(_ value: JSONValue) -> JSONValue {
        if let array = value.arrayValue { return .array(array.map(simplified)) }
        guard var object = value.objectValue else { return value }
        for (key, member) in object where !data.contains(key) { object[key] = simplified(member) }
        for key in ["anyOf", "oneOf"] where object["properties"]?.objectValue != nil {
            let cases = object[key]?.arrayValue ?? []
            if !cases.isEmpty, cases.allSatisfy({ $0.objectValue?.map(\.key) == ["required"] }) {
                setAside(key, of: &object)
            }
        }
        if object["uniqueItems"] == true { setAside("uniqueItems", of: &object) }
        if object["default"] != nil, let values = object["enum"]?.arrayValue, values.contains(.null) {
            setAside("enum", of: &object)
            object["enum"] = .array(values.filter { $0 != .null })
        }
        return .object(object)
    }

    private static func setAside(_ key: String, of object: inout JSONObject) {
        var current = object["x-current"]?.objectValue ?? [:]
        current[key] = object[key]
        object["x-current"] = .object(current)
        object[key] = nil
    }

    // MARK: Responses

    /// Adds the schemas that a schema refers to, and returns it open.
    private static func collect(
        _ schema: JSONValue, _ schemas: JSONObject, _ reached: inout Set<String>
    ) -> JSONValue {
        for reference in references(in: schema) where reached.insert(reference).inserted {
            if let schema = schemas[reference] { _ = collect(schema, schemas, &reached) }
        }
        return opened(schema)
    }

    private static func references(in value: JSONValue) -> [String] {
        if let array = value.arrayValue { return array.flatMap(references) }
        return (value.objectValue ?? [:]).flatMap { key, member -> [String] in
            if key == "$ref", let target = member.stringValue, target.hasPrefix(schemas) {
                return [String(target.dropFirst(schemas.count))]
            }
            return data.contains(key) ? [] : references(in: member)
        }
    }

    /// Allows further members, and further values of enumerations.
    private static func opened(_ value: JSONValue) -> JSONValue {
        if let array = value.arrayValue { return .array(array.map(opened)) }
        guard var object = value.objectValue else { return value }
        for (key, member) in object where !data.contains(key) { object[key] = opened(member) }
        if object["additionalProperties"] == false { setAside("additionalProperties", of: &object) }
        // Some generators close objects unless `additionalProperties` is set.
        if object["properties"]?.objectValue != nil, object["additionalProperties"] == nil {
            object["additionalProperties"] = true
        }
        guard let values = object["enum"]?.arrayValue,
            values.allSatisfy({ $0 == .null || $0.stringValue != nil })
        else { return .object(object) }
        let names = values.compactMap(\.stringValue)
        object["enum"] = nil
        object["type"] = values.contains(.null) ? ["string", "null"] : "string"
        object["x-extensible-enum"] = .array(names.map { .string($0) })
        let known = "Known values: \(names.map { "`\($0)`" }.joined(separator: ", "))."
        object["description"] = .string(
            [object["description"]?.stringValue, known].compactMap(\.self).joined(separator: " "))
        return .object(object)
    }

    private static func mapResponses(of paths: JSONValue, _ change: (JSONValue) -> JSONValue) -> JSONValue {
        mapped(paths) { operations in
            mapped(operations) { operation in
                guard var object = operation.objectValue, let responses = object["responses"] else {
                    return operation
                }
                object["responses"] = mapContent(of: responses, change)
                return .object(object)
            }
        }
    }

    private static func mapMessages(of webhooks: JSONValue, _ change: (JSONValue) -> JSONValue) -> JSONValue {
        mapped(webhooks) { operations in
            mapped(operations) { operation in
                guard var object = operation.objectValue, let body = object["requestBody"] else {
                    return operation
                }
                object["requestBody"] = mapContent(of: ["message": body], change).objectValue?["message"]
                return .object(object)
            }
        }
    }

    private static func mapContent(of responses: JSONValue, _ change: (JSONValue) -> JSONValue) -> JSONValue {
        mapped(responses) { response in
            guard var object = response.objectValue, let content = object["content"] else { return response }
            object["content"] = mapped(content) { body in
                guard var body = body.objectValue else { return body }
                // Schemas that only the exact form refers to are opened, too.
                if let current = body["x-current"] { _ = change(current) }
                body["schema"] = body["schema"].map(change)
                return .object(body)
            }
            return .object(object)
        }
    }

    private static func mapped(_ value: JSONValue, _ change: (JSONValue) -> JSONValue) -> JSONValue {
        var object = value.objectValue ?? [:]
        for (key, member) in object { object[key] = change(member) }
        return .object(object)
    }
}
