import Formats
import Foundation
import HTTPTypes
import Lookups
import Notifications

extension APIResponses {
    /// `POST /v1/payloads`: the payload and headers of a notification, as APNs takes them.
    func compose(_ body: JSONObject, in table: TenantTable, at now: Date) throws(Problem) -> [UInt8] {
        let (request, launchedAt): (NotificationRequest, Date?)
        do throws(RequestDefect) {
            (request, launchedAt) = try NotificationRequest.reading(body)
        } catch {
            throw Problem(.badRequest, error)
        }
        do throws(CompositionRefusal) {
            let notification = try composer.compose(request, launchedAt: launchedAt, in: table, at: now)
            return JSONValue.object(notification.json).serialized()
        } catch {
            throw Problem(error)
        }
    }
}
