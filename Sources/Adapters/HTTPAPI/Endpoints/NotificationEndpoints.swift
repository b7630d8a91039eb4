import Administration
import Formats
import Foundation
import HTTPTypes
import Invocation
import Lookups
import Notifications
import Tenancy

/// The endpoints that send, trace and cancel notifications.
struct NotificationEndpoints: Sendable {
    private let notifications: NotificationIntake?

    /// - Parameter notifications: Nil if the server cannot send. Then every endpoint returns `notifications_not_configured`.
    init(_ notifications: NotificationIntake?) {
        self.notifications = notifications
    }

    var endpoints: [Endpoint] { [sendEndpoint, traceEndpoint, cancelEndpoint] }

    /// The endpoint that sends a notification. It requires the tenant's index.
    var sendEndpoint: Endpoint {
        Endpoint(
            .post, "/v1/notifications", .storedWithin(.notify, send), idempotency: .ofHandler,
            problems: [
                .invalidURL, .doesNotMatch, .unknownChannel, .notBusinessSpecific, .invalidNotification,
                .payloadTooLarge, .wrongAudience, .sandboxOnly, .unknownInstance, .quotaExceeded,
                .notificationsNotConfigured,
            ])
    }

    var traceEndpoint: Endpoint {
        Endpoint(
            .get, "/v1/notifications/{id}", .storedWithin(.notify, trace),
            problems: .parameters + [.unknownNotification, .notFound, .notificationsNotConfigured])
    }

    var cancelEndpoint: Endpoint {
        Endpoint(
            .delete, "/v1/notifications/{id}", .storedWithin(.notify, cancel),
            problems: .parameters + [
                .unknownNotification, .notFound, .notificationFinished, .notificationsNotConfigured,
            ])
    }

    private func configured() throws(Problem) -> NotificationIntake {
        guard let notifications else { throw .notificationsNotConfigured }
        return notifications
    }

    /// Returns 201 for a new notification, and 200 with the same body for a repeated request.
    ///
    /// With a restricted key, the intake accepts only notifications for the key's locations.
    private func send(
        _ request: AdmittedRequest, within _: Set<LocationIdentifier>?
    ) async throws -> APIResponse {
        let notifications = try configured()
        let key = try request.idempotencyKey()
        let submission: NotificationSubmission
        do throws(RequestDefect) {
            submission = try NotificationSubmission(
                request.body, idempotencyKey: key, of: request.tenant, within: request.caller.locations)
        } catch {
            throw Problem(.badRequest, error)
        }
        switch try await notifications.accept(submission, in: request.table, at: request.now) {
        case .accepted(let trace): return APIResponse(.created, made: trace)
        case .repeated(let trace):
            var response = APIResponse(.ok, made: trace)
            response.headers[.idempotentReplayed] = "true"
            return response
        case .refused(let refusal): throw Problem(refusal)
        }
    }

    private func trace(
        _ request: AdmittedRequest, within locations: Set<LocationIdentifier>?
    ) async throws -> APIResponse {
        let notifications = try configured()
        let parameters = try request.queryParameters(named: ["after", "limit"])
        let last = try parameters.optional("after").map { text throws(Problem) in
            guard let uuid = UUID(text: text) else {
                throw .field("after", code: "invalid_parameter", "the parameter must be a delivery's ID")
            }
            return DeliveryID(uuid)
        }
        let limit = try parameters.pageLength()
        guard
            let trace = try await notifications.trace(
                try id(of: request), of: request.tenant, within: locations, after: last, limit: limit)
        else { throw Problem.unknownNotification }
        return APIResponse(uncached: JSONValue.object(trace.json).serialized())
    }

    /// Returns the notification after its cancellation.
    private func cancel(
        _ request: AdmittedRequest, within locations: Set<LocationIdentifier>?
    ) async throws -> APIResponse {
        let notifications = try configured()
        try request.refuseParameters()
        let id = try id(of: request)
        switch try await notifications.cancel(
            id, of: request.tenant, within: locations, by: request.actor.name)
        {
        case .unknown: throw Problem.unknownNotification
        case .finished:
            throw Problem(
                .conflict, "notification_finished", "all deliveries of the notification are finished")
        case .cancelled: break
        }
        guard
            let trace = try await notifications.trace(
                id, of: request.tenant, within: locations, limit: QueryParameters.pageLength)
        else { throw Problem.unknownNotification }
        return APIResponse(uncached: JSONValue.object(trace.json).serialized())
    }

    private func id(of request: AdmittedRequest) throws(Problem) -> NotificationID {
        guard let uuid = UUID(text: request.parameter("id")) else { throw .unknownNotification }
        return NotificationID(uuid)
    }
}

extension Problem {
    fileprivate static let unknownNotification = Problem(
        .notFound, "unknown_notification", "no notification has this ID")
}

extension APIResponse {
    fileprivate init(_ status: HTTPResponse.Status, made trace: NotificationTrace) {
        self.init(status, uncached: JSONValue.object(trace.response).serialized())
        headers[.location] = "/v1/notifications/\(trace.notification.id)"
    }
}
