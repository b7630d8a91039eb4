public import Formats

/// The fields of an existing item that a row of an import sets to nothing.
///
/// An empty cell of a table or a null member of a JSON line clears a field. Fields that a row does not name are in none of these
/// lists, and do not change. If a row sets a field that is in a list, the set value counts.
public struct ClearedFields: Sendable, Hashable {
    /// Members that are cleared as a whole, by their names in JSON.
    public var members: [String]
    /// Names within the metadata.
    public var metadata: [String]
    /// Names within the details.
    public var details: [String]
    /// Paths within the card, such as `texts.EN.title`; a path also stands for all that begins with it.
    public var card: [String]

    public init(
        members: [String] = [], metadata: [String] = [], details: [String] = [], card: [String] = []
    ) {
        self.members = members
        self.metadata = metadata
        self.details = details
        self.card = card
    }

    /// The fields without names that contain U+0000. No stored item has such names, because PostgreSQL's text cannot contain it.
    public var storable: ClearedFields {
        func storable(_ names: [String]) -> [String] { names.filter { !$0.utf8.contains(0) } }
        return ClearedFields(
            members: storable(members), metadata: storable(metadata), details: storable(details),
            card: storable(card))
    }

    public var json: JSONObject {
        [
            "members": Self.list(members), "metadata": Self.list(metadata), "details": Self.list(details),
            "card": Self.list(card),
        ]
    }

    private static func list(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

    /// Removes the null members from a JSON line and lists their names. As in a merge patch (RFC 7396), this includes null members
    /// of metadata, details and card.
    init(removingNullsFrom json: inout JSONObject) {
        self.init()
        // The loop visits the members in the object's order, so that each insertion appends.
        var rest: JSONObject = [:]
        for (name, value) in json {
            switch (name, value) {
            case (_, .null): members.append(name)
            case ("metadata", .object(let object)): rest[name] = Self.removingNulls(object, &metadata)
            case ("details", .object(let object)): rest[name] = Self.removingNulls(object, &details)
            case ("card", .object(let object)): rest[name] = Self.removingNulls(object, at: "", &card)
            default: rest[name] = value
            }
        }
        json = rest
    }

    private static func removingNulls(_ object: JSONObject, _ names: inout [String]) -> JSONValue {
        var rest: JSONObject = [:]
        for (name, value) in object {
            if value == .null { names.append(name) } else { rest[name] = value }
        }
        return .object(rest)
    }

    private static func removingNulls(
        _ object: JSONObject, at path: String, _ paths: inout [String]
    ) -> JSONValue {
        var rest: JSONObject = [:]
        for (name, value) in object {
            let path = JSONPath.member(name, of: path)
            switch value {
            case .null: paths.append(path)
            case .object(let members): rest[name] = removingNulls(members, at: path, &paths)
            default: rest[name] = value
            }
        }
        return .object(rest)
    }
}
