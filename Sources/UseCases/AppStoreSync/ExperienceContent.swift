public import Cards
public import Formats

/// The content of an advanced experience at App Store Connect, without its URL.
public struct ExperienceContent: Sendable, Hashable {
    /// Whether a platform that serves many businesses registers it. [Apple]
    public var isPoweredBy: Bool
    public var card: Card

    public init(_ card: Card, isPoweredBy: Bool = false) {
        self.card = card
        self.isPoweredBy = isPoweredBy
    }

    /// Each value by its path, such as `texts.EN.title` or `place.mainAddress.fullAddress`; a list is one value.
    ///
    /// A nil value has no path: it is not managed.
    public var fields: [String: JSONValue] {
        var fields = card.fields
        fields["isPoweredBy"] = .bool(isPoweredBy)
        return fields
    }

    /// As ``init(_:)`` reads it.
    public var json: JSONObject {
        ["card": .object(card.json), "isPoweredBy": .bool(isPoweredBy)]
    }

    /// Reads what ``json`` writes.
    public init(_ reader: JSONObjectReader) throws(JSONFieldError) {
        var fields = reader
        isPoweredBy = try fields.requiredBool("isPoweredBy")
        card = try Card(fields.requiredObject("card"))
        try fields.finish()
    }

    /// This content, completed with values from the other one, so that a request removes nothing that Doorstep does not manage.
    public func inheriting(_ other: ExperienceContent) -> ExperienceContent {
        ExperienceContent(card.inheriting(other.card), isPoweredBy: isPoweredBy)
    }

    /// The changes from the content at App Store Connect to this one, by path; fields without a value here are ignored.
    /// - Parameter applied: The content that was sent last; nil if Doorstep has never written the experience.
    func changes(applied: ExperienceContent?, remote: ExperienceContent) -> [FieldChange] {
        let applied = applied?.fields
        let remote = remote.fields
        return fields.sorted { $0.key < $1.key }.compactMap { path, desired in
            let old = remote[path]
            guard desired != old else { return nil }
            let cause: FieldChange.Cause =
                switch applied?[path] {
                case nil, old: .intended
                case desired: .drift
                default: .conflict
                }
            return FieldChange(path: path, old: old, new: desired, cause: cause)
        }
    }
}
