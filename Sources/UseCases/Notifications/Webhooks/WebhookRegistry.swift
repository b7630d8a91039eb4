public import Foundation
public import JSON
public import Tenancy

/// Where tenants' webhooks are kept, for those who manage them.
///
/// What is refused is a ``WebhookRefusal``, and what the database does not answer ``StoreUnavailable``. In each, `actor` is who
/// the audit log says did it.
public protocol WebhookRegistry: Sendable {
    /// By ID, after one, up to `limit`.
    func webhooks(of tenant: TenantID, after: WebhookID?, limit: Int) async throws -> [RegisteredWebhook]

    /// Nil when there is none.
    func webhook(_ webhook: WebhookReference) async throws -> RegisteredWebhook?

    /// - Throws: ``WebhookRefusal/tooManyWebhooks``, ``WebhookRefusal/addressNotPublic``.
    func create(
        _ webhook: Webhook, events: Set<WebhookEvent>, of tenant: TenantID, by actor: String
    ) async throws -> RegisteredWebhook

    /// Switched on again, or with another URL, it is as one that never failed; what was given up meanwhile is sent when it is
    /// asked for.
    ///
    /// For one that is switched off what waits is given up: a thousand messages at once, and the rest by the servers, soon after.
    /// - Parameter check: is told the webhook as it is before, and throws where that is not what is meant.
    /// - Throws: ``WebhookRefusal/addressNotPublic``.
    func change(
        _ webhook: WebhookReference, _ change: WebhookChange, by actor: String,
        checking check: @Sendable (RegisteredWebhook) throws -> Void
    ) async throws -> RegisteredWebhook

    /// Replaces the secret, even one that cannot be opened any more; it is as one that never failed.
    func replaceSecret(
        of webhook: WebhookReference, by secret: WebhookSecret, actor: String
    ) async throws -> RegisteredWebhook

    /// Its messages go first, in parts: where that ends before its time, the webhook is still there.
    /// - Parameter check: as for a change.
    /// - Returns: How many messages that waited went with it, up to ``RegisteredWebhook/countLimit``.
    func delete(
        _ webhook: WebhookReference, by actor: String,
        checking check: @Sendable (RegisteredWebhook) throws -> Void
    ) async throws -> Int

    /// Adds a message of the type ``WebhookEvent/test``, which is sent as any other.
    /// - Throws: ``WebhookRefusal/webhookDisabled``.
    func add(_ test: WebhookMessage, to webhook: WebhookReference, by actor: String) async throws

    /// The newest first, from before one on, up to `limit`.
    func messages(
        of webhook: WebhookReference, before: UUID?, limit: Int
    ) async throws -> [RecordedMessage]

    /// Has messages sent now, as they were, with the same IDs: those that wait before their time, all others once more. A
    /// message that is under way, or due within a minute, stays as it is.
    /// - Returns: How many; and where as many were as may be at a time, the last of them, after which to go on.
    /// - Throws: ``WebhookRefusal/webhookDisabled``; ``WebhookRefusal/unknownMessage`` where one is named.
    func replay(
        _ selection: ReplaySelection, of webhook: WebhookReference, by actor: String
    ) async throws -> (count: Int, last: UUID?)
}

extension WebhookRegistry {
    /// Whatever the webhook is.
    public func change(
        _ webhook: WebhookReference, _ change: WebhookChange, by actor: String
    ) async throws -> RegisteredWebhook {
        try await self.change(webhook, change, by: actor, checking: { _ in })
    }

    /// Whatever the webhook is.
    public func delete(_ webhook: WebhookReference, by actor: String) async throws -> Int {
        try await delete(webhook, by: actor, checking: { _ in })
    }
}

/// Which messages are to be sent now.
public enum ReplaySelection: Sendable, Hashable {
    case message(UUID)
    /// All made since then, or those of one state, the oldest first, up to ``limit``. Those after one, where it is named.
    case since(Date, state: RecordedMessage.State? = nil, after: UUID? = nil)

    /// How many messages are sent at a time, at most. [ours]
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
