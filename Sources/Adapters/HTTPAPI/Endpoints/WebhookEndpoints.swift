import Administration
import Formats
import Foundation
import HTTPTypes
import Invocation
import Notifications
import Tenancy

/// The endpoints that manage a tenant's webhooks and list their messages.
struct WebhookEndpoints: Sendable {
    /// Nil if webhooks' secrets cannot be sealed. Then every endpoint returns `notifications_not_configured`.
    let registry: (any WebhookRegistry)?

    var endpoints: [Endpoint] {
        let webhook = "/v1/webhooks/{id}"
        return [
            Endpoint(
                .get, "/v1/webhooks", .stored(.read, list),
                problems: .parameters + [.notificationsNotConfigured]),
            Endpoint(
                .post, "/v1/webhooks", .stored(.manage, create), idempotency: .storedResponse,
                problems: .parameters + [.tooManyWebhooks, .notificationsNotConfigured]),
            Endpoint(
                .get, webhook, .stored(.read, show),
                problems: .parameters + [.unknownWebhook, .notificationsNotConfigured]),
            Endpoint(
                .patch, webhook, .stored(.manage, change),
                problems: .parameters + [
                    .unknownWebhook, .preconditionFailed, .quotaExceeded, .notificationsNotConfigured,
                ]),
            Endpoint(
                .delete, webhook, .stored(.manage, delete),
                problems: .parameters + [.unknownWebhook, .preconditionFailed, .notificationsNotConfigured]),
            Endpoint(
                .post, "\(webhook)/rotate", .stored(.manage, rotate), isBodyOptional: true,
                idempotency: .storedResponse,
                problems: .parameters + [.unknownWebhook, .notificationsNotConfigured]),
            Endpoint(
                .post, "\(webhook)/test", .stored(.manage, test), isBodyOptional: true,
                idempotency: .storedResponse,
                problems: .parameters + [.unknownWebhook, .webhookDisabled, .notificationsNotConfigured]),
            Endpoint(
                .get, "\(webhook)/messages", .stored(.read, messages),
                problems: .parameters + [.unknownWebhook, .notificationsNotConfigured]),
            Endpoint(
                .get, "\(webhook)/messages/{message}", .stored(.read, message),
                problems: .parameters + [.unknownWebhook, .notFound, .notificationsNotConfigured]),
            Endpoint(
                .post, "\(webhook)/replay", .stored(.manage, replay),
                problems: .parameters + [
                    .unknownWebhook, .webhookDisabled, .unknownMessage, .notificationsNotConfigured,
                ]),
        ]
    }

    // MARK: Webhooks

    private func list(_ request: AdmittedRequest) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["after", "limit"])
        let limit = try parameters.pageLength()
        let after = try parameters.cursor { WebhookID($0) }
        let registry = try configured()
        return try await APIResponse.page(
            after: after, limit: limit, \.json, place: \.id, name: \.description
        ) { try await registry.webhooks(of: request.tenant, after: $0, limit: $1) }
    }

    private func create(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        let registry = try configured()
        return try await refusing {
            var body = JSONObjectReader(request.body)
            let text = try body.requiredString("url")
            let url = try body.webhookURL(text)
            let name = try body.optionalDisplayName("name")
            let events = try body.optionalEvents() ?? WebhookEvent.usual
            try body.finish()
            let webhook = Webhook(url: url, secret: .generate())
            let registered = try await registry.create(
                webhook, named: name, events: events, of: request.tenant, by: request.actor.name)
            var response = APIResponse(.created, showing: registered, webhook.secret)
            response.headers[.location] = "/v1/webhooks/\(registered.id)"
            return response
        }
    }

    private func show(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        let registry = try configured()
        return try await refusing {
            guard let registered = try await registry.webhook(reference(request)) else {
                throw WebhookRefusal.unknownWebhook
            }
            return APIResponse(showing: registered)
        }
    }

    private func change(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        let registry = try configured()
        return try await refusing {
            var body = JSONObjectReader(request.body)
            var change = WebhookChange()
            change.name = try body.optionalPatch("name") { body throws(JSONFieldError) in
                try body.optionalDisplayName("name")
            }
            if let text = try body.optionalString("url") { change.url = try body.webhookURL(text) }
            change.events = try body.optionalEvents()
            change.isEnabled = try body.optionalBool("enabled")
            try body.finish()
            let registered = try await registry.change(
                reference(request), change, by: request.actor.name,
                checking: { try request.checkConditions(onTag: $0.tag) })
            return APIResponse(showing: registered)
        }
    }

    private func delete(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        let registry = try configured()
        return try await refusing {
            _ = try await registry.delete(
                reference(request), by: request.actor.name,
                checking: { try request.checkConditions(onTag: $0.tag) })
            return APIResponse(.noContent)
        }
    }

    private func rotate(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        let registry = try configured()
        return try await refusing {
            var body = JSONObjectReader(request.body)
            let overlap = try body.optionalDouble("overlapHours") ?? 0
            try body.finish()
            guard RegisteredWebhook.overlaps.contains(overlap) else {
                throw JSONFieldError.invalid(path: "overlapHours", reason: "must be from 0 to 8760")
            }
            let secret = WebhookSecret.generate()
            let registered = try await registry.replaceSecret(
                of: reference(request), by: secret, overlap: .seconds(overlap * 3_600),
                actor: request.actor.name)
            return APIResponse(.ok, showing: registered, secret)
        }
    }

    // MARK: Messages

    /// Sends a test message, or a sample of an event, like any other message. Its result is in the list of messages.
    private func test(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        let registry = try configured()
        return try await refusing {
            var body = JSONObjectReader(request.body)
            let event = try body.optionalEvent("event")
            try body.finish()
            let message =
                event.map { WebhookMessage(sampleOf: $0, at: request.now) }
                ?? WebhookMessage(WebhookEvent.test, [:], at: request.now)
            try await registry.add(
                message, type: event?.rawValue ?? WebhookEvent.test, to: reference(request),
                by: request.actor.name)
            return APIResponse(
                .accepted,
                uncached: JSONValue.object(["message": .string(message.id.uuidString.lowercased())])
                    .serialized())
        }
    }

    private func messages(_ request: AdmittedRequest) async throws -> APIResponse {
        let parameters = try request.queryParameters(named: ["after", "limit"])
        let limit = try parameters.pageLength()
        let last = try parameters.cursor { UUID(text: $0) }
        let registry = try configured()
        return try await refusing {
            try await APIResponse.page(
                after: last, limit: limit, \.json, place: \.id, name: { $0.uuidString.lowercased() }
            ) { try await registry.messages(of: reference(request), before: $0, limit: $1) }
        }
    }

    private func message(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        let registry = try configured()
        return try await refusing {
            let reference = try reference(request)
            guard let id = UUID(text: request.parameter("message")),
                let message = try await registry.message(id, of: reference)
            else { throw Problem(.notFound, "not_found", WebhookRefusal.unknownMessage.description) }
            return APIResponse(uncached: JSONValue.object(message.json).serialized())
        }
    }

    private func replay(_ request: AdmittedRequest) async throws -> APIResponse {
        try request.refuseParameters()
        let registry = try configured()
        return try await refusing {
            let (count, last) = try await registry.replay(
                try ReplaySelection(request.body), of: reference(request), by: request.actor.name)
            let next = last.map { JSONValue.string($0.uuidString.lowercased()) }
            return APIResponse(
                .accepted,
                uncached: JSONValue.object(["queued": JSONValue(count), "next": next ?? .null]).serialized())
        }
    }

    // MARK: Parts

    private func configured() throws(Problem) -> any WebhookRegistry {
        guard let registry else { throw .notificationsNotConfigured }
        return registry
    }

    private func reference(_ request: AdmittedRequest) throws(WebhookRefusal) -> WebhookReference {
        guard let id = WebhookID(request.parameter("id")) else { throw .unknownWebhook }
        return WebhookReference(id, of: request.tenant)
    }

    private func refusing(_ body: () async throws -> APIResponse) async throws -> APIResponse {
        do {
            return try await body()
        } catch let error as JSONFieldError {
            throw Problem(error)
        } catch WebhookRefusal.addressNotPublic {
            throw Problem(JSONFieldError.invalid(path: "url", reason: WebhookURL.unreachable))
        } catch WebhookRefusal.portNotAllowed {
            throw Problem(JSONFieldError.invalid(path: "url", reason: WebhookURL.forbiddenPort))
        } catch let refusal as WebhookRefusal {
            throw Problem(refusal.status, refusal.code, refusal.description)
        }
    }
}

extension WebhookRefusal {
    fileprivate var status: HTTPResponse.Status {
        switch self {
        case .unknownWebhook: .notFound
        case .tooManyWebhooks, .webhookDisabled: .conflict
        case .unknownMessage, .addressNotPublic, .portNotAllowed: .unprocessableContent
        }
    }
}

extension RegisteredWebhook {
    /// The entity tag of the members that clients can change. The status changes often, so it would make every condition fail.
    fileprivate var tag: String {
        APIResponse.tag(
            of: JSONValue.object([
                "id": .string(id.description), "name": name.map { .string($0.text) } ?? .null,
                "url": .string(url.text), "events": .array(events.names.map(JSONValue.string)),
                "enabled": .bool(switchOff == nil),
            ]).serialized())
    }
}

extension APIResponse {
    fileprivate init(showing webhook: RegisteredWebhook) {
        self.init(uncached: JSONValue.object(webhook.json).serialized())
        headers[.eTag] = webhook.tag
    }

    /// The response that creates a secret, the only one that contains it.
    fileprivate init(
        _ status: HTTPResponse.Status, showing webhook: RegisteredWebhook, _ secret: WebhookSecret
    ) {
        self.init(status, uncached: JSONValue.object(webhook.json(showing: secret)).serialized())
        headers[.eTag] = webhook.tag
    }
}

extension JSONObjectReader {
    fileprivate func webhookURL(_ text: String) throws(JSONFieldError) -> WebhookURL {
        do {
            return try WebhookURL(text)
        } catch {
            throw .invalid(path: path(of: "url"), reason: error.description)
        }
    }

    fileprivate mutating func optionalEvent(_ key: String) throws(JSONFieldError) -> WebhookEvent? {
        guard let name = try optionalString(key) else { return nil }
        return try WebhookEvent(named: name, at: path(of: key))
    }

    /// Reads at least one event, each once.
    fileprivate mutating func optionalEvents() throws(JSONFieldError) -> Set<WebhookEvent>? {
        guard let values = try optionalArray("events") else { return nil }
        let names = values.prefix(WebhookEvent.allCases.count + 1).compactMap(\.stringValue)
        let events = Set(names.compactMap(WebhookEvent.init(rawValue:)))
        guard !events.isEmpty, events.count == values.count else {
            throw .invalid(
                path: path(of: "events"), reason: "must be some of \(WebhookEvent.allNames), each once")
        }
        return events
    }
}

extension ReplaySelection {
    /// Reads `message`, or `since` with an optional `state` and, to continue, `after`.
    fileprivate init(_ json: JSONObject) throws(JSONFieldError) {
        var body = JSONObjectReader(json)
        let message = try body.optionalString("message")
        let since = try body.optionalDate("since")
        let stateName = try body.optionalString("state")
        let after = try body.optionalString("after")
        try body.finish()
        switch (message, since) {
        case (let text?, nil):
            for (name, isThere) in [("state", stateName != nil), ("after", after != nil)] {
                guard !isThere else { throw .invalid(path: name, reason: "is allowed only with since") }
            }
            guard let id = UUID(text: text) else {
                throw .invalid(path: "message", reason: "must be a message's ID")
            }
            self = .message(id)
        case (nil, let since?):
            let last = after.flatMap { UUID(text: $0) }
            guard (after == nil) == (last == nil) else {
                throw .invalid(path: "after", reason: "must be a message's ID")
            }
            let state = stateName.flatMap(RecordedMessage.State.init)
            guard (stateName == nil) == (state == nil) else {
                let all = RecordedMessage.State.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalid(path: "state", reason: "must be one of \(all)")
            }
            self = .since(since, state: state, after: last)
        case (nil, nil): throw .missing(path: "message or since")
        default: throw .invalid(path: "since", reason: "excludes message")
        }
    }
}
