import APNsPayload
import Formats
import PropertyTesting

/// Makes random dictionaries that are valid for a push type.
struct RandomAPS {
    private var generator: SplitMix64

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    mutating func alertNotification() -> APS {
        var aps = common()
        aps.sound = sound()
        if aps.badge == nil || generator.oneIn(2) {
            aps.alert = generator.oneIn(4) ? .body("x" + text()) : .parts(parts())
        }
        aps.relevanceScore = maybe { Double($0.below(1_001)) / 1_000 }
        return aps
    }

    mutating func liveActivityNotification() -> APS {
        var aps = common()
        var activity = LiveActivity(
            timestamp: generator.below(2_000_000_000), event: event(), contentState: object(),
            staleDate: maybe { $0.below(2_000_000_000) }, dismissalDate: maybe { $0.below(2_000_000_000) })
        if activity.event == .end, generator.oneIn(2) {
            activity.contentState = nil
        }
        aps.liveActivity = activity
        var parts = parts()
        parts.sound = maybe { _ in "HeroDown.mp4" }
        aps.alert = generator.oneIn(4) ? .body("x" + text()) : .parts(parts)
        aps.relevanceScore = maybe { Double(bitPattern: $0.next()) }.flatMap { $0.isFinite ? $0 : nil }
        return aps
    }

    private mutating func common() -> APS {
        APS(
            badge: maybe { $0.below(100) }, threadID: maybe { "t\($0.below(9))" },
            category: maybe { "c\($0.below(9))" }, contentAvailable: generator.oneIn(3),
            mutableContent: generator.oneIn(3),
            targetContentID: maybe { "https://example.com/\($0.below(9))" },
            interruptionLevel: maybe { InterruptionLevel.allCases[$0.below(4)] },
            filterCriteria: maybe { "f\($0.below(9))" })
    }

    private mutating func event() -> LiveActivity.Event {
        switch generator.below(3) {
        case 0: .end
        case 1: .update
        default:
            .start(
                LiveActivity.Start(
                    attributesType: "Attributes", attributes: object(),
                    updates: [nil, .token, .channel("dHN0")][generator.below(3)]))
        }
    }

    private mutating func parts() -> Alert.Parts {
        var parts = Alert.Parts(
            title: alertText(), subtitle: alertText(), body: alertText(), launchImage: maybe { _ in "Launch" }
        )
        if parts.title == nil, parts.subtitle == nil, parts.body == nil {
            parts.body = .plain(text())
        }
        return parts
    }

    private mutating func alertText() -> Alert.Text? {
        switch generator.below(3) {
        case 0: nil
        case 1: .plain(text())
        default: .localized(key: "k" + text(), arguments: (0..<generator.below(3)).map { _ in text() })
        }
    }

    private mutating func sound() -> Sound? {
        switch generator.below(3) {
        case 0: nil
        case 1: .named("default")
        default:
            .dictionary(
                isCritical: generator.oneIn(2), name: "default", volume: maybe { Double($0.below(101)) / 100 }
            )
        }
    }

    private mutating func object() -> JSONObject {
        var object = JSONObject()
        for _ in 0..<generator.below(3) {
            object[text()] = [.string(text()), JSONValue(generator.below(9)), .null, ["": true]]
        }
        return object
    }

    private mutating func text() -> String {
        let pieces = ["", "a", "é", "e\u{301}", "\"", "\\", "\n", "%@", "\u{1F600}", "\u{1}"]
        return pieces[generator.below(pieces.count)] + pieces[generator.below(pieces.count)]
    }

    private mutating func maybe<Value>(_ make: (inout SplitMix64) -> Value) -> Value? {
        generator.oneIn(2) ? make(&generator) : nil
    }
}
