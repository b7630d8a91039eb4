public import Foundation
import Synchronization
public import Tenancy

/// Brings messages to tenants' webhooks, until each is taken or given up.
///
/// At least once, and in no order: a message whose answer was lost is sent again, with the same ID. No tenant holds up
/// another: each has a few messages under way at most, and room that one message leaves is filled at once. What the store
/// throws for one tenant is reported, and that tenant is left alone for a while.
public final class WebhookDispatcher: Sendable {
    /// Something that who runs the server may want to know.
    public enum Event: Sendable {
        case replied(TenantID, WebhookReply, attempt: Int)
        /// So many messages are not tried any more: after the last reply, or, without one, because they are too old.
        case gaveUp(TenantID, Int, WebhookReply?)
        /// What was asked of the store for a tenant, or for all; it is asked again.
        case failed(TenantID?, any Error)
    }

    /// What a message's sending came to.
    private enum Ending {
        /// It was taken, or is given up.
        case over
        case again(after: Duration)
        /// The server ended first, which says nothing of the receiver.
        case cutOff
    }

    private struct State {
        /// Messages that are taken, or about to be.
        var underWay: [TenantID: Int] = [:]
        var count = 0
        /// Whether the last look found more than there was room for.
        var isShort = false
        /// How often in succession the store failed.
        var failures: [TenantID: Int] = [:]
        var resting: Set<TenantID> = []
        /// What could not be written down before the end.
        var unwritten: [TenantID: [(message: WebhookMessage, ending: Ending)]] = [:]

        /// Who gets nothing more now.
        var busy: [TenantID] {
            underWay.filter { $0.value >= messagesPerTenant }.map(\.key) + resting
        }

        /// Nil when there is no room.
        mutating func reserve(for tenant: TenantID) -> Int? {
            let room = min(messages - count, messagesPerTenant - underWay[tenant, default: 0])
            guard room > 0, !resting.contains(tenant) else { return nil }
            underWay[tenant, default: 0] += room
            count += room
            return room
        }

        mutating func release(_ room: Int, of tenant: TenantID) {
            let left = underWay[tenant, default: 0] - room
            underWay[tenant] = left > 0 ? left : nil
            count -= room
        }
    }

    /// How many messages are under way at once.
    static let messages = 128
    /// Of those, of one tenant.
    static let messagesPerTenant = 4
    /// How many tenants are looked for at once.
    private static let tenants = 32
    /// Longer than any attempt takes.
    static let lease = Duration.seconds(60)
    private static let pollInterval = Duration.seconds(1)

    private let store: any WebhookStore
    private let sender: any WebhookSender
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let onEvent: @Sendable (Event) -> Void
    private let state = Mutex(State())
    private let due = WakeUp()
    private let stop = WakeUp()

    public init(
        _ store: any WebhookStore, _ sender: any WebhookSender,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() },
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.store = store
        self.sender = sender
        self.clock = clock
        self.now = now
        self.onEvent = onEvent
    }

    /// Cuts off what is being sent, and lets ``run()`` return once that is given back.
    public func shutDown() { stop.raise() }

    /// Delivers until ``shutDown()``. To be called once.
    public func run() async {
        await withTaskGroup { group in
            group.addTask { await self.takeAndDeliver() }
            await stop.wait()
            group.cancelAll()
        }
        await writeRest()
    }

    private func poll() async {
        while (try? await clock.sleep(for: Self.pollInterval)) != nil { due.raise() }
    }

    // MARK: Taking

    private func takeAndDeliver() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.poll() }
            while !Task.isCancelled {
                for (tenant, room) in await nextTenants() {
                    group.addTask { await self.take(room, of: tenant) }
                }
                await due.wait()
            }
        }
    }

    /// Tenants that have something due, and how much of it there is room for.
    private func nextTenants() async -> [(TenantID, room: Int)] {
        let (isFull, busy) = state.withLock { ($0.count >= Self.messages, $0.busy) }
        guard !isFull else { return [] }
        do {
            let tenants = try await store.tenantsWithDueMessages(limit: Self.tenants, excluding: busy)
            return state.withLock { state in
                let reserved = tenants.compactMap { tenant in
                    state.reserve(for: tenant).map { (tenant, room: $0) }
                }
                state.isShort = tenants.count == Self.tenants || reserved.count < tenants.count
                return reserved
            }
        } catch {
            if !Task.isCancelled { onEvent(.failed(nil, error)) }
            return []
        }
    }

    private func take(_ room: Int, of tenant: TenantID) async {
        let claim: WebhookClaim?
        do {
            claim = try await store.claim(
                of: tenant, limit: room, lease: Self.lease, maximumAge: WebhookSchedule.maximumAge)
        } catch {
            return await failed(error, of: tenant, releasing: room)
        }
        let messages = claim?.messages ?? []
        let isShort = state.withLock { state in
            if messages.isEmpty { state.failures[tenant] = nil }
            state.release(room - messages.count, of: tenant)
            return state.isShort && messages.count < room
        }
        let outdatedCount = claim?.outdatedCount ?? 0
        if outdatedCount > 0 { onEvent(.gaveUp(tenant, outdatedCount, nil)) }
        if isShort || outdatedCount > 0 { due.raise() }
        guard let webhook = claim?.webhook else { return }
        await withDiscardingTaskGroup { group in
            for message in messages {
                group.addTask { await self.deliver(message, to: webhook, of: tenant) }
            }
        }
    }

    // MARK: Delivering

    private func deliver(_ message: WebhookMessage, to webhook: Webhook, of tenant: TenantID) async {
        let ending = await send(message, to: webhook, of: tenant)
        do {
            // A task that is cancelled gets no answer from a database.
            try Task.checkCancellation()
            try await write(ending, of: message, tenant)
            state.withLock { state in
                state.release(1, of: tenant)
                state.failures[tenant] = nil
            }
            due.raise()
        } catch {
            if Task.isCancelled {
                state.withLock { $0.unwritten[tenant, default: []].append((message, ending)) }
            }
            await failed(error, of: tenant, releasing: 1)
        }
    }

    private func send(_ message: WebhookMessage, to webhook: Webhook, of tenant: TenantID) async -> Ending {
        guard !Task.isCancelled else { return .cutOff }
        let reply = await sender.send(message, to: webhook, at: now())
        if case .noAnswer = reply, Task.isCancelled { return .cutOff }
        onEvent(.replied(tenant, reply, attempt: message.attempt))
        if reply.isTaken { return .over }
        let pause = WebhookSchedule.pause(afterAttempt: message.attempt, random: .random(in: 0...1))
        if pause == nil { onEvent(.gaveUp(tenant, 1, reply)) }
        return pause.map(Ending.again) ?? .over
    }

    private func write(_ ending: Ending, of message: WebhookMessage, _ tenant: TenantID) async throws {
        switch ending {
        case .over: try await store.remove([message], of: tenant)
        case .again(let pause): try await store.retry(message, of: tenant, after: pause)
        case .cutOff: try await store.giveBack(message, of: tenant)
        }
    }

    /// What cannot be written down even now is lent until its time is over, and counts as tried.
    private func writeRest() async {
        let unwritten = state.withLock { state in
            defer { state.unwritten = [:] }
            return state.unwritten
        }
        await withDiscardingTaskGroup { group in
            for (tenant, endings) in unwritten {
                group.addTask {
                    do {
                        for (message, ending) in endings { try await self.write(ending, of: message, tenant) }
                    } catch {
                        self.onEvent(.failed(tenant, error))
                    }
                }
            }
        }
    }

    // MARK: Resting

    /// Leaves a tenant alone for a time that grows with each failure in succession; what fails meanwhile is the same one.
    private func failed(_ error: any Error, of tenant: TenantID, releasing room: Int) async {
        let isEnding = Task.isCancelled
        let failures: Int? = state.withLock { state in
            // At once with the rest: nobody gets the room in between.
            state.release(room, of: tenant)
            guard !isEnding, state.resting.insert(tenant).inserted else { return nil }
            state.failures[tenant, default: 0] += 1
            return state.failures[tenant]
        }
        if !isEnding { onEvent(.failed(tenant, error)) }
        due.raise()
        guard let failures else { return }
        try? await clock.sleep(for: WebhookSchedule.rest(afterFailure: failures))
        state.withLock { _ = $0.resting.remove(tenant) }
        due.raise()
    }
}
