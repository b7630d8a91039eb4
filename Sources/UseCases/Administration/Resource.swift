import Cards
public import Formats
import Foundation

/// A kind of item that a tenant manages, such as locations: its key, and its fields, from which JSON, CSV and SQL follow.
public protocol Resource: Sendable, Equatable {
    associatedtype Key: Sendable

    /// The fields. CSV exports have their columns in this order, but the columns of metadata, details and card last.
    static var fields: [Field<Self>] { get }
    /// The key in a path; nil for a text that no item's key has.
    static func key(named text: String) -> Key?
    static func name(of key: Key) -> String
    /// The name of the collection in paths.
    static var collection: String { get }
    /// The error for a key that no item has.
    static func unknown(_ key: Key) -> AdministrationError
    /// Query parameters that select items of lists. Each closure returns the stored form of a value; nil if no item can have it.
    static var filters: [String: @Sendable (String) -> String?] { get }
    /// The query parameter that forces a change against advice; nil if there is none.
    static var forcing: String? { get }

    var key: Key { get }
    /// The members that the entity tag covers: `json`, except members that change without an edit, such as `lastUsed`.
    var validatedJSON: JSONObject { get }

    /// - Throws: ``RowRefusal``, which names the field, and the errors of `values`.
    init(_ values: inout some FieldValues) throws
}

extension Resource {
    public static var filters: [String: @Sendable (String) -> String?] { [:] }
    public static var forcing: String? { nil }
    public var validatedJSON: JSONObject { json }

    /// The path of the collection.
    public static var path: String { "/v1/\(collection)" }

    /// The path of an item.
    public static func path(of key: Key) -> String? {
        name(of: key).addingPercentEncoding(withAllowedCharacters: .unreserved).map { "\(path)/\($0)" }
    }

    public static func field(named name: String) -> Field<Self>? { fields.first { $0.name == name } }

    /// The item as the API shows it.
    public var json: JSONObject {
        var json = JSONObject(minimumCapacity: Self.fields.count)
        for field in Self.fields {
            if let value = field.shownValue(of: self) {
                json[field.name] = value.json
            } else if !field.isOmitted {
                json[field.name] = .null
            }
        }
        return json
    }

    /// Reads the item's members. The caller refuses unknown members with `finish()`.
    /// - Throws: `JSONFieldError` or ``RowRefusal``, which name the field.
    public init(_ reader: inout JSONObjectReader) throws {
        var values = JSONFieldValues(reader: reader)
        defer { reader = values.reader }
        try self.init(&values)
    }
}

/// A resource whose items clients write as a whole: as JSON, or as CSV if all its fields have columns.
public protocol WritableResource: APIItem {
    /// The error if an item already has the key.
    static func existing(_ key: Key) -> AdministrationError
    /// The members of an item's JSON that name its key.
    static func members(of key: Key) -> JSONObject
    /// For a CSV column that sets a part of a field: the field, and the name of the part. Nil for an unknown column.
    static func place(ofColumn column: String) -> (field: String, name: String)?

    /// Returns the item. Some fields change only if the client sends them: if it did not, the item gets their current values.
    ///
    /// - Parameters:
    ///   - current: the item that this one replaces.
    ///   - json: the members that the client sent.
    func keeping(_ current: Self, where json: JSONObject) -> Self
}

extension WritableResource {
    public func keeping(_ current: Self, where json: JSONObject) -> Self { self }

    public static func place(ofColumn column: String) -> (field: String, name: String)? {
        column.isOfCard ? ("card", Card.path(ofColumn: column)) : nil
    }

    /// The members to which a merge patch applies, without derived ones.
    public var patchable: JSONObject {
        var members = json
        for field in Self.fields where field.shown != nil && field.value(of: self) == nil {
            members[field.name] = nil
        }
        return members
    }

    /// Reads an item that a client sent. A null member counts as absent.
    /// - Parameter key: the key in the path, which the JSON may repeat but not contradict; nil if only the JSON names it.
    /// - Throws: `JSONFieldError` or ``RowRefusal``, which name the field.
    public static func read(_ json: JSONObject, as key: Key? = nil) throws -> Self {
        var members: JSONObject = [:]
        for (name, value) in json where value != .null { members[name] = value }
        if let key {
            for (name, value) in Self.members(of: key) {
                guard members[name] == nil || members[name] == value else {
                    throw JSONFieldError.invalid(path: name, reason: "must be what the path says")
                }
                members[name] = value
            }
        }
        for field in fields where members[field.name] == nil { members[field.name] = field.defaultValue }
        var reader = JSONObjectReader(members)
        let item = try Self(&reader)
        try reader.finish()
        try refuseUnknown(json.lazy.filter { $1 == .null }.map(\.key))
        return item
    }

    /// The item after a merge patch (RFC 7396), which cannot change its key.
    public func patched(by patch: JSONObject) throws -> Self {
        guard case .object(let members) = JSONValue.object(patchable).merging(.object(patch)) else {
            return self
        }
        try Self.refuseUnknown(patch.lazy.filter { $1 == .null }.map(\.key))
        return try Self.read(members, as: key)
    }

    /// Refuses a null member that is not a field.
    static func refuseUnknown(_ nullMembers: some Sequence<String>) throws(JSONFieldError) {
        for name in nullMembers where field(named: name) == nil {
            throw .unknown(path: JSONPath.member(name, of: ""))
        }
    }
}

extension CharacterSet {
    /// RFC 3986 §2.3.
    fileprivate static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
