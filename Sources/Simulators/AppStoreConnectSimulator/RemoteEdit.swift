public import Formats

/// A change of an experience by another person.
public struct RemoteEdit: Sendable {
    /// Attributes of the experience; null removes an attribute.
    public var attributes: JSONObject = [:]
    /// Values that responses contain instead of the attributes from now on, including unknown values and null.
    public var shown: JSONObject = [:]
    /// Texts of existing localizations, by language.
    public var texts: [String: JSONObject] = [:]
    /// Whether the experience cannot be changed or removed from now on.
    public var isFrozen: Bool?
    public var isInTransfer: Bool?
    public var isRemoved: Bool?

    public init() {}

    /// - Throws: For a member other than `attributes`, `shown`, `texts`, `frozen`, `inTransfer` and `removed`.
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
