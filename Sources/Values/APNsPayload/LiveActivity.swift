public import Formats

/// The keys of the `aps` dictionary that start, update or end a Live Activity.
///
/// Times are in seconds since 1970. Source: "Starting and updating Live Activities with ActivityKit push
/// notifications". [Apple]
public struct LiveActivity: Sendable, Hashable {
    /// The time of sending; the system shows the content with the latest.
    public var timestamp: Int
    public var event: Event
    /// The content, as the App Clip's `ActivityAttributes.ContentState` decodes it; only an end can do without.
    public var contentState: JSONObject?
    /// The time at which the content becomes stale.
    public var staleDate: Int?
    /// The time at which the system removes an ended activity: up to 4 hours after its end; immediately if
    /// it is in the past.
    public var dismissalDate: Int?

    public init(
        timestamp: Int, event: Event, contentState: JSONObject?, staleDate: Int? = nil,
        dismissalDate: Int? = nil
    ) {
        self.timestamp = timestamp
        self.event = event
        self.contentState = contentState
        self.staleDate = staleDate
        self.dismissalDate = dismissalDate
    }

    public enum Event: Sendable, Hashable {
        case start(Start)
        case update
        case end
    }

    /// The data that the system needs to create an activity, besides an alert.
    public struct Start: Sendable, Hashable {
        /// The name of the App Clip's `ActivityAttributes` structure.
        public var attributesType: String
        public var attributes: JSONObject
        /// The way in which the activity requests later updates, from iOS 18.
        public var updates: Updates?

        public init(attributesType: String, attributes: JSONObject, updates: Updates? = nil) {
            self.attributesType = attributesType
            self.attributes = attributes
            self.updates = updates
        }
    }

    public enum Updates: Sendable, Hashable {
        /// By a push token of its own (`input-push-token`).
        case token
        /// By broadcasts on the channel with this ID (`input-push-channel`).
        case channel(String)
    }
}

// MARK: - JSON

extension LiveActivity {
    private enum EventName: String, CaseIterable {
        case start
        case update
        case end
    }

    /// Takes the keys of a Live Activity out of the `aps` dictionary; nil if there are none.
    init?(from aps: inout JSONObjectReader) throws(JSONFieldError) {
        let timestamp = try aps.optionalInteger("timestamp")
        let event = try aps.optionalCase("event", of: EventName.self)
        contentState = try aps.optionalMembers("content-state")
        staleDate = try aps.optionalInteger("stale-date")
        dismissalDate = try aps.optionalInteger("dismissal-date")
        let attributesType = try aps.optionalString("attributes-type")
        let attributes = try aps.optionalMembers("attributes")
        let inputToken = try aps.optionalFlag("input-push-token")
        let inputChannel = try aps.optionalString("input-push-channel")

        let startKey =
            attributesType.map { _ in "attributes-type" } ?? attributes.map { _ in "attributes" }
            ?? inputToken.map { _ in "input-push-token" } ?? inputChannel.map { _ in "input-push-channel" }
        if timestamp == nil, event == nil, contentState == nil, staleDate == nil, dismissalDate == nil,
            startKey == nil
        {
            return nil
        }
        guard let timestamp else { throw .missing(path: aps.path(of: "timestamp")) }
        self.timestamp = timestamp
        switch event {
        case nil:
            throw .missing(path: aps.path(of: "event"))
        case .start:
            guard let attributesType else { throw .missing(path: aps.path(of: "attributes-type")) }
            guard let attributes else { throw .missing(path: aps.path(of: "attributes")) }
            let updates: Updates?
            switch (inputToken ?? false, inputChannel) {
            case (true, nil): updates = .token
            case (false, let channel?): updates = .channel(channel)
            case (false, nil): updates = nil
            case (true, _?):
                throw .invalid(
                    path: aps.path(of: "input-push-channel"), reason: "contradicts input-push-token")
            }
            self.event = .start(
                Start(attributesType: attributesType, attributes: attributes, updates: updates))
        case .update, .end:
            if let startKey {
                throw .invalid(path: aps.path(of: startKey), reason: "is allowed only for the event start")
            }
            self.event = event == .end ? .end : .update
        }
    }

    func write(into aps: inout JSONObject) {
        aps["timestamp"] = JSONValue(timestamp)
        aps["content-state"] = contentState.map { .object($0) }
        aps["stale-date"] = staleDate.map { JSONValue($0) }
        aps["dismissal-date"] = dismissalDate.map { JSONValue($0) }
        switch event {
        case .start(let start):
            aps["event"] = "start"
            aps["attributes-type"] = .string(start.attributesType)
            aps["attributes"] = .object(start.attributes)
            switch start.updates {
            case nil: break
            case .token: aps["input-push-token"] = 1
            case .channel(let id): aps["input-push-channel"] = .string(id)
            }
        case .update:
            aps["event"] = "update"
        case .end:
            aps["event"] = "end"
        }
    }
}
