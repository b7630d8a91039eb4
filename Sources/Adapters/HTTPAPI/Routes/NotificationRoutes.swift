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

    var routes: [Route] {
        [
            Route(.post, "/v1/notifications", .stored(.notify, send)),
            Route(.get, "/v1/notifications/{id}", .stored(.notify, trace)),
        ]
    }

    private func configured() throws(Problem) -> NotificationAnswers {
        guard let notifications else { throw .notificationsNotConfigured }
        return notifications
    }

    /// 201 for a notification that is new; 200 with the same answer for a request that is repeated.
    private func send(_ request: AdmittedRequest) async throws -> Answer {
        let notifications = try configured()
        let keys = request.request.fields.idempotencyKeys
        guard keys.count < 2 else {
            throw Problem.field(
                "Idempotency-Key", code: "invalid_idempotency_key", "the field comes more than once")
        }
        let sent = try await notifications.send(
            try request.body(), idempotencyKey: keys.first, in: request.table, at: request.now)
        var answer = Answer(sent.isRepeated ? .ok : .created, uncached: sent.body)
        answer.headers[.location] = "/v1/notifications/\(sent.id)"
        if sent.isRepeated { answer.headers[.idempotentReplayed] = "true" }
        return answer
    }

    private func trace(_ request: AdmittedRequest) async throws -> Answer {
        let notifications = try configured()
        let parameters = try QueryParameters(request.query.utf8.span, named: "after", "limit")
        return Answer(
            uncached: try await notifications.trace(
                request.parameter("id"), after: parameters.optional("after"),
                limit: parameters.optional("limit"), of: request.tenant))
    }
}
