import Administration
import ArgumentParser
import Formats
import Foundation

/// Options for a new item: one for each text, number and flag among the fields of a resource, except its key.
struct NewItemOptions<Item: WritableResource>: ParsableArguments, CustomReflectable {
    /// The members of the item's JSON, from the options.
    private(set) var members: JSONObject = [:]

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldOption.self)
        for option in FieldOption.all(Item.self) {
            if let value = try option.value(ofNewItem: container) { members[option.stringValue] = value }
        }
    }

    func validate() throws { try Item.refuseMismatches(in: members) }

    var customMirror: Mirror {
        FieldOption.mirror(self, FieldOption.all(Item.self).map { ($0.stringValue, $0.ofNewItem) })
    }
}

/// Options for a change of an item: one for each text, number and flag among the fields of a resource, except its key.
struct ItemChangeOptions<Item: WritableResource>: ParsableArguments, CustomReflectable {
    /// The merge patch (RFC 7396), from the options.
    private(set) var patch: JSONObject = [:]

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldOption.self)
        for option in FieldOption.all(Item.self) {
            guard let value = try option.value(ofChange: container) else { continue }
            patch[option.stringValue] = value
            if let alternative = option.alternative, value != .null, patch[alternative] == nil {
                patch[alternative] = .null
            }
        }
    }

    func validate() throws { try Item.refuseMismatches(in: patch) }

    var customMirror: Mirror {
        FieldOption.mirror(self, FieldOption.all(Item.self).map { ($0.stringValue, $0.ofChange) })
    }
}

/// The option of a field. It is also the key of the option's parsed value.
///
/// ArgumentParser finds options by reflection. So a set of options that is known only at run time is a mirror with one child for
/// each option.
private struct FieldOption: CodingKey {
    private enum Kind {
        case text, number, flag
    }

    let stringValue: String
    private let kind: Kind
    private let isRequired: Bool
    private let help: String
    /// The field that is cleared if this one is set.
    let alternative: String?

    private init?<Item>(_ field: Field<Item>) {
        guard field.kind == .required || field.kind == .optional else { return nil }
        switch field.type {
        case .text, .identifier, .url, .choice: kind = .text
        case .number: kind = .number
        case .flag: kind = .flag
        case .integer, .date, .texts, .object, .card: return nil
        }
        stringValue = field.name
        isRequired = field.isRequired
        help = field.documentation
        alternative = field.alternative
    }

    static func all<Item: Resource>(_: Item.Type) -> [FieldOption] {
        Item.fields.compactMap { FieldOption($0) }
    }

    static func mirror(_ subject: Any, _ options: [(String, Any)]) -> Mirror {
        Mirror(subject, children: options.map { (label: $0, value: $1) })
    }

    // MARK: Definitions

    var ofNewItem: Any {
        switch kind {
        case .text where isRequired: Option<String>(help: ArgumentHelp(help))
        case .number where isRequired: Option<Double>(parsing: .unconditional, help: ArgumentHelp(help))
        case .flag: Flag<Bool>(wrappedValue: false, help: ArgumentHelp(help))
        case .text, .number: ofChange
        }
    }

    /// The option that changes the field. An empty text removes the value of an optional field.
    var ofChange: Any {
        switch kind {
        case .text:
            Option<String?>(help: ArgumentHelp(isRequired ? help : help.dropLast() + "; empty for none."))
        case .number: Option<Double?>(parsing: .unconditional, help: ArgumentHelp(help))
        case .flag: Flag<Bool?>(inversion: .prefixedNo, help: ArgumentHelp(help))
        }
    }

    // MARK: Values

    func value(ofNewItem options: KeyedDecodingContainer<FieldOption>) throws -> JSONValue? {
        switch kind {
        case .text where isRequired:
            .string(try options.decode(Option<String>.self, forKey: self).wrappedValue)
        case .number where isRequired:
            json(try options.decode(Option<Double>.self, forKey: self).wrappedValue)
        case .flag: .bool(try options.decode(Flag<Bool>.self, forKey: self).wrappedValue)
        case .text, .number: try value(ofChange: options).flatMap { $0 == .null ? nil : $0 }
        }
    }

    func value(ofChange options: KeyedDecodingContainer<FieldOption>) throws -> JSONValue? {
        switch kind {
        case .text:
            try options.decode(Option<String?>.self, forKey: self).wrappedValue
                .map { $0.isEmpty && !isRequired ? .null : .string($0) }
        case .number: try options.decode(Option<Double?>.self, forKey: self).wrappedValue.map(json)
        case .flag: try options.decode(Flag<Bool?>.self, forKey: self).wrappedValue.map(JSONValue.bool)
        }
    }

    /// Infinity and NaN, which JSON lacks, become texts. No field of numbers accepts texts.
    private func json(_ number: Double) -> JSONValue {
        number.isFinite ? JSONValue(finite: number) : .string("\(number)")
    }

    // MARK: CodingKey

    init?(stringValue: String) {
        self.stringValue = stringValue
        (kind, isRequired, help, alternative) = (.text, false, "", nil)
    }

    var intValue: Int? { nil }
    init?(intValue: Int) { nil }
}

extension Resource {
    /// - Throws: `ValidationError` if the text does not match its field's pattern.
    fileprivate static func refuseMismatches(in members: JSONObject) throws {
        for field in fields {
            guard case .identifier(_, let pattern?) = field.type, let text = members[field.name]?.stringValue,
                text.range(of: pattern, options: .regularExpression) == nil
            else { continue }
            throw ValidationError("\(field.name) must match \(pattern); got '\(text)'")
        }
    }

    /// The columns of tables: the key, then the other fields with a single value that each item has.
    static var tableColumns: [String] {
        let columns = fields.filter { $0.isCell && !$0.isOmitted }
        return (columns.filter { $0.kind == .key } + columns.filter { $0.kind != .key }).map(\.name)
    }
}
