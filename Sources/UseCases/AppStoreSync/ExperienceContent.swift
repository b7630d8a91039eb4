public import Cards
public import JSON

/// What App Store Connect is to hold of an advanced experience, but for its URL.
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
    /// What is nil has no path: it is not managed.
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

    /// What it says itself, and what it does not as the other does, so that a request takes nothing away at Apple that
    /// nobody here has a say in.
    public func inheriting(_ other: ExperienceContent) -> ExperienceContent {
        ExperienceContent(card.inheriting(other.card), isPoweredBy: isPoweredBy)
    }

    /// The changes that lead from what App Store Connect has to this, by path; fields that this says nothing of are ignored.
    /// - Parameter applied: what was last registered, nil when Doorstep has never written the experience.
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
