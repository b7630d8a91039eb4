public import Formats
public import Foundation
public import Invocation
public import Tenancy

/// Stores tenants' webhooks, for management, and records events for listeners.
///
/// Refusals are thrown as ``WebhookRefusal``, and failures of the database as ``StoreUnavailable``. In each method, `actor` is
/// the actor in the audit log.
public protocol WebhookRegistry: EventLog {
    /// By ID, after one, up to `limit`.
    func webhooks(of tenant: TenantID, after: WebhookID?, limit: Int) async throws -> [RegisteredWebhook]

    /// Nil if the webhook does not exist.
    func webhook(_ webhook: WebhookReference) async throws -> RegisteredWebhook?

    /// - Throws: ``WebhookRefusal/tooManyWebhooks``, ``WebhookRefusal/addressNotPublic``, ``WebhookRefusal/portNotAllowed``.
    func create(
        _ webhook: Webhook, named name: DisplayName?, events: Set<WebhookEvent>, of tenant: TenantID,
        by actor: String
    ) async throws -> RegisteredWebhook

    /// A webhook that is enabled again, or gets another URL, counts as one that never failed; given-up messages are sent on
    /// request.
    ///
    /// For one that is switched off what waits is given up: a thousand messages at once, and the rest by the servers, soon after.
    /// - Parameter check: Called with the webhook before the change; throws to refuse it.
    /// - Throws: ``WebhookRefusal/addressNotPublic``, ``WebhookRefusal/portNotAllowed``.
    func change(
        _ webhook: WebhookReference, _ change: WebhookChange, by actor: String,
        checking check: @Sendable (RegisteredWebhook) throws -> Void
    ) async throws -> RegisteredWebhook

    /// Replaces the secret, even if the old one can no longer be opened. The webhook then counts as one that never failed.
    /// - Parameter overlap: The time for which the old secret signs messages, too. The secret of an earlier overlap ends at once.
    func replaceSecret(
        of webhook: WebhookReference, by secret: WebhookSecret, overlap: Duration, actor: String
    ) async throws -> RegisteredWebhook

    /// Deletes the webhook's messages first, in parts. If this is interrupted, the webhook remains.
    /// - Parameter check: As for a change.
    /// - Returns: The number of waiting messages that were deleted, up to ``RegisteredWebhook/countLimit``.
    func delete(
        _ webhook: WebhookReference, by actor: String,
        checking check: @Sendable (RegisteredWebhook) throws -> Void
    ) async throws -> Int

    /// Adds a test message or a sample, which is sent like any other.
    /// - Parameter type: One of ``WebhookEvent/messageTypes``.
    /// - Throws: ``WebhookRefusal/webhookDisabled``.
    func add(
        _ message: WebhookMessage, type: String, to webhook: WebhookReference, by actor: String
    ) async throws

    /// The newest first, from before one on, up to `limit`.
    func messages(
        of webhook: WebhookReference, before: UUID?, limit: Int
    ) async throws -> [RecordedMessage]

    /// One message with its content and responses; nil if the log does not have it.
    func message(_ id: UUID, of webhook: WebhookReference) async throws -> LoggedMessage?

    /// Sends messages now, unchanged and with the same IDs: waiting ones before their time, all others once more. Messages in
    /// progress, or due within a minute, do not change.
    /// - Returns: The number of messages; at the maximum, also the last message, after which to continue.
    /// - Throws: ``WebhookRefusal/webhookDisabled``; ``WebhookRefusal/unknownMessage`` if a named message does not exist.
    func replay(
        _ selection: ReplaySelection, of webhook: WebhookReference, by actor: String
    ) async throws -> (count: Int, last: UUID?)
}

extension WebhookRegistry {
    /// Without an overlap.
    public func replaceSecret(
        of webhook: WebhookReference, by secret: WebhookSecret, actor: String
    ) async throws -> RegisteredWebhook {
        try await replaceSecret(of: webhook, by: secret, overlap: .zero, actor: actor)
    }

    /// Adds a message of the type ``WebhookEvent/test``.
    public func add(_ test: WebhookMessage, to webhook: WebhookReference, by actor: String) async throws {
        try await add(test, type: WebhookEvent.test, to: webhook, by: actor)
    }

    /// In any state of the webhook.
    public func change(
        _ webhook: WebhookReference, _ change: WebhookChange, by actor: String
    ) async throws -> RegisteredWebhook {
        try await self.change(webhook, change, by: actor, checking: { _ in })
    }

    /// In any state of the webhook.
    public func delete(_ webhook: WebhookReference, by actor: String) async throws -> Int {
        try await delete(webhook, by: actor, checking: { _ in })
    }
}

/// The messages to send now.
public enum ReplaySelection: Sendable, Hashable {
    case message(UUID)
    /// All messages since this time, or those in one state, oldest first, up to ``limit``; only those after the named one.
    case since(Date, state: RecordedMessage.State? = nil, after: UUID? = nil)

    /// The maximum number of messages of one replay. [ours]
    public static let limit = 1_000

    /// As requests have it.
    public var json: JSONObject {
        switch self {
        case .message(let id): return ["message": .string(id.uuidString.lowercased())]
        case .since(let time, let state, let last):
            var json: JSONObject = ["since": JSONValue(time)]
            if let state { json["state"] = .string(state.rawValue) }
            if let last { json["after"] = .string(last.uuidString.lowercased()) }
            return json
        }
    }
}
