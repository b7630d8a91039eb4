public import Formats

/// The `aps` dictionary: all members of a payload that the system itself reads.
///
/// Values can be set freely; encoding refuses values that contradict each other or the push type. Two
/// values are equal if their encoded bytes are.
///
/// Source: "Generating a remote notification", table 1. [Apple]
public struct APS: Sendable {
    public var alert: Alert?
    /// The number on the icon; 0 removes it.
    public var badge: Int?
    public var sound: Sound?
    /// Groups notifications.
    public var threadID: String?
    /// A category of actions that the App Clip registered when it was launched.
    public var category: String?
    public var contentAvailable: Bool
    public var mutableContent: Bool
    /// For an App Clip, a URL that matches one of its advanced experiences: it routes the notification to the
    /// right experience when one App Clip serves many businesses.
    public var targetContentID: String?
    public var interruptionLevel: InterruptionLevel?
    /// From 0 to 1; any finite number for a Live Activity.
    public var relevanceScore: Double?
    /// The criteria that a Focus filter of the App Clip evaluates.
    public var filterCriteria: String?
    public var liveActivity: LiveActivity?

    public init(
        alert: Alert? = nil, badge: Int? = nil, sound: Sound? = nil, threadID: String? = nil,
        category: String? = nil, contentAvailable: Bool = false, mutableContent: Bool = false,
        targetContentID: String? = nil, interruptionLevel: InterruptionLevel? = nil,
        relevanceScore: Double? = nil, filterCriteria: String? = nil, liveActivity: LiveActivity? = nil
    ) {
        self.alert = alert
        self.badge = badge
        self.sound = sound
        self.threadID = threadID
        self.category = category
        self.contentAvailable = contentAvailable
        self.mutableContent = mutableContent
        self.targetContentID = targetContentID
        self.interruptionLevel = interruptionLevel
        self.relevanceScore = relevanceScore
        self.filterCriteria = filterCriteria
        self.liveActivity = liveActivity
    }
}

extension APS: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.json == right.json
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(json)
    }
}

// MARK: - JSON

extension APS {
    /// Reads the dictionary with Apple's own keys.
    ///
    /// - Throws: `PayloadError.invalid` for a key that is unknown, missing or of the wrong type.
    public init(json: JSONObject) throws(PayloadError) {
        do {
            try self.init(reading: JSONObjectReader(json, path: "aps"))
        } catch {
            throw PayloadError(error)
        }
    }

    private init(reading reader: JSONObjectReader) throws(JSONFieldError) {
        self.init()
        var reader = reader
        liveActivity = try LiveActivity(from: &reader)
        let style: Alert.Style = liveActivity == nil ? .notification : .liveActivity
        if let value = reader.optionalValue("alert") {
            alert = try Alert(json: value, key: "alert", of: reader, style: style)
        }
        badge = try reader.optionalInteger("badge")
        if let value = reader.optionalValue("sound") {
            sound = try Sound(json: value, key: "sound", of: reader)
        }
        threadID = try reader.optionalString("thread-id")
        category = try reader.optionalString("category")
        contentAvailable = try reader.optionalFlag("content-available") ?? false
        mutableContent = try reader.optionalFlag("mutable-content") ?? false
        targetContentID = try reader.optionalString("target-content-id")
        interruptionLevel = try reader.optionalCase("interruption-level", of: InterruptionLevel.self)
        relevanceScore = try reader.optionalDouble("relevance-score")
        filterCriteria = try reader.optionalString("filter-criteria")
        do {
            try reader.finish()
        } catch {
            // APNs ignores custom keys in the dictionary, so that a misspelt key would go unnoticed.
            throw .invalid(
                path: error.path, reason: "is not one of Apple's keys; custom keys belong beside aps")
        }
    }

    /// The dictionary with Apple's own keys; flags that are off are left out.
    public var json: JSONObject {
        // In the order of the keys, which is the cheapest to build.
        var object = JSONObject(minimumCapacity: 8)
        let style: Alert.Style = liveActivity == nil ? .notification : .liveActivity
        object["alert"] = alert?.json(style: style)
        object["badge"] = badge.map { JSONValue($0) }
        object["category"] = category.map { .string($0) }
        object["content-available"] = contentAvailable ? 1 : nil
        object["filter-criteria"] = filterCriteria.map { .string($0) }
        object["interruption-level"] = interruptionLevel.map { .string($0.rawValue) }
        object["mutable-content"] = mutableContent ? 1 : nil
        object["relevance-score"] = relevanceScore.flatMap { JSONNumber($0) }.map { .number($0) }
        object["sound"] = sound?.json
        object["target-content-id"] = targetContentID.map { .string($0) }
        object["thread-id"] = threadID.map { .string($0) }
        liveActivity?.write(into: &object)
        return object
    }
}
