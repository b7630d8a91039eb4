public import JSON

/// A change of an experience by somebody else.
public struct RemoteEdit: Sendable {
    /// Of the experience; null takes one away.
    public var attributes: JSONObject = [:]
    /// What reads answer in the place of attributes from now on, as it is: unknown values, and null.
    public var shown: JSONObject = [:]
    /// Of the localizations that there are, by language.
    public var texts: [String: JSONObject] = [:]
    /// Whether it cannot be changed or removed from now on.
    public var isFrozen: Bool?
    public var isInTransfer: Bool?
    public var isRemoved: Bool?

    public init() {}

    /// - Throws: for a member that is not `attributes`, `shown`, `texts`, `frozen`, `inTransfer` or `removed`.
    public init(json: JSONValue) throws(JSONFieldError) {
        var reader = try JSONObjectReader(json)
        attributes = try reader.optionalMembers("attributes") ?? [:]
        shown = try reader.optionalMembers("shown") ?? [:]
        for (language, value) in try reader.optionalMembers("texts") ?? [:] {
            guard let members = value.objectValue else {
                throw .wrongType(path: "texts.\(language)", expected: "an object")
            }
            texts[language] = members
        }
        isFrozen = try reader.optionalBool("frozen")
        isInTransfer = try reader.optionalBool("inTransfer")
        isRemoved = try reader.optionalBool("removed")
        try reader.finish()
    }
}
