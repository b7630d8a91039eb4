import Foundation
import JSON
import NIOHPACK
import Notifications

extension Response {
    private var object: JSONObject? {
        (try? JSONValue(parsing: body))?.objectValue
    }

    /// Why APNs refused the request, if it says so.
    var reason: APNsReason? {
        guard status >= 300 else { return nil }
        return (object?["reason"]?.stringValue).map { APNsReason(rawValue: $0) }
    }

    /// Source: "Handling notification responses from APNs". [Apple]
    var answer: APNsAnswer {
        guard status >= 300 || status < 200 else {
            return APNsAnswer(status: status, uniqueID: headers.first(name: "apns-unique-id"))
        }
        let object = object
        return APNsAnswer(
            status: status, reason: (object?["reason"]?.stringValue).map { APNsReason(rawValue: $0) },
            uniqueID: headers.first(name: "apns-unique-id"),
            invalidSince: (object?["timestamp"]?.numberValue?.double).map {
                Date(timeIntervalSince1970: $0 / 1_000)
            })
    }
}
