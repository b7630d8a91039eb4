import Foundation
import HTTPTypes
import Notifications
import Tenancy

/// Where notifications are sent, and followed.
struct NotificationRoutes: Sendable {
    private let notifications: NotificationAnswers?

    /// - Parameter notifications: Nil where nothing can be sent: every route says so then.
    init(_ notifications: NotificationAnswers?) {
        self.notifications = notifications
    }

    var routes: [StoredRoute] {
        [
            StoredRoute(.post, "/v1/notifications", .notify, send),
            StoredRoute(.get, "/v1/notifications/{id}", .notify, trace),
        ]
    }

    private func configured() throws(Problem) -> NotificationAnswers {
        guard let notifications else { throw .notificationsNotConfigured }
        return notifications
    }

    /// 201 for a notification that is new; 200 with the same answer for a request that is repeated.
    private func send(_ request: StoredRequest) async throws -> Answer {
        let sent = try await configured().send(
            request.body, idempotencyKey: request.idempotencyKey, in: request.table,
            at: request.now)
        var answer = Answer(sent.isRepeated ? .ok : .created, uncached: sent.body)
        answer.headers[.location] = "/v1/notifications/\(sent.id)"
        if sent.isRepeated, let name = HTTPField.Name("Idempotent-Replayed") { answer.headers[name] = "true" }
        return answer
    }

    private func trace(_ request: StoredRequest) async throws -> Answer {
        let notifications = try configured()
        let parameters = try QueryParameters(request.query.utf8.span, named: "after", "limit")
        return Answer(
            uncached: try await notifications.trace(
                request.parameter("id"), after: parameters.optional("after"),
                limit: parameters.optional("limit"), of: request.tenant))
    }
}
