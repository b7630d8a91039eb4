import Foundation
public import JSON

/// Something of a tenant's catalogue that is managed one by one: read, written and deleted by its key.
public protocol CatalogueItem: Sendable, Equatable {
    associatedtype Key: Sendable

    /// The key that a path names; nil for a text that can be no item's.
    static func key(named text: String) -> Key?
    static func name(of key: Key) -> String
    /// What the items together are called in a path.
    static var collection: String { get }
    /// That there is none of this key.
    static func unknown(_ key: Key) -> AdministrationError
    /// By what lists can be narrowed: a name, and how a value is written where items are kept; nil for one that none can have.
    static var filters: [String: @Sendable (String) -> String?] { get }
    /// The parameter by which what is advised against is done all the same; nil where nothing is.
    static var forcing: String? { get }

    var key: Key { get }
    var json: JSONObject { get }
    /// What the entity tag is made from: ``json``, but for members that change without a change of the item.
    var validatedJSON: JSONObject { get }
}

extension CatalogueItem {
    public static var filters: [String: @Sendable (String) -> String?] { [:] }
    public static var forcing: String? { nil }
    public var validatedJSON: JSONObject { json }

    /// Where the items are managed over HTTP.
    public static var path: String { "/v1/\(collection)" }

    /// Where the item of a key is managed over HTTP.
    public static func path(of key: Key) -> String? {
        name(of: key).addingPercentEncoding(withAllowedCharacters: .unreserved).map { "\(path)/\($0)" }
    }
}

/// An item all of whose JSON is what somebody writes, so that it can be made of JSON alone.
public protocol WrittenItem: CatalogueItem {
    /// That there is one of this key already.
    static func existing(_ key: Key) -> AdministrationError
    /// The members by which an item's JSON says its key.
    static func members(of key: Key) -> JSONObject
    /// What a new one has where nothing is said of it.
    static var defaults: JSONObject { get }
    /// The members that an item's JSON leaves out where there is nothing to say.
    static var omitted: Set<String> { get }

    /// What a merge patch is applied to: the JSON without what follows from the rest of it.
    var patchable: JSONObject { get }

    /// - Throws: `JSONFieldError` or ``RowRefusal``, which name the field.
    init(_ fields: inout JSONObjectReader) throws

    /// The item with what stays of one that it replaces where nothing is said of it.
    /// - Parameter json: What was written.
    func keeping(_ current: Self, where json: JSONObject) -> Self
}

extension WrittenItem {
    public static var defaults: JSONObject { [:] }
    public static var omitted: Set<String> { [] }
    public var patchable: JSONObject { json }
    public func keeping(_ current: Self, where json: JSONObject) -> Self { self }

    /// Reads an item as somebody writes it. A member that is null is one that is not there.
    /// - Parameter key: whose item it is, which need not be said again and cannot be said otherwise; nil where the item says it.
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
        for (name, value) in defaults where members[name] == nil { members[name] = value }
        var fields = JSONObjectReader(members)
        let item = try Self(&fields)
        try fields.finish()
        try item.refuseUnknown(json.lazy.filter { $1 == .null }.map(\.key))
        return item
    }

    /// The item after a merge patch (RFC 7396), which cannot change its key.
    public func patched(by patch: JSONObject) throws -> Self {
        guard case .object(let members) = JSONValue.object(patchable).merging(.object(patch)) else {
            return self
        }
        try refuseUnknown(patch.lazy.filter { $1 == .null }.map(\.key))
        return try Self.read(members, as: key)
    }

    /// Refuses a null member whose name nothing reads.
    func refuseUnknown(_ nullMembers: some Sequence<String>) throws(JSONFieldError) {
        let known = json
        for name in nullMembers where known[name] == nil && !Self.omitted.contains(name) {
            throw .unknown(path: JSONPath.member(name, of: ""))
        }
    }
}

extension CharacterSet {
    /// RFC 3986 §2.3.
    fileprivate static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
