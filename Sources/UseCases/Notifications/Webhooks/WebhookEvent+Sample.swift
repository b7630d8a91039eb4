public import Formats
import Foundation

extension WebhookEvent {
    /// The types of all messages: the events, and ``test``.
    public static var messageTypes: [String] { allCases.map(\.rawValue) + [test] }

    /// The data of a sample message. The OpenAPI document has it as the example of the event.
    public var sample: JSONObject {
        switch self {
        case .deliveryFinished:
            [
                "deliveries": [
                    [
                        "id": "0195511f-d940-7000-8000-0000000000b1",
                        "notification": "0195511f-d940-7000-8000-0000000000c1",
                        "instance": "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10", "state": "delivered",
                        "reason": .null, "attempts": 1,
                    ]
                ]
            ]
        case .locationChanged: Self.change("update", "locations", ["restaurant_a"])
        case .experienceChanged:
            Self.change(
                "insert", "experiences",
                [["kind": "advanced", "url": "https://example.com/restaurants/restaurant_a"]])
        case .domainProved, .domainContested, .domainLapsed, .domainWithdrawn:
            Self.change("update", "domains", ["example.com"])
        case .keyRevoked: Self.change("update", "keys", ["0195511f-d940-7000-8000-0000000000d1"])
        case .confirmationRecorded:
            [
                "confirmations": [
                    [
                        "id": "0195511f-d940-7000-8000-0000000000e1", "minute": "2026-03-01T12:30:00Z",
                        "location": "restaurant_a", "outcome": "inRegion", "source": "nfc",
                        "attestation": "none",
                    ]
                ]
            ]
        case .webhookDisabled:
            [
                "webhook": "wh_0195511fd94070008000000000000012", "url": "https://example.com/hooks",
                "failingSince": "2026-02-26T12:30:00Z", "disabledAt": "2026-03-01T12:30:00Z",
                "reason": "it has failed for 3 days; last failure: it responded with status 503",
            ]
        case .appStoreDrift:
            [
                "clip": "com.example.MyApp.Clip", "checkedAt": "2026-03-01T12:30:00Z",
                "counts": ["changes": 1, "drifted": 1, "missing": 0, "unlisted": 0, "in_step": 41],
                "findings": 1, "urls": ["https://example.com/restaurants/restaurant_a"],
            ]
        }
    }

    /// The form of events that triggers of the database write.
    private static func change(_ action: String, _ member: String, _ names: [JSONValue]) -> JSONObject {
        ["action": .string(action), "count": JSONValue(names.count), member: .array(names)]
    }
}
