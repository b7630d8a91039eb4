public import Formats

/// The type of the value at one path of a card's JSON, for writers of cards as a table.
public enum CardField: Sendable, Hashable {
    case text
    case texts
    /// In degrees.
    case number

    /// Unknown paths count as texts: the reader of the card then refuses them by name.
    public init(path: String) {
        self =
            switch path {
            case "place.names", "place.categories", "place.mainAddress.structuredAddress.streetAddress":
                .texts
            case "place.displayPoint.coordinates.latitude", "place.displayPoint.coordinates.longitude":
                .number
            default: .text
            }
    }
}

extension Card {
    /// Each value by its path, such as `texts.EN.title` or `place.mainAddress.fullAddress`; a list is one
    /// value.
    ///
    /// Nil values have no path.
    public var fields: [String: JSONValue] {
        var fields: [String: JSONValue] = [:]
        Self.add(json, at: "", to: &fields)
        return fields
    }

    private static func add(_ object: JSONObject, at path: String, to fields: inout [String: JSONValue]) {
        for (key, value) in object {
            let path = JSONPath.member(key, of: path)
            if case .object(let members) = value {
                add(members, at: path, to: &fields)
            } else {
                fields[path] = value
            }
        }
    }

    /// Creates a card from values by path.
    ///
    /// - Parameter path: The card's own path, for errors.
    /// - Throws: For an unknown path or an invalid value, with its path.
    public init(fields: some Sequence<(path: String, value: JSONValue)>, path: String) throws(JSONFieldError)
    {
        var json: JSONObject = [:]
        for (field, value) in fields {
            // No path has more parts; a longer rest in the last part is no member's name.
            let keys = field.split(separator: ".", maxSplits: 5, omittingEmptySubsequences: false)
            guard Self.set(value, at: keys[...], in: &json) else {
                throw .invalid(path: "\(path).\(field)", reason: "cannot be combined with its own members")
            }
        }
        try self.init(JSONObjectReader(json, path: path))
    }

    /// Whether there was room for the value: neither it nor one around it was there.
    private static func set(
        _ value: JSONValue, at keys: ArraySlice<Substring>, in object: inout JSONObject
    ) -> Bool {
        guard let first = keys.first.map(String.init) else { return false }
        let rest = keys.dropFirst()
        guard !rest.isEmpty else {
            guard object[first] == nil else { return false }
            object[first] = value
            return true
        }
        var members: JSONObject = [:]
        if let present = object[first] {
            guard case .object(let there) = present else { return false }
            members = there
        }
        let isSet = set(value, at: rest, in: &members)
        object[first] = .object(members)
        return isSet
    }
}
