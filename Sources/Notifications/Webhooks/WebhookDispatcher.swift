public import Foundation
public import Tenancy

/// Brings messages to tenants' webhooks, until each is taken or given up.
///
/// At least once, and in no order: a message whose answer was lost is sent again, with the same ID. One tenant's slow
/// receiver holds up no other's: a tenant has a few messages under way at once, and many tenants have.
public struct WebhookDispatcher: Sendable {
    private let store: any WebhookStore
    private let sender: any WebhookSender
    private let now: @Sendable () -> Date
    private let onEvent: @Sendable (Event) -> Void

    /// Something that who runs the server may want to know.
    public enum Event: Sendable {
        case replied(TenantID, WebhookReply, attempt: Int)
        case gaveUp(TenantID, WebhookReply)
        case failed(any Error)
    }

    /// How many messages of one tenant are under way at once.
    static let messagesPerTenant = 4
    /// Of how many tenants.
    static let tenants = 32
    /// Longer than any attempt takes.
    static let lease = Duration.seconds(60)
    private static let pollInterval = Duration.seconds(1)

    public init(
        _ store: any WebhookStore, _ sender: any WebhookSender,
        now: @escaping @Sendable () -> Date = { Date() },
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.store = store
        self.sender = sender
        self.now = now
        self.onEvent = onEvent
    }

    /// Delivers until the task is cancelled. What is under way then is sent again later.
    public func run() async {
        while !Task.isCancelled {
            var sentCount = 0
            do {
                sentCount = try await deliverDue()
            } catch {
                if !Task.isCancelled { onEvent(.failed(error)) }
            }
            if sentCount == 0 { try? await Task.sleep(for: Self.pollInterval) }
        }
    }

    /// Sends what is due now: of each tenant a few messages.
    /// - Returns: How many were sent.
    @discardableResult
    public func deliverDue() async throws -> Int {
        let tenants = try await store.tenantsWithDueMessages(limit: Self.tenants)
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for tenant in tenants { group.addTask { try await deliverDue(of: tenant) } }
            return try await group.reduce(0, +)
        }
    }

    private func deliverDue(of tenant: TenantID) async throws -> Int {
        guard
            let (webhook, messages) = try await store.claim(
                of: tenant, limit: Self.messagesPerTenant, lease: Self.lease)
        else { return 0 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for message in messages {
                group.addTask { try await deliver(message, to: webhook, of: tenant) }
            }
            try await group.waitForAll()
        }
        return messages.count
    }

    private func deliver(_ message: WebhookMessage, to webhook: Webhook, of tenant: TenantID) async throws {
        let reply = await sender.send(message, to: webhook, at: now())
        // What was cut off by the end of the server says nothing of the receiver.
        guard !Task.isCancelled || reply.isTaken else { return }
        onEvent(.replied(tenant, reply, attempt: message.attempt))
        if reply.isTaken {
            try await store.remove([message], of: tenant)
        } else if let pause = WebhookSchedule.pause(
            afterAttempt: message.attempt, random: .random(in: 0...1))
        {
            try await store.retry(message, of: tenant, after: pause)
        } else {
            onEvent(.gaveUp(tenant, reply))
            try await store.remove([message], of: tenant)
        }
    }
}
