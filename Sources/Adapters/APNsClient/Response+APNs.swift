import APNsPayload
import Formats
import Foundation
import NIOHPACK
import Notifications

extension Response {
    private var object: JSONObject? {
        (try? JSONValue(parsing: body))?.objectValue
    }

    /// The reason of APNs' refusal, if the response has one.
    var reason: APNsReason? {
        status >= 300 ? Self.reason(in: object) : nil
    }

    private static func reason(in object: JSONObject?) -> APNsReason? {
        // A proxy or server may pad the reason: `"PayloadTooLarge "` has been seen. [observed]
        let text = object?["reason"]?.stringValue?.trimmingCharacters(in: .whitespaces)
        return word(text).map { APNsReason(rawValue: $0) }
    }

    /// The text, if it is one to 64 ASCII letters, digits and hyphens, as all of APNs' reasons are: not every text can be
    /// stored.
    private static func word(_ text: String?) -> String? {
        guard let text, (1...64).contains(text.utf8.count) else { return nil }
        let isWord = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isWord ? text : nil
    }

    /// Milliseconds since 1970. A token cannot have become invalid before that, or more than a day after `now`.
    private static func time(in object: JSONObject?, now: Date) -> Date? {
        guard let milliseconds = object?["timestamp"]?.numberValue?.double else { return nil }
        let time = Date(timeIntervalSince1970: milliseconds / 1_000)
        return milliseconds >= 0 && time <= now.addingTimeInterval(86_400) ? time : nil
    }

    /// Source: "Handling notification responses from APNs". [Apple]
    func response(now: Date) -> APNsResponse {
        let uniqueID = Self.word(headers.first(name: "apns-unique-id"))
        guard status >= 300 || status < 200 else {
            return APNsResponse(status: status, uniqueID: uniqueID)
        }
        let object = object
        return APNsResponse(
            status: status, reason: Self.reason(in: object), uniqueID: uniqueID,
            invalidSince: Self.time(in: object, now: now))
    }
}
