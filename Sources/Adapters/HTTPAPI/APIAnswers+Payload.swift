import APNsPayload
import Encodings
public import Foundation
import HTTPTypes
import Invocation
public import JSON
import Notifications
public import Routing

extension APIAnswers {
    /// `POST /v1/payloads`: the payload and headers of a notification, as APNs takes them.
    public func compose(
        _ body: JSONObject, in table: TenantTable, at now: Date
    ) throws(Problem) -> [UInt8] {
        let (request, launchedAt) = try NotificationRequest.read(body) { rest throws(JSONFieldError) in
            try rest.optionalDate("launchedAt")
        }
        do throws(CompositionRefusal) {
            let notification = try composer.compose(request, launchedAt: launchedAt, in: table, at: now)
            return JSONValue(notification).serialized()
        } catch {
            throw Problem(error)
        }
    }
}

extension JSONValue {
    fileprivate init(_ notification: ComposedNotification) {
        var headers = JSONObject()
        for field in notification.headers.fields { headers[field.name] = .string(field.value) }
        self = [
            "payload": notification.payload.json,
            "headers": .object(headers),
            "experience": JSONValue(notification.experience),
            "size": JSONValue(notification.payload.bytes.count),
            "warnings": .array(
                notification.warnings.map { ["code": .string($0.code), "detail": .string($0.description)] }),
        ]
    }
}

extension JSONObjectReader {
    /// Takes a date and time of RFC 3339, such as `2026-03-01T12:30:00Z`.
    mutating func optionalDate(_ key: String) throws(JSONFieldError) -> Date? {
        guard let text = try optionalString(key) else { return nil }
        guard let date = Date(rfc3339: text) else {
            throw .invalid(
                path: path(of: key), reason: "must be a date and time such as 2026-03-01T12:30:00Z")
        }
        return date
    }
}

extension Problem {
    init(_ refusal: CompositionRefusal) {
        var members = JSONObject()
        switch refusal {
        case .doesNotMatch, .launchTooLongAgo: break
        case .notBusinessSpecific(let matched, let register):
            members["experience"] = JSONValue(matched)
            members["register"] = register.map { .string($0.canonical) }
        case .invalid(.payloadTooLarge(let size, let limit)):
            members["size"] = JSONValue(size)
            members["limit"] = JSONValue(limit)
        case .invalid(let error):
            members["field"] = error.field.map(JSONValue.string)
        }
        self.init(.unprocessableContent, refusal.code, refusal.description, members: members)
    }
}
