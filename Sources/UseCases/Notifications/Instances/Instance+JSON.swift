import APNsPayload
public import Formats
import Foundation
import Invocation
import Tenancy

extension Instance {
    public var json: JSONObject {
        [
            "id": .string(id.description), "clip": .string(clip.text), "app": .string(app.rawValue),
            "environment": .string(environment.rawValue), "permission": .string(permission.rawValue),
            "launchedAt": JSONValue(launchedAt),
            "reachableUntil": reachableUntil.map { JSONValue($0) } ?? .null,
            "hasToken": .bool(hasToken), "startTokens": .array(startableTypes.map(JSONValue.string)),
            "activities": .array(activities.map(JSONValue.string)),
            "launches": .array(launches.map { .object($0.json) }),
        ]
    }
}

extension InstanceSummary {
    /// The summary with the same member names, and with the numbers of launches and activities.
    public var json: JSONObject {
        [
            "id": .string(id.description), "clip": .string(clip.text), "app": .string(app.rawValue),
            "environment": .string(environment.rawValue), "permission": .string(permission.rawValue),
            "launchedAt": JSONValue(launchedAt), "hasToken": .bool(hasToken),
            "launchCount": JSONValue(launchCount), "activityCount": JSONValue(activityCount),
        ]
    }
}

extension Launch {
    fileprivate var json: JSONObject {
        [
            "url": .string(url), "experience": .string(experience),
            "location": location.map { .string($0.text) } ?? .null, "launchedAt": JSONValue(launchedAt),
            "confirmedAt": confirmedAt.map { JSONValue($0) } ?? .null,
        ]
    }
}
