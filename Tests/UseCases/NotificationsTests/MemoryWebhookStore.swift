import Foundation
import Notifications
import Tenancy

/// Stores messages in memory.
final class MemoryWebhookStore: WebhookStore {
    enum Call: Sendable { case claim, over, again }
    struct Failure: Error {}

    struct Waiting {
        let webhook: WebhookReference
        var message: WebhookMessage
    }

    struct State {
        var waiting: [Waiting] = []
        /// Messages that are due later.
        var retries: [UUID: Duration] = [:]
        var leasedIDs: [UUID: WebhookReference] = [:]
        var givenBack: [UUID] = []
        var attempts: [UUID: [WebhookAttempt]] = [:]
        /// Webhooks that the next failure disables.
        var failing: Set<WebhookReference> = []
        var mostLeased = 0
        var mostLeasedOfOne = 0
        var mostLeasedOfTenant = 0
        var claims: [WebhookReference: Int] = [:]
        var hasWebhook = true
        var outdatedCount = 0
        var broken: [WebhookReference: Call] = [:]

        var claimCount: Int { claims.values.reduce(0, +) }
        var leased: [WebhookReference: Int] {
            Dictionary(leasedIDs.values.map { ($0, 1) }, uniquingKeysWith: +)
        }

        func isLeased(_ message: WebhookMessage) -> Bool { leasedIDs[message.id] != nil }

        func isDue(_ message: WebhookMessage) -> Bool { !isLeased(message) && retries[message.id] == nil }
    }

    private let state = Watched(State())
    private let webhook: Webhook

    init(_ counts: [WebhookReference: Int]) throws {
        webhook = Webhook(
            url: try WebhookURL("https://example.com"), secret: WebhookSecret.generate())
        for (webhook, count) in counts.sorted(by: { $0.key < $1.key }) { add(count, of: webhook) }
    }

    var current: State { state.current }

    func add(_ count: Int, of webhook: WebhookReference) {
        change { state in
            state.waiting += (0..<count).map { number in
                Waiting(
                    webhook: webhook, message: WebhookMessage(id: UUID(), body: [UInt8(number)], attempt: 0))
            }
        }
    }

    func wait(until isOver: @escaping @Sendable (State) -> Bool) async { await state.wait(until: isOver) }

    func change(_ change: (inout State) throws -> Void) rethrows { try state.change(change) }

    func webhooksWithDueMessages(limit: Int, excluding: [WebhookReference]) -> [WebhookReference] {
        let state = current
        let due = Set(state.waiting.filter { state.isDue($0.message) }.map(\.webhook)).subtracting(excluding)
        return Array(due.prefix(limit))
    }

    func claim(
        of reference: WebhookReference, limit: Int, lease: Duration, maximumAge: Duration
    ) async throws -> WebhookClaim? {
        var messages: [WebhookMessage] = []
        var outdatedCount = 0
        var isRefused = false
        change { state in
            state.claims[reference, default: 0] += 1
            isRefused = state.broken[reference] == .claim
            guard state.hasWebhook, !isRefused else { return }
            for index in state.waiting.indices
            where messages.count < limit && state.waiting[index].webhook == reference
                && state.isDue(state.waiting[index].message)
            {
                let message = state.waiting[index].message
                state.waiting[index].message = WebhookMessage(
                    id: message.id, body: message.body, attempt: message.attempt + 1)
                state.leasedIDs[message.id] = reference
                messages.append(state.waiting[index].message)
            }
            state.mostLeased = max(state.mostLeased, state.leasedIDs.count)
            state.mostLeasedOfOne = max(state.mostLeasedOfOne, state.leased[reference, default: 0])
            state.mostLeasedOfTenant = max(
                state.mostLeasedOfTenant, state.leasedIDs.values.count { $0.tenant == reference.tenant })
            outdatedCount = state.outdatedCount
            state.outdatedCount = 0
        }
        if isRefused { throw Failure() }
        guard current.hasWebhook else { return nil }
        return WebhookClaim(webhook: webhook, messages: messages, outdatedCount: outdatedCount)
    }

    func record(
        _ attempt: WebhookAttempt, at message: WebhookMessage, of webhook: WebhookReference,
        to url: WebhookURL, again pause: Duration?, patience: Duration
    ) async throws -> RecordedAttempt {
        try Task.checkCancellation()
        guard current.broken[webhook] != (pause == nil ? .over : .again) else { throw Failure() }
        var isSwitchedOff = false
        change { state in
            if let pause {
                state.retries[message.id] = pause
            } else {
                state.waiting.removeAll { $0.message.id == message.id }
            }
            state.leasedIDs[message.id] = nil
            state.attempts[message.id, default: []].append(attempt)
            isSwitchedOff =
                !attempt.reply.isTaken
                && (state.failing.remove(webhook) != nil || attempt.reply.isGone)
        }
        return isSwitchedOff ? .switchedOff : .current
    }

    func giveBack(_ message: WebhookMessage, of webhook: WebhookReference) async throws {
        try Task.checkCancellation()
        change { state in
            state.givenBack.append(message.id)
            state.leasedIDs[message.id] = nil
            for index in state.waiting.indices where state.waiting[index].message.id == message.id {
                state.waiting[index].message = WebhookMessage(
                    id: message.id, body: message.body, attempt: message.attempt - 1)
            }
        }
    }
}
