import Foundation
import Invocation
import JSON
import Notifications

/// The members of a request that say what a notification is and where it leads, whether it is composed or sent.
struct NotificationMembers {
    private let url: String
    private let aps: JSONObject
    private let custom: JSONObject
    private let headers: JSONObject

    init(_ body: inout JSONObjectReader) throws(JSONFieldError) {
        url = try body.requiredString("url")
        aps = try body.requiredMembers("aps")
        custom = try body.optionalMembers("custom") ?? [:]
        headers = try body.optionalMembers("headers") ?? [:]
    }

    func request(launchedAt: Date? = nil, isBroadcast: Bool = false) throws(Problem) -> NotificationRequest {
        NotificationRequest(
            url: try InvocationURL(requested: url), aps: aps, custom: custom, headers: headers,
            launchedAt: launchedAt, isBroadcast: isBroadcast)
    }
}
