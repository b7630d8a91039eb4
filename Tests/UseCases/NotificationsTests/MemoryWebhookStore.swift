import Foundation
import Notifications
import Tenancy

/// Messages in memory, as a database keeps them.
final class MemoryWebhookStore: WebhookStore {
    enum Call: Sendable { case claim, remove, retry }
    struct Failure: Error {}

    struct Waiting {
        let tenant: TenantID
        var message: WebhookMessage
    }

    struct State {
        var waiting: [Waiting] = []
        /// What is not due for a while.
        var retries: [UUID: Duration] = [:]
        var lentIDs: [UUID: TenantID] = [:]
        var givenBack: [UUID] = []
        var mostLent = 0
        var mostLentOfOne = 0
        var claims: [TenantID: Int] = [:]
        var hasWebhook = true
        var outdatedCount = 0
        var broken: [TenantID: Call] = [:]

        var claimCount: Int { claims.values.reduce(0, +) }
        var lent: [TenantID: Int] { Dictionary(lentIDs.values.map { ($0, 1) }, uniquingKeysWith: +) }

        func isLent(_ message: WebhookMessage) -> Bool { lentIDs[message.id] != nil }

        func isDue(_ message: WebhookMessage) -> Bool { !isLent(message) && retries[message.id] == nil }
    }

    private let state = Watched(State())
    private let webhook: Webhook

    init(_ counts: [TenantID: Int]) throws {
        var generator = SystemRandomNumberGenerator()
        webhook = Webhook(
            url: try WebhookURL("https://example.com"), secret: WebhookSecret(using: &generator))
        for (tenant, count) in counts.sorted(by: { $0.key.description < $1.key.description }) {
            add(count, of: tenant)
        }
    }

    var current: State { state.current }

    func add(_ count: Int, of tenant: TenantID) {
        change { state in
            state.waiting += (0..<count).map { number in
                Waiting(
                    tenant: tenant, message: WebhookMessage(id: UUID(), body: [UInt8(number)], attempt: 0))
            }
        }
    }

    func wait(until isOver: @escaping @Sendable (State) -> Bool) async { await state.wait(until: isOver) }

    func change(_ change: (inout State) throws -> Void) rethrows { try state.change(change) }

    func tenantsWithDueMessages(limit: Int, excluding: [TenantID]) -> [TenantID] {
        let state = current
        let due = Set(state.waiting.filter { state.isDue($0.message) }.map(\.tenant)).subtracting(excluding)
        return Array(due.prefix(limit))
    }

    func claim(
        of tenant: TenantID, limit: Int, lease: Duration, maximumAge: Duration
    ) async throws -> WebhookClaim? {
        var messages: [WebhookMessage] = []
        var outdatedCount = 0
        var isRefused = false
        change { state in
            state.claims[tenant, default: 0] += 1
            isRefused = state.broken[tenant] == .claim
            guard state.hasWebhook, !isRefused else { return }
            for index in state.waiting.indices
            where messages.count < limit && state.waiting[index].tenant == tenant
                && state.isDue(state.waiting[index].message)
            {
                let message = state.waiting[index].message
                state.waiting[index].message = WebhookMessage(
                    id: message.id, body: message.body, attempt: message.attempt + 1)
                state.lentIDs[message.id] = tenant
                messages.append(state.waiting[index].message)
            }
            state.mostLent = max(state.mostLent, state.lentIDs.count)
            state.mostLentOfOne = max(state.mostLentOfOne, state.lent[tenant, default: 0])
            outdatedCount = state.outdatedCount
            state.outdatedCount = 0
        }
        if isRefused { throw Failure() }
        guard current.hasWebhook else { return nil }
        return WebhookClaim(webhook: webhook, messages: messages, outdatedCount: outdatedCount)
    }

    func remove(_ messages: [WebhookMessage], of tenant: TenantID) async throws {
        try Task.checkCancellation()
        guard current.broken[tenant] != .remove else { throw Failure() }
        change { state in
            for message in messages {
                state.waiting.removeAll { $0.message.id == message.id }
                state.lentIDs[message.id] = nil
            }
        }
    }

    func retry(_ message: WebhookMessage, of tenant: TenantID, after pause: Duration) async throws {
        try Task.checkCancellation()
        guard current.broken[tenant] != .retry else { throw Failure() }
        change { state in
            state.retries[message.id] = pause
            state.lentIDs[message.id] = nil
        }
    }

    func giveBack(_ message: WebhookMessage, of tenant: TenantID) async throws {
        try Task.checkCancellation()
        change { state in
            state.givenBack.append(message.id)
            state.lentIDs[message.id] = nil
            for index in state.waiting.indices where state.waiting[index].message.id == message.id {
                state.waiting[index].message = WebhookMessage(
                    id: message.id, body: message.body, attempt: message.attempt - 1)
            }
        }
    }
}
