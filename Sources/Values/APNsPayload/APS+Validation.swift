import Formats

extension APS {
    /// The strings that are names, which must not be empty.
    private static let names: Set<String> = [
        "aps.alert.body.loc-key", "aps.alert.launch-image", "aps.alert.loc-key", "aps.alert.sound",
        "aps.alert.subtitle-loc-key", "aps.alert.subtitle.loc-key", "aps.alert.title-loc-key",
        "aps.alert.title.loc-key", "aps.attributes-type", "aps.category", "aps.filter-criteria",
        "aps.input-push-channel", "aps.sound", "aps.sound.name", "aps.target-content-id", "aps.thread-id",
    ]

    /// The maximum number of parts of their paths.
    private static let longestName = 4

    /// Refuses values that APNs or the system would reject, ignore or misread. `json` is the dictionary that is sent.
    func validate(_ json: JSONObject, for pushType: PushType) throws(PayloadError) {
        try validateValues(for: pushType)
        try validateTexts(json)
        switch pushType {
        case .alert: try validateAlertNotification()
        case .background: try validateBackgroundNotification()
        case .liveActivity: try validateLiveActivityNotification()
        default: break
        }
        if liveActivity != nil, pushType != .liveActivity {
            throw .invalid(field: "aps.event", reason: "needs the push type liveactivity")
        }
    }

    private func validateValues(for pushType: PushType) throws(PayloadError) {
        if let badge, badge < 0 {
            throw .invalid(field: "aps.badge", reason: "must not be negative")
        }
        if case .dictionary(_, _, let volume?) = sound, !(0...1).contains(volume) {
            throw .invalid(field: "aps.sound.volume", reason: "must be from 0 to 1")
        }
        if let relevanceScore {
            if !relevanceScore.isFinite {
                throw .invalid(field: "aps.relevance-score", reason: "must be finite")
            }
            // "If your remote notification updates a Live Activity, you can set any Double value." [Apple]
            if pushType != .liveActivity, !(0...1).contains(relevanceScore) {
                throw .invalid(field: "aps.relevance-score", reason: "must be from 0 to 1")
            }
        }
        if let liveActivity {
            try Self.validate(time: liveActivity.timestamp, "timestamp")
            try Self.validate(time: liveActivity.staleDate, "stale-date")
            try Self.validate(time: liveActivity.dismissalDate, "dismissal-date")
        }
    }

    private static func validate(time: Int?, _ key: String) throws(PayloadError) {
        if let time { try EpochSeconds.validate(time, field: "aps.\(key)") }
    }

    /// Refuses empty names and empty texts. [ours]
    private func validateTexts(_ json: JSONObject) throws(PayloadError) {
        switch alert {
        case nil: break
        case .body(let text):
            if text.isEmpty {
                throw .invalid(field: "aps.alert", reason: "must not be empty")
            }
        case .parts(let parts):
            if parts.title == nil, parts.subtitle == nil, parts.body == nil {
                throw .invalid(field: "aps.alert", reason: "needs a title, a subtitle or a body")
            }
            if parts.sound != nil, liveActivity == nil {
                throw .invalid(field: "aps.alert.sound", reason: "is allowed only in a Live Activity's alert")
            }
        }
        let value = JSONValue.object(json)
        if value.containsString(where: { $0.isEmpty || $0.containsNull }) {
            try Self.validateTexts(in: value, depth: 1) { "aps" }
        }
    }

    /// - Parameters:
    ///   - depth: The number of parts of the path.
    ///   - path: The value's path; composed only if the value is refused, or if the path is short.
    private static func validateTexts(
        in value: JSONValue, depth: Int, at path: () -> String
    ) throws(PayloadError) {
        switch value {
        case .string(let text):
            if text.containsNull {
                throw .invalid(field: path(), reason: "must not contain U+0000")
            }
            if text.isEmpty, depth <= longestName, names.contains(path()) {
                throw .invalid(field: path(), reason: "must not be empty")
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                try validateTexts(in: element, depth: depth + 1) { JSONPath.element(index, of: path()) }
            }
        case .object(let members):
            for (key, value) in members {
                try validateTexts(in: value, depth: depth + 1) { JSONPath.member(key, of: path()) }
            }
        case .null, .bool, .number:
            break
        }
    }

    /// "Notifications that trigger a user interaction—for example, an alert, badge, or sound." [Apple]
    private func validateAlertNotification() throws(PayloadError) {
        if alert == nil, badge == nil, sound == nil, liveActivity == nil {
            throw .invalid(field: "aps", reason: "needs an alert, a badge or a sound")
        }
    }

    /// "Specify the value 1 and don't include the alert, badge, or sound keys." [Apple]
    private func validateBackgroundNotification() throws(PayloadError) {
        for (key, isPresent) in [("alert", alert != nil), ("badge", badge != nil), ("sound", sound != nil)]
        where isPresent {
            throw .invalid(field: "aps.\(key)", reason: "contradicts the push type background")
        }
        if !contentAvailable {
            throw .invalid(
                field: "aps.content-available", reason: "must be 1 for the push type background")
        }
    }

    private func validateLiveActivityNotification() throws(PayloadError) {
        guard let liveActivity else {
            throw .invalid(field: "aps.event", reason: "is missing")
        }
        if case .start = liveActivity.event, alert == nil {
            throw .invalid(field: "aps.alert", reason: "is needed to start a Live Activity")
        }
        if liveActivity.contentState == nil, liveActivity.event != .end {
            throw .invalid(field: "aps.content-state", reason: "is missing")
        }
    }
}

extension String {
    /// Whether the text contains U+0000; searches the bytes as a whole if they are contiguous.
    fileprivate var containsNull: Bool {
        utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? utf8.contains(0)
    }
}
