import Administration
import JSON

/// A resource in a schema: as responses show it, as clients write it, as a merge patch, or with omitted fields.
enum SchemaForm {
    case shown, written, patched, omitted
}

extension JSONObject {
    /// Adds to an object's schema the properties of fields that it lacks, and which properties are required.
    mutating func add<Item>(_ fields: [Field<Item>], as form: SchemaForm) {
        var properties = self["properties"]?.objectValue ?? [:]
        var required: [JSONValue] = []
        for field in fields {
            let isWritten = form == .written || form == .patched
            guard !isWritten || field.kind == .required || field.kind == .optional else { continue }
            let isNullable = isWritten && field.kind == .optional || form == .shown && field.kind == .optional
            if properties[field.name] == nil, let schema = field.schema(isNullable: isNullable) {
                properties[field.name] = .object(schema)
            }
            let isRequired =
                switch form {
                case .shown: !field.isOmitted
                case .written: field.isRequired
                case .patched, .omitted: false
                }
            if isRequired { required.append(.string(field.name)) }
        }
        self["properties"] = .object(properties)
        if !required.isEmpty { self["required"] = .array(required) }
    }
}

extension Field {
    /// Nil for a type whose schema a fragment must hold.
    fileprivate func schema(isNullable: Bool) -> JSONObject? {
        var schema: JSONObject
        switch type {
        case .text(let lengths): schema = Self.text(lengths, nil)
        case .identifier(let lengths, let pattern): schema = Self.text(lengths, pattern)
        case .number(let range):
            schema = [
                "type": "number", "minimum": JSONValue(finite: range.lowerBound),
                "maximum": JSONValue(finite: range.upperBound),
            ]
        case .url, .choice, .integer, .flag, .date, .texts, .object, .card: return nil
        }
        if isNullable, let type = schema["type"] { schema["type"] = .array([type, "null"]) }
        // The names of required fields say enough.
        if kind == .optional { schema["description"] = .string(documentation) }
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
