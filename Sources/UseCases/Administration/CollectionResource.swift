public import Formats

/// A resource that clients also import and export as files, and that tenants' archives contain.
///
/// Endpoints, their OpenAPI descriptions, commands, imports, exports and archives follow from this description and from the fields.
/// Each kind is listed in ``TenantArchive/collections``, and in `PostgresAdministrationStore.collections` with its table.
public protocol CollectionResource: WritableResource {
    /// What an item is called, such as `short code`. Codes of errors and types of archives' records follow from it.
    static var noun: String { get }
    /// The command that manages the items.
    static var commandName: String { get }
    /// The members of an item, for the API reference and for help texts.
    static var example: JSONObject { get }
    /// Sentences for people who write CSV files, besides the columns of the fields.
    static var fileNotes: String { get }

    /// The item's texts in CSV columns besides the columns of the fields, such as `details.NAME`. The keys are the columns' names. Not
    /// every item has these columns. They follow the columns of the fields.
    var furtherFields: JSONObject { get }
}

extension CollectionResource {
    /// The noun as a name in JSON and in error codes, such as `short_code`.
    public static var typeName: String { noun.replacing(" ", with: "_") }

    public static var commandName: String { noun.replacing(" ", with: "-") }

    /// The field that is the key, if only one is.
    public static var keyField: Field<Self>? {
        let fields = fields.filter { $0.kind == .key }
        return fields.count == 1 ? fields[0] : nil
    }

    public static func unknown(_ key: Key) -> AdministrationError {
        .unknownItem(of: typeName, named: name(of: key))
    }

    public static func existing(_ key: Key) -> AdministrationError {
        .itemExists(of: typeName, named: name(of: key))
    }

    public static func members(of key: Key) -> JSONObject {
        keyField.map { [$0.name: .string(name(of: key))] } ?? [:]
    }

    public static var fileNotes: String { "An item that exists already is changed." }
    public var furtherFields: JSONObject { [:] }
}

extension CollectionResource where Key == String {
    public static func name(of key: String) -> String { key }
}
