public import Foundation

/// A message in a webhook's log: its event and the results of its attempts, without its content.
public struct RecordedMessage: Sendable, Hashable {
    public enum State: String, Sendable, CaseIterable {
        case waiting
        case taken
        /// It was not taken in days, or the webhook was switched off.
        case givenUp = "given_up"
    }

    public let id: UUID
    /// Of ``WebhookEvent``, or ``WebhookEvent/test``.
    public let type: String
    public let state: State
    public let createdAt: Date
    /// When it is sent again; nil for one that does not wait.
    public let dueAt: Date?
    /// The oldest first.
    public let attempts: [WebhookAttempt]

    public init(
        id: UUID, type: String, state: State, createdAt: Date, dueAt: Date?, attempts: [WebhookAttempt]
    ) {
        self.id = id
        self.type = type
        self.state = state
        self.createdAt = createdAt
        self.dueAt = dueAt
        self.attempts = attempts
    }
}
