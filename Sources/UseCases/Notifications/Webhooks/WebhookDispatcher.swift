public import Foundation

/// Sends messages to tenants' webhooks, until each is accepted or given up.
///
/// At least once, and in no order: a message whose response was lost is sent again with the same ID. No webhook delays another,
/// and no tenant with many webhooks delays others: each webhook, and each tenant in all, has only a few messages in progress.
/// If the store fails for one webhook, the error is reported and the webhook is paused. Results are kept until they can be
/// stored, but no longer than the lease. A webhook that accepts nothing for days, or responds 410, is disabled.
public final class WebhookDispatcher: Sendable {
    /// Something that who runs the server may want to know.
    public enum Event: Sendable {
        case replied(WebhookReference, WebhookReply, attempt: Int)
        /// This number of messages are given up: after the last reply, or, without one, because they are too old.
        case gaveUp(WebhookReference, Int, WebhookReply?)
        /// It has accepted nothing for days, the last time with this reply, or responded 410.
        case switchedOff(WebhookReference, WebhookReply)
        /// A request to the store for a webhook, or for all; it is repeated.
        case failed(WebhookReference?, any Error)
        /// The results of this number of messages could not be stored in time, or before the server stopped.
        case abandoned(Int)
    }

    /// The maximum number of concurrent messages.
    static let messages = 256
    /// The maximum number of concurrent messages of a tenant, for any number of webhooks.
    static let messagesPerTenant = 16
    /// The maximum number of concurrent messages of a webhook.
    static let messagesPerWebhook = 4
    /// The maximum number of webhooks that one search finds.
    private static let webhooks = 32
    /// Longer than any attempt takes.
    public static let lease = Duration.seconds(60)

    private let store: any WebhookStore
    private let sender: any WebhookSender
    private let now: @Sendable () -> Date
    private let onEvent: @Sendable (Event) -> Void
    private let loop: LeaseLoop<WebhookDispatcher>

    public init(
        _ store: any WebhookStore, _ sender: any WebhookSender,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() },
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.store = store
        self.sender = sender
        self.now = now
        self.onEvent = onEvent
        loop = LeaseLoop(
            LeaseSettings(
                total: Self.messages, share: Self.messagesPerWebhook, tenantShare: Self.messagesPerTenant,
                batch: Self.messagesPerWebhook,
                isInTurn: false, foundAtOnce: Self.webhooks, settlers: 8,
                settlingRest: WebhookSchedule.rest(afterFailure: 1),
                patience: 30, pollInterval: .seconds(1), cutsOff: true, lastTries: 1),
            clock: clock)
    }

    /// Cancels running requests, and lets ``run()`` return after their messages are returned.
    public func shutDown() { loop.stop() }

    /// Delivers until ``shutDown()``. To be called once.
    public func run() async { await loop.run(self) }
}

extension WebhookDispatcher: LeasedWork {
    struct LeasedMessage: Sendable {
        let message: WebhookMessage
        let webhook: Webhook
        let until: Date
    }

    struct Outcome: Sendable {
        let message: WebhookMessage
        let url: WebhookURL
        let ending: Ending
        /// The end of the lease: later results are ignored.
        let until: Date
    }

    /// The result of sending a message.
    enum Ending: Sendable, Hashable {
        /// The message was accepted, or is given up because it must not be tried again.
        case tried(WebhookAttempt, again: Duration?)
        /// The server stopped first, which has no meaning for the receiver.
        case cutOff

        fileprivate var isOver: Bool { if case .tried(_, again: nil) = self { true } else { false } }
    }

    func lessees(except busy: [WebhookReference]) async throws -> [WebhookReference] {
        try await store.webhooksWithDueMessages(limit: Self.webhooks, excluding: busy)
    }

    func claim(
        _ room: Int, of webhook: WebhookReference
    ) async throws -> (leases: [LeasedMessage], hasMore: Bool) {
        let claim = try await store.claim(
            of: webhook, limit: room, lease: Self.lease, maximumAge: WebhookSchedule.maximumAge)
        guard let claim else { return ([], false) }
        if claim.outdatedCount > 0 { onEvent(.gaveUp(webhook, claim.outdatedCount, nil)) }
        let until = now().addingTimeInterval(Self.lease / .seconds(1))
        let leases = claim.webhook.map { webhook in
            claim.messages.map { LeasedMessage(message: $0, webhook: webhook, until: until) }
        }
        return (leases ?? [], claim.outdatedCount > 0)
    }

    func work(on lease: LeasedMessage, of webhook: WebhookReference) async -> Outcome {
        let ending = await send(lease.message, to: lease.webhook, webhook)
        return Outcome(message: lease.message, url: lease.webhook.url, ending: ending, until: lease.until)
    }

    private func send(
        _ message: WebhookMessage, to receiver: Webhook, _ webhook: WebhookReference
    ) async -> Ending {
        guard !Task.isCancelled else { return .cutOff }
        let start = now()
        let (reply, response) = await sender.send(message, to: receiver, at: start)
        if case .noResponse = reply, Task.isCancelled { return .cutOff }
        onEvent(.replied(webhook, reply, attempt: message.attempt))
        let attempt = WebhookAttempt(
            at: start, duration: .seconds(max(0, now().timeIntervalSince(start))), reply: reply,
            response: response)
        if reply.isTaken { return .tried(attempt, again: nil) }
        var wish: Duration?
        if case .status(_, let retryAfter) = reply { wish = retryAfter }
        let pause =
            reply.isGone
            ? nil
            : WebhookSchedule.pause(
                afterAttempt: message.attempt, random: .random(in: 0...1), wish: wish)
        return .tried(attempt, again: pause)
    }

    func isPast(_ outcome: Outcome) -> Bool { outcome.until <= now() }

    /// Accepted messages first, because they must not be sent again. Each is stored by itself, so that no failure affects
    /// another; a message without a stored result stays leased until its time is over, and counts as tried.
    func settle(_ outcomes: [Outcome], of webhook: WebhookReference) async -> Unsettled<Outcome>? {
        let unsettled = [
            await settle(each: outcomes.filter(\.ending.isOver), of: webhook),
            await settle(each: outcomes.filter { !$0.ending.isOver }, of: webhook),
        ].compactMap(\.self)
        return unsettled.first.map { first in
            Unsettled(outcomes: unsettled.flatMap(\.outcomes), error: first.error)
        }
    }

    private func settle(
        each outcomes: [Outcome], of webhook: WebhookReference
    ) async -> Unsettled<Outcome>? {
        await withTaskGroup(of: Unsettled<Outcome>?.self) { group in
            for outcome in outcomes {
                group.addTask {
                    do {
                        try await self.settle(outcome, of: webhook)
                        return nil
                    } catch {
                        return Unsettled(outcomes: [outcome], error: error)
                    }
                }
            }
            return await group.reduce(nil) { all, one in
                guard let all, let one else { return all ?? one }
                return Unsettled(outcomes: all.outcomes + one.outcomes, error: all.error)
            }
        }
    }

    private func settle(_ outcome: Outcome, of webhook: WebhookReference) async throws {
        switch outcome.ending {
        case .tried(let attempt, let pause):
            let recorded = try await store.record(
                attempt, at: outcome.message, of: webhook, to: outcome.url, again: pause,
                patience: WebhookSchedule.patience)
            if recorded != .outdated, pause == nil, !attempt.reply.isTaken {
                onEvent(.gaveUp(webhook, 1, attempt.reply))
            }
            if recorded == .switchedOff { onEvent(.switchedOff(webhook, attempt.reply)) }
        case .cutOff: try await store.giveBack(outcome.message, of: webhook)
        }
    }

    func rest(_ number: Int) -> Duration { WebhookSchedule.rest(afterFailure: number) }

    func report(_ event: LeaseEvent<WebhookReference>) {
        switch event {
        case .failed(let webhook, let error): onEvent(.failed(webhook, error))
        case .recovered: break
        case .abandoned(let count): onEvent(.abandoned(count))
        }
    }
}
