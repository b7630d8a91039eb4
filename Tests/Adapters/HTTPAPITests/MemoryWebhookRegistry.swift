import Formats
import Foundation
import Invocation
import Notifications
import Synchronization
import Tenancy

/// Stores webhooks, and the messages of a test, in memory.
final class MemoryWebhookRegistry: WebhookRegistry {
    private struct State {
        var webhooks: [WebhookReference: RegisteredWebhook] = [:]
        var secrets: [WebhookReference: WebhookSecret] = [:]
        var messages: [WebhookReference: [RecordedMessage]] = [:]
        var bodies: [UUID: [UInt8]] = [:]
        var events: [TenantID: [[UInt8]]] = [:]
        var listeners: Set<TenantID> = []
        var pageCount = 0
        var recordingCount = 0
        var isFull = false
        var pageWaiters: [CheckedContinuation<Void, Never>] = []
        var replays: [ReplaySelection] = []
        var replayLimit = ReplaySelection.limit
        var actors: [String] = []
    }

    private let state = Mutex(State())

    /// The actor of each change.
    var actors: [String] { state.withLock { $0.actors } }

    /// The selections of all replays.
    var replays: [ReplaySelection] { state.withLock { $0.replays } }

    /// Sets how many messages one replay can queue.
    func setReplayLimit(_ limit: Int) { state.withLock { $0.replayLimit = limit } }

    func secret(of webhook: WebhookReference) -> WebhookSecret? { state.withLock { $0.secrets[webhook] } }

    func add(_ message: RecordedMessage, of webhook: WebhookReference) {
        state.withLock { $0.messages[webhook, default: []].append(message) }
    }

    // MARK: Events

    /// Records an event, as a transaction does.
    func record(_ body: JSONValue, of tenant: TenantID) {
        state.withLock { $0.events[tenant, default: []].append(body.serialized()) }
    }

    /// The number of times that events were read.
    var pageCount: Int { state.withLock { $0.pageCount } }

    /// The number of requests that have begun to read events. Each asks once, after it was admitted.
    var recordingCount: Int { state.withLock { $0.recordingCount } }

    func setFull(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

    /// Returns at the next read of events.
    func nextPage() async {
        await withCheckedContinuation { waiter in state.withLock { $0.pageWaiters.append(waiter) } }
    }

    func recordEvents(of tenant: TenantID) async throws -> Bool {
        state.withLock { state in
            state.listeners.insert(tenant)
            state.recordingCount += 1
            return state.isFull
        }
    }

    func events(of tenant: TenantID, after: EventPosition?, limit: Int) async throws -> EventPage {
        let (page, waiters) = state.withLock { state in
            let events = state.events[tenant] ?? []
            // Each event counts as a separate transaction.
            let start = min(after.map { $0.seen.newest - 1 } ?? events.count, events.count)
            let page = after == nil ? [] : Array(events[start...].prefix(limit))
            state.pageCount += 1
            defer { state.pageWaiters = [] }
            let end = start + page.count + 1
            guard let snapshot = EventSnapshot("\(end):\(end):") else { preconditionFailure("no snapshot") }
            return (
                EventPage(
                    bodies: page, next: EventPosition(seen: snapshot),
                    hasMissed: after.map { $0.seen.newest > events.count + 1 } ?? false), state.pageWaiters
            )
        }
        for waiter in waiters { waiter.resume() }
        return page
    }

    func record(_ sample: WebhookMessage, type: String, of tenant: TenantID) async throws -> Bool {
        state.withLock { state in
            guard state.listeners.contains(tenant) else { return false }
            state.events[tenant, default: []].append(sample.body)
            return true
        }
    }

    // MARK: Webhooks

    func webhooks(
        of tenant: TenantID, after: WebhookID?, limit: Int
    ) async throws -> [RegisteredWebhook] {
        state.withLock { state in
            state.webhooks.filter { $0.key.tenant == tenant }.map(\.value)
                .sorted { $0.id.description < $1.id.description }
                .filter { $0.id.description > after?.description ?? "" }.prefix(limit).map(\.self)
        }
    }

    func webhook(_ webhook: WebhookReference) async throws -> RegisteredWebhook? {
        state.withLock { $0.webhooks[webhook] }
    }

    func create(
        _ webhook: Webhook, named name: DisplayName?, events: Set<WebhookEvent>, of tenant: TenantID,
        by actor: String
    ) async throws -> RegisteredWebhook {
        try webhook.url.check(allowing: [])
        return try state.withLock { state in
            guard state.webhooks.count(where: { $0.key.tenant == tenant }) < RegisteredWebhook.limit else {
                throw WebhookRefusal.tooManyWebhooks
            }
            let registered = RegisteredWebhook(
                id: WebhookID(.timeOrdered(at: Date())), name: name, url: webhook.url, events: events,
                createdAt: Date(timeIntervalSince1970: 0), failingSince: nil, switchOff: nil, waitingCount: 0)
            let reference = WebhookReference(registered.id, of: tenant)
            state.webhooks[reference] = registered
            state.secrets[reference] = webhook.secret
            state.actors.append(actor)
            return registered
        }
    }

    func change(
        _ webhook: WebhookReference, _ change: WebhookChange, by actor: String,
        checking check: @Sendable (RegisteredWebhook) throws -> Void
    ) async throws -> RegisteredWebhook {
        try state.withLock { state in
            try change.url?.check(allowing: [])
            let old = try Self.known(webhook, in: state)
            try check(old)
            let isEnabled = change.isEnabled ?? (old.switchOff == nil)
            let new = RegisteredWebhook(
                id: old.id, name: change.name ?? old.name, url: change.url ?? old.url,
                events: change.events ?? old.events,
                createdAt: old.createdAt, failingSince: nil,
                switchOff: isEnabled
                    ? nil
                    : .init(
                        at: Date(timeIntervalSince1970: 60), reason: RegisteredWebhook.SwitchOff.asked),
                waitingCount: 0)
            state.webhooks[webhook] = new
            state.actors.append(actor)
            return new
        }
    }

    func replaceSecret(
        of webhook: WebhookReference, by secret: WebhookSecret, overlap: Duration, actor: String
    ) async throws -> RegisteredWebhook {
        try state.withLock { state in
            let known = try Self.known(webhook, in: state)
            state.secrets[webhook] = secret
            state.actors.append(actor)
            let endsAt = Date(timeIntervalSince1970: 1_772_368_200).addingTimeInterval(overlap / .seconds(1))
            return RegisteredWebhook(
                id: known.id, url: known.url, events: known.events, createdAt: known.createdAt,
                failingSince: nil, switchOff: known.switchOff, waitingCount: known.waitingCount,
                previousSecretEndsAt: overlap > .zero ? endsAt : nil)
        }
    }

    func delete(
        _ webhook: WebhookReference, by actor: String,
        checking check: @Sendable (RegisteredWebhook) throws -> Void
    ) async throws -> Int {
        try state.withLock { state in
            try check(try Self.known(webhook, in: state))
            state.webhooks[webhook] = nil
            state.actors.append(actor)
            return state.messages.removeValue(forKey: webhook)?.count ?? 0
        }
    }

    func add(
        _ test: WebhookMessage, type: String, to webhook: WebhookReference, by actor: String
    ) async throws {
        try state.withLock { state in
            try Self.requireEnabled(webhook, in: state)
            state.messages[webhook, default: []].append(
                RecordedMessage(
                    id: test.id, type: type, state: .waiting,
                    createdAt: Date(timeIntervalSince1970: 0), dueAt: Date(timeIntervalSince1970: 0),
                    attempts: []))
            state.bodies[test.id] = test.body
        }
    }

    func messages(
        of webhook: WebhookReference, before: UUID?, limit: Int
    ) async throws -> [RecordedMessage] {
        try state.withLock { state in
            _ = try Self.known(webhook, in: state)
            return (state.messages[webhook] ?? []).sorted { $0.id.uuidString > $1.id.uuidString }
                .filter { message in before.map { message.id.uuidString < $0.uuidString } ?? true }
                .prefix(limit).map(\.self)
        }
    }

    func message(_ id: UUID, of webhook: WebhookReference) async throws -> LoggedMessage? {
        try state.withLock { state in
            _ = try Self.known(webhook, in: state)
            return state.messages[webhook]?.first { $0.id == id }.map {
                LoggedMessage(message: $0, body: state.bodies[id] ?? Array("{}".utf8))
            }
        }
    }

    func replay(
        _ selection: ReplaySelection, of webhook: WebhookReference, by actor: String
    ) async throws -> (count: Int, last: UUID?) {
        try state.withLock { state in
            try Self.requireEnabled(webhook, in: state)
            state.replays.append(selection)
            let messages = (state.messages[webhook] ?? [])
                .sorted { $0.id.uuidString < $1.id.uuidString }
            switch selection {
            case .message(let id):
                guard messages.contains(where: { $0.id == id }) else { throw WebhookRefusal.unknownMessage }
                return (1, nil)
            case .since(let start, let wanted, let last):
                let selected = messages.filter {
                    $0.createdAt >= start && (wanted == nil || $0.state == wanted)
                        && $0.id.uuidString > last?.uuidString ?? ""
                }
                let first = selected.prefix(state.replayLimit)
                return (first.count, first.count < state.replayLimit ? nil : first.last?.id)
            }
        }
    }

    private static func known(
        _ webhook: WebhookReference, in state: State
    ) throws(WebhookRefusal) -> RegisteredWebhook {
        guard let known = state.webhooks[webhook] else { throw .unknownWebhook }
        return known
    }

    private static func requireEnabled(
        _ webhook: WebhookReference, in state: State
    ) throws(WebhookRefusal) {
        guard try known(webhook, in: state).switchOff == nil else { throw .webhookDisabled }
    }
}
