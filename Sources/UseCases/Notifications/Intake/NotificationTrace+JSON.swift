import APNsPayload
public import Formats
import Foundation
import Invocation
import Tenancy

extension NotificationTrace {
    /// The allowed numbers of deliveries of a page.
    public static let pageLengths = 1...1_000

    /// The form in the response to the creation.
    public var response: JSONObject {
        json(of: [.queued, .skipped], deliveries: \.response)
    }

    /// With all that has happened since.
    public var json: JSONObject {
        var object = json(of: DeliveryState.allCases, deliveries: \.json)
        object["audience"] = .object(notification.audience.json)
        object["cancelledAt"] = notification.cancelledJSON
        object["next"] =
            hasMore ? deliveries.last.map { .string($0.id.description) } ?? .null : .null
        return object
    }

    private func json(
        of states: [DeliveryState], deliveries json: (RecordedDelivery) -> JSONObject
    ) -> JSONObject {
        let target = notification.target
        var object = notification.json
        object["complete"] = .bool(isComplete)
        object["counts"] = .object(JSONObject(counts, including: states))
        object["deliveries"] = .array(
            deliveries.map { delivery in
                var object = json(delivery)
                if delivery.target == nil { object["target"] = target }
                return .object(object)
            })
        return object
    }
}

extension RecordedNotification {
    /// As in a trace, without payload and results.
    public var listed: JSONObject {
        var object = json
        object["payload"] = nil
        object["location"] = location.map { .string($0.text) } ?? .null
        object["audience"] = .object(audience.json)
        object["cancelledAt"] = cancelledJSON
        return object
    }

    fileprivate var cancelledJSON: JSONValue {
        cancelledAt.map { .string($0.rfc3339WithMilliseconds) } ?? .null
    }

    fileprivate var json: JSONObject {
        [
            "id": .string(id.description),
            "createdAt": .string(createdAt.rfc3339WithMilliseconds),
            "url": .string(url),
            "experience": [
                "url": .string(experienceURL), "kind": .string(experienceKind.rawValue),
                "clip": .string(clip.text),
            ],
            "headers": JSONValue(audience.isBroadcast ? headers.broadcastFields : headers.fields),
            "payload": (try? JSONValue(parsing: payload)) ?? .null,
            "warnings": .array(
                warnings.map { ["code": .string($0.code), "detail": .string($0.detail)] }),
        ]
    }

    /// The payload's own `target-content-id`, or null.
    fileprivate var target: JSONValue {
        let aps = (try? JSONValue(parsing: payload))?.objectValue?["aps"]?.objectValue
        return aps?["target-content-id"] ?? .null
    }
}

extension RecordedDelivery {
    /// The form in the response to the creation.
    fileprivate var response: JSONObject {
        [
            "id": .string(id.description),
            "instance": instance.map { .string($0.description) } ?? .null,
            "state": .string(state.rawValue),
            "reason": reason.map { .string($0) } ?? .null,
            "target": target.map { .string($0) } ?? .null,
            "expiresAt": expiresAt.map { .string($0.rfc3339WithMilliseconds) } ?? .null,
            "warnings": .array(warnings.map(JSONValue.string)),
        ]
    }

    /// With all that has happened since.
    fileprivate var json: JSONObject {
        var object = response
        object["environment"] = .string(environment.rawValue)
        object["receiver"] = ["kind": .string(receiver.kind), "name": .string(receiver.name)]
        object["attempts"] = JSONValue(attempt)
        object["dueAt"] = dueAt.map { .string($0.rfc3339WithMilliseconds) } ?? .null
        object["finishedAt"] = finishedAt.map { .string($0.rfc3339WithMilliseconds) } ?? .null
        object["answers"] = .array(responses.map { .object($0.json) })
        return object
    }
}

extension RetryCounts {
    public var json: JSONObject {
        [
            "queued": JSONValue(queued), "tooLate": JSONValue(tooLate), "tokenDead": JSONValue(tokenDead),
            "hasMore": .bool(hasMore),
        ]
    }
}

extension ListedDelivery {
    /// As in a trace, with the notification it is of.
    public var json: JSONObject {
        var object = delivery.json
        object["notification"] = .string(notification.description)
        object["createdAt"] = .string(createdAt.rfc3339WithMilliseconds)
        return object
    }
}

extension DeliveryResponse {
    fileprivate var json: JSONObject {
        var object: JSONObject = [
            "attempt": JSONValue(attempt), "at": .string(at.rfc3339WithMilliseconds),
        ]
        switch result {
        case .answered(let status, let reason, let uniqueID):
            object["status"] = JSONValue(status)
            object["reason"] = reason.map { .string($0) } ?? .null
            object["uniqueID"] = uniqueID.map { .string($0) }
        case .failed(let failure):
            object["failure"] = .string(failure)
        }
        return object
    }
}

extension JSONObject {
    /// The number of deliveries in each state; skipped ones by reason.
    fileprivate init(_ counts: [DeliveryCount], including states: [DeliveryState]) {
        self = [:]
        for state in states where state != .skipped { self[state.rawValue] = 0 }
        var skipped = JSONObject()
        for count in counts {
            if count.state == .skipped {
                skipped[count.reason ?? ""] = JSONValue(count.count)
            } else {
                let before = self[count.state.rawValue]?.numberValue?.int ?? 0
                self[count.state.rawValue] = JSONValue(before + count.count)
            }
        }
        self["skipped"] = .object(skipped)
    }
}
