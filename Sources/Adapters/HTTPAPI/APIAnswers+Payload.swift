import Foundation
import HTTPTypes
import JSON
import Notifications
import Routing

extension APIAnswers {
    /// `POST /v1/payloads`: the payload and headers of a notification, as APNs takes them.
    func compose(_ body: JSONObject, in table: TenantTable, at now: Date) throws(Problem) -> [UInt8] {
        let request: NotificationRequest
        do throws(RequestDefect) {
            request = try NotificationRequest(body)
        } catch {
            throw Problem(.badRequest, error)
        }
        switch composer.compose(request, in: table, at: now) {
        case .composed(let notification): return JSONValue.object(notification.json).serialized()
        case .refused(let refusal): throw Problem(.unprocessableContent, refusal)
        }
    }
}
