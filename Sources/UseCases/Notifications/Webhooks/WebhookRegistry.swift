public import Foundation
public import Tenancy

/// Where tenants' webhooks are kept, for those who manage them.
///
/// What is refused is a ``WebhookRefusal``, and what the database does not answer ``NotificationStoreError/unavailable``. In
/// each, `actor` is who the audit log says did it.
public protocol WebhookRegistry: Sendable {
    /// By ID, after one, up to `limit`.
    func webhooks(of tenant: TenantID, after: WebhookID?, limit: Int) async throws -> [RegisteredWebhook]

    /// Nil when there is none.
    func webhook(_ webhook: WebhookReference) async throws -> RegisteredWebhook?

    /// - Throws: ``WebhookRefusal/tooManyWebhooks``.
    func create(
        _ webhook: Webhook, events: Set<WebhookEvent>, of tenant: TenantID, by actor: String
    ) async throws -> RegisteredWebhook

    /// Switched on again, it is as one that never failed; what was given up meanwhile is sent when it is asked for.
    func change(
        _ webhook: WebhookReference, _ change: WebhookChange, by actor: String
    ) async throws -> RegisteredWebhook

    /// Replaces the secret, even one that cannot be opened any more.
    func replaceSecret(
        of webhook: WebhookReference, by secret: WebhookSecret, actor: String
    ) async throws -> RegisteredWebhook

    /// - Returns: How many messages that waited went with it.
    func delete(_ webhook: WebhookReference, by actor: String) async throws -> Int

    /// Adds a message of the type ``WebhookEvent/test``, which is sent as any other.
    /// - Throws: ``WebhookRefusal/webhookDisabled``.
    func add(_ test: WebhookMessage, to webhook: WebhookReference) async throws

    /// The newest first, from before one on, up to `limit`.
    func messages(
        of webhook: WebhookReference, before: UUID?, limit: Int
    ) async throws -> [RecordedMessage]

    /// Has messages sent once more that do not wait: as they were, with the same IDs.
    /// - Returns: How many.
    /// - Throws: ``WebhookRefusal/webhookDisabled``; ``WebhookRefusal/unknownMessage`` where one is named.
    func replay(_ selection: ReplaySelection, of webhook: WebhookReference) async throws -> Int
}

/// Which messages are to be sent once more.
public enum ReplaySelection: Sendable, Hashable {
    case message(UUID)
    /// Those made since then, the oldest first, up to ``limit``; taken ones too where that is said.
    case since(Date, includesTaken: Bool)

    /// How many messages are sent once more at a time, at most. [ours]
    public static let limit = 1_000
}
