import AppAttest
public import Formats
import Foundation
import Invocation
import Receipts

extension RecordedConfirmation {
    public var json: JSONObject {
        [
            "attestation": .string(record.attestation.rawValue),
            "id": .string(id.uuidString.lowercased()), "minute": JSONValue(record.minute),
            "location": record.location.map { .string($0.text) } ?? .null,
            "outcome": .string(record.outcome.rawValue), "source": .string(record.source.rawValue),
        ]
    }
}

extension ConfirmationCounts {
    public var json: JSONObject {
        var json: JSONObject = ["day": .string(String(day.rfc3339.prefix(10)))]
        for outcome in Confirmation.Outcome.allCases {
            json[outcome.rawValue] = JSONValue(counts[outcome] ?? 0)
        }
        json["total"] = JSONValue(counts.values.reduce(0, +))
        return json
    }
}
