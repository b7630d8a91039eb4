import Invocation
import JSON
import Notifications

extension NotificationRequest {
    /// The notification that a body says, whether it is composed or sent, and what else it says, as `readRest` takes it.
    static func read<Rest>(
        _ body: JSONObject, and readRest: (inout JSONObjectReader) throws(JSONFieldError) -> Rest
    ) throws(Problem) -> (NotificationRequest, Rest) {
        let url: String
        let aps: JSONObject
        let custom: JSONObject
        let headers: JSONObject
        let rest: Rest
        do throws(JSONFieldError) {
            var body = JSONObjectReader(body)
            url = try body.requiredString("url")
            aps = try body.requiredMembers("aps")
            custom = try body.optionalMembers("custom") ?? [:]
            headers = try body.optionalMembers("headers") ?? [:]
            rest = try readRest(&body)
            try body.finish()
        } catch {
            throw Problem(error)
        }
        let request = NotificationRequest(
            url: try InvocationURL(requested: url), aps: aps, custom: custom, headers: headers)
        return (request, rest)
    }
}
