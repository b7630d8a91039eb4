public import Cards
public import Formats
public import Foundation

/// A field of a resource, described once.
///
/// JSON, CSV, SQL, merge patches and validation follow from the fields; see ``Resource``.
public struct Field<Item>: Sendable {
    public enum Kind: Sendable {
        /// Part of the key: required when an item is created, and never changed.
        case key
        case required
        case optional
        /// Follows from other fields, or is set by the server. Clients cannot change it.
        case readOnly
    }

    /// The member in JSON.
    public let name: String
    public let type: FieldType
    public let kind: Kind
    /// One sentence or more for the API reference.
    public let documentation: String
    /// The column in the database; nil if the field is not stored.
    public let column: String?
    /// The column in CSV; used only if ``isCell``.
    public let cell: String
    /// The value of an item that does not have the field.
    public let defaultValue: JSONValue?
    /// Whether JSON leaves the field out when it has no value, instead of writing null.
    public let isOmitted: Bool
    /// Whether JSON can show null although the field is ``Kind/readOnly``.
    public let isNullable: Bool
    /// The name of another field, which is cleared when this one is set.
    public let alternative: String?
    /// If the value is the key of another item: the ``CollectionResource/typeName`` of that item's kind.
    public let references: String?
    let value: @Sendable (Item) -> FieldValue?
    /// The value in JSON if it differs from the stored one.
    let shown: (@Sendable (Item) -> FieldValue?)?

    public init(
        _ name: String, _ type: FieldType, _ kind: Kind, _ documentation: String, column: String? = nil,
        isStored: Bool = true, cell: String? = nil, default defaultValue: JSONValue? = nil,
        isOmitted: Bool = false, isNullable: Bool = false, alternative: String? = nil,
        references: String? = nil,
        shown: (@Sendable (Item) -> FieldValue?)? = nil, _ value: @escaping @Sendable (Item) -> FieldValue?
    ) {
        self.name = name
        self.type = type
        self.kind = kind
        self.documentation = documentation
        self.column = isStored ? column ?? name : nil
        self.cell = cell ?? name
        self.defaultValue = defaultValue
        self.isOmitted = isOmitted
        self.isNullable = isNullable
        self.alternative = alternative
        self.references = references
        self.shown = shown
        self.value = value
    }

    /// The stored value of an item; nil for none.
    public func value(of item: Item) -> FieldValue? { value(item) }

    /// The value of an item as text: numbers with the fewest digits that read back as the same; nil for none.
    public func cell(of item: Item) -> String? { value(item)?.cell }

    /// The value of an item in JSON; nil for none.
    public func shownValue(of item: Item) -> FieldValue? { (shown ?? value)(item) }

    /// Whether the field is one column of a CSV file. The other types are spread over several columns.
    public var isCell: Bool {
        if kind == .readOnly { return false }
        return switch type {
        case .text, .identifier, .url, .choice, .number, .flag: true
        case .integer, .date, .texts, .object, .card: false
        }
    }

    /// Whether each item that is written must have the field.
    public var isRequired: Bool { (kind == .key || kind == .required) && defaultValue == nil }
}

/// The type of a field, with its limits.
public enum FieldType: Sendable, Hashable {
    /// Text with this number of characters (Unicode scalars), without control characters. The database sorts it by its collation.
    case text(ClosedRange<Int>)
    /// Text that is compared by its bytes.
    case identifier(ClosedRange<Int>, pattern: String? = nil)
    /// An absolute URL of at most 2,048 bytes.
    case url
    case choice([String])
    case number(ClosedRange<Double>)
    case integer(ClosedRange<Int>)
    case flag
    case date
    /// An object of texts by name.
    case texts
    /// An object, or a list, of the OpenAPI schema of this name.
    case object(String)
    /// A card, stored in two columns; see `Card`.
    case card
}

/// The value of a field.
public enum FieldValue: Sendable {
    case text(String)
    case number(Double)
    case integer(Int)
    case flag(Bool)
    case date(Date)
    case members(JSONObject)
    case list([String])
    /// An object as JSON in UTF-8, which is parsed only where its members are needed.
    case serialized([UInt8])
    case card(Card)

    var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .number(let number): JSONValue(finite: number)
        case .integer(let integer): JSONValue(integer)
        case .flag(let flag): .bool(flag)
        case .date(let date): JSONValue(date)
        case .members(let members): .object(members)
        case .list(let texts): .array(texts.map(JSONValue.string))
        case .serialized(let bytes): (try? JSONValue(parsing: bytes)) ?? .null
        case .card(let card): .object(card.json)
        }
    }

    /// The value as a cell of CSV: text as it is, numbers with the fewest digits that read back as the same.
    var cell: String {
        switch json {
        case .string(let text): text
        case .number(let number): number.literal
        case let value: value.text
        }
    }
}

extension FieldValue {
    init?(_ text: String?) {
        guard let text else { return nil }
        self = .text(text)
    }

    init?(_ date: Date?) {
        guard let date else { return nil }
        self = .date(date)
    }

    init?(_ members: JSONObject?) {
        guard let members else { return nil }
        self = .members(members)
    }

    /// Nil for an empty card.
    init?(_ card: Card) {
        guard !card.isEmpty else { return nil }
        self = .card(card)
    }
}
