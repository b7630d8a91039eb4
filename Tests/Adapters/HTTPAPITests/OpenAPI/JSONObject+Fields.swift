import Administration
import Formats

/// The schema of a resource in one of its forms: in responses, in requests that create it with its key, in requests that write it
/// to a path, in merge patches, or with omitted fields.
enum SchemaForm: String {
    case shown, created, written, patched, omitted
}

extension JSONObject {
    /// Adds to an object's schema the properties of fields that it lacks, and which properties are required.
    mutating func add<Item>(_ fields: [Field<Item>], as form: SchemaForm) {
        var properties = self["properties"]?.objectValue ?? [:]
        var required: [JSONValue] = []
        for field in fields {
            let isIncluded =
                switch (form, field.kind) {
                case (.shown, _), (.omitted, _), (_, .required), (_, .optional), (.created, .key): true
                case (_, .key), (_, .readOnly): false
                }
            guard isIncluded else { continue }
            if properties[field.name] == nil, let schema = field.schema(form) {
                properties[field.name] = .object(schema)
            }
            let isRequired =
                switch form {
                case .shown: !field.isOmitted
                case .created, .written: field.isRequired
                case .patched, .omitted: false
                }
            if isRequired { required.append(.string(field.name)) }
        }
        self["properties"] = .object(properties)
        if !required.isEmpty { self["required"] = .array(required + (self["required"]?.arrayValue ?? [])) }
    }
}

extension JSONObject {
    mutating func add<Item: Resource>(_: Item.Type, as form: SchemaForm) { add(Item.fields, as: form) }
}

extension Field {
    /// Nil if the type has no fixed schema, so that a fragment must contain it.
    func schema(_ form: SchemaForm) -> JSONObject? {
        let isNullable =
            switch form {
            case .shown: isNullable || kind == .optional && !isOmitted && defaultValue == nil
            case .created: kind == .optional || defaultValue != nil
            case .written, .patched: kind == .optional
            case .omitted: false
            }
        var schema: JSONObject
        switch type {
        case .text(let lengths): schema = Self.text(lengths, nil)
        case .identifier(let lengths, let pattern): schema = Self.text(lengths, pattern)
        case .url: schema = ["type": "string", "format": "uri", "maxLength": 2_048]
        case .choice(let choices):
            schema = ["enum": .array(choices.map(JSONValue.string) + (isNullable ? [.null] : []))]
            if form == .created { schema["default"] = defaultValue }
        case .number(let range):
            schema = [
                "type": "number", "minimum": JSONValue(finite: range.lowerBound),
                "maximum": JSONValue(finite: range.upperBound),
            ]
        case .integer(let range):
            schema = [
                "type": "integer", "minimum": JSONValue(range.lowerBound),
                "maximum": JSONValue(range.upperBound),
            ]
        case .date: schema = ["type": "string", "format": "date-time"]
        case .flag: schema = ["type": "boolean"]
        case .object(let name): return ["$ref": .string("#/components/schemas/\(name)")]
        case .card:
            let card: JSONValue = [
                "$ref": .string("#/components/schemas/\(form == .patched ? "CardPatch" : "Card")")
            ]
            return isNullable ? ["oneOf": [card, ["type": "null"]]] : card.objectValue
        case .texts: return nil
        }
        if isNullable, let type = schema["type"] { schema["type"] = .array([type, "null"]) }
        schema["description"] = .string(documentation)
        return schema
    }

    private static func text(_ lengths: ClosedRange<Int>, _ pattern: String?) -> JSONObject {
        [
            "type": "string", "minLength": JSONValue(lengths.lowerBound),
            "maxLength": JSONValue(lengths.upperBound),
            "pattern": .string(pattern ?? #"^[^\u0000-\u001f\u007f-\u009f]+$"#),
        ]
    }
}
