import APNsPayload
import Formats
import Foundation
import NIOHPACK

/// The response to a request.
struct Reply {
    let status: Int
    var reason: APNsReason?
    /// The header fields besides the request's ID.
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []

    static let accepted = Reply(status: 200)

    init(status: Int, fields: [(name: String, value: String)] = [], body: JSONObject? = nil) {
        self.status = status
        self.fields = fields
        if let body { self.body = JSONValue.object(body).serialized() }
    }

    init(_ refusal: Refusal) {
        status = refusal.reason.status ?? 400
        reason = refusal.reason
        var object: JSONObject = ["reason": .string(refusal.reason.rawValue)]
        if let since = refusal.invalidSince {
            object["timestamp"] = JSONValue(Int((since.timeIntervalSince1970 * 1_000).rounded()))
        }
        fields = [("content-type", "application/json")]
        body = JSONValue.object(object).serialized()
    }
}
