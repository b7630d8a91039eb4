import APNsPayload
public import Foundation
import Synchronization
import Tenancy

/// Takes what is due from the outbox, sends it, and writes down what became of it, until it is told to stop.
///
/// Fair between tenants: in turn, each has at most one batch of what it has due taken, and never so much under way that
/// there is no room for another. Any number of servers may do so at once.
///
/// When the database is away, what became of deliveries is kept and written later; nothing new is taken meanwhile. What
/// comes too late does no harm: the outbox fences. What the outbox refuses to write down holds up nothing else: it is
/// given up, and the delivery is lent again when its loan is over, with a lost reply more.
public final class Dispatcher: Sendable {
    public struct Settings: Sendable {
        /// How many deliveries are taken and not completed, at most.
        public var maximumInFlight = 2_000
        /// How many are taken at once, at most.
        public var batch = 500
        /// How long a delivery is lent: longer than a sender takes at most.
        public var lease = Duration.seconds(60)
        /// How long something due can go unnoticed that another server has stored.
        public var pollInterval = Duration.milliseconds(500)
        /// How long an outcome may wait for others to be written with it.
        public var gathering = Duration.milliseconds(20)
        /// How long to wait when the database did not answer.
        public var retryInterval = Duration.seconds(1)
        /// How often a server that ends tries to write down the last outcomes; another one sends again what it cannot.
        public var lastTries = 5

        public init() {}

        /// What one tenant may have under way: a quarter is left to others.
        var tenantShare: Int { max(1, maximumInFlight - maximumInFlight / 4) }
    }

    /// What happens, for logs and metrics.
    public enum Event: Sendable {
        /// - Parameters:
        ///   - duration: From when it was handed to the sender.
        ///   - delay: From when the notification was made, where this attempt was its first.
        case attempted(DeliveryState, reason: String?, duration: TimeInterval, delay: TimeInterval?)
        /// Nothing was sent: it was too late, or there was nowhere to send it.
        case decided(DeliveryState, reason: String?)
        /// Something did not work, and is tried again.
        case failed(any Error)
        /// It works again.
        case recovered
        /// What became of a delivery cannot be written down, ever.
        case unwritable(DeliveryID, any Error)
        /// The server ends, and could not write down what became of so many.
        case abandoned(Int)
    }

    private struct State {
        /// Taken and not completed.
        var held: [TenantID: Int] = [:]
        var heldCount = 0
        /// Of those, what became of them.
        var finished: [TenantID: [Completion]] = [:]
        var isStopping = false
        /// Nothing is being sent any more, nor will be.
        var isDrained = false
        /// Who was served last.
        var last: TenantID?
        var overdue = Duration.zero
        var isFailing = false
        /// What became of some could not be written down: until it is, their loans could end and be taken again here.
        var isBehind = false
    }

    private let outbox: any Outbox
    private let sender: any PushSender
    private let settings: Settings
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let onEvent: @Sendable (Event) -> Void
    private let state = Mutex(State())
    private let due = WakeUp()
    private let outcomes = WakeUp()

    public init(
        _ outbox: any Outbox, _ sender: any PushSender, settings: Settings = Settings(),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() },
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.outbox = outbox
        self.sender = sender
        self.settings = settings
        self.clock = clock
        self.now = now
        self.onEvent = onEvent
    }

    /// How many deliveries are taken and not completed.
    public var inFlight: Int { state.withLock(\.heldCount) }

    /// How long what is due longest has been so, when it was last looked at.
    public var overdue: Duration { state.withLock(\.overdue) }

    /// Something is due now.
    public func wake() { due.raise() }

    /// Takes nothing more, gives back what is not sent yet, and lets ``run()`` return once the rest is written down.
    public func shutDown() {
        state.withLock { $0.isStopping = true }
        due.raise()
    }

    /// Dispatches until ``shutDown()``. To be called once.
    public func run() async {
        await withTaskGroup { group in
            group.addTask { await self.poll() }
            async let writing: Void = writeOutcomes()
            await takeAndSend()
            state.withLock { $0.isDrained = true }
            outcomes.raise()
            await writing
            group.cancelAll()
        }
    }

    private func poll() async {
        while (try? await clock.sleep(for: settings.pollInterval)) != nil { due.raise() }
    }

    // MARK: Taking and sending

    private func takeAndSend() async {
        await withDiscardingTaskGroup { group in
            while !isStopping {
                var hasTaken = false
                for tenant in await nextTenants() {
                    for delivery in await take(of: tenant) {
                        hasTaken = true
                        group.addTask { await self.send(delivery, of: tenant) }
                    }
                }
                if !hasTaken { await due.wait() }
            }
        }
    }

    private var isStopping: Bool { Task.isCancelled || state.withLock(\.isStopping) }

    /// Who has something due: those behind the one served last first, so that everybody's turn comes.
    private func nextTenants() async -> [TenantID] {
        guard state.withLock({ !$0.isBehind && $0.heldCount < settings.maximumInFlight }) else { return [] }
        do {
            let tenants = try await outbox.tenantsWithDueDeliveries()
            succeeded()
            let last = state.withLock { state in
                state.overdue = tenants.map(\.overdue).max() ?? .zero
                return state.last
            }
            let next = tenants.firstIndex { last.map($0.tenant.isBehind) ?? true } ?? tenants.startIndex
            return (tenants[next...] + tenants[..<next]).map(\.tenant)
        } catch {
            failed(error)
            return []
        }
    }

    /// One batch at most, and only so many as there is room for.
    private func take(of tenant: TenantID) async -> [ClaimedDelivery] {
        let room = state.withLock { state in
            state.isStopping
                ? 0
                : min(
                    settings.batch, settings.maximumInFlight - state.heldCount,
                    settings.tenantShare - state.held[tenant, default: 0])
        }
        guard room > 0 else { return [] }
        do {
            let taken = try await outbox.claim(room, of: tenant, for: settings.lease)
            succeeded()
            state.withLock { state in
                if !taken.isEmpty {
                    state.held[tenant, default: 0] += taken.count
                    state.heldCount += taken.count
                }
                state.last = tenant
            }
            return taken
        } catch {
            failed(error)
            return []
        }
    }

    private func send(_ delivery: ClaimedDelivery, of tenant: TenantID) async {
        let start = now()
        guard !isStopping else {
            let completion = Completion(delivery: delivery, verdict: .givenBack(delivery), answer: nil)
            return finish(completion, tenant)
        }
        if let verdict = DeliveryVerdict(before: delivery, at: start) {
            return finish(deciding: verdict, delivery, tenant)
        }
        let request: PushRequest?
        do {
            request = try delivery.request(of: tenant)
        } catch {
            return finish(deciding: .unsendable(delivery, code: error.code), delivery, tenant)
        }
        // A delivery without a request has its verdict above.
        guard let request else { return }
        let outcome = await sender.send(request)
        let end = now()
        let verdict = DeliveryVerdict(
            on: outcome, of: delivery, at: end, random: Double.random(in: 0..<1))
        onEvent(
            .attempted(
                verdict.next.state, reason: verdict.reason, duration: end.timeIntervalSince(start),
                delay: delivery.attempt == 1
                    ? end.timeIntervalSince(delivery.notification.createdAt) : nil))
        let answer = DeliveryAnswer(attempt: delivery.attempt, at: end, result: .init(outcome))
        finish(Completion(delivery: delivery, verdict: verdict, answer: answer), tenant)
    }

    private func finish(deciding verdict: DeliveryVerdict, _ delivery: ClaimedDelivery, _ tenant: TenantID) {
        onEvent(.decided(verdict.next.state, reason: verdict.reason))
        finish(Completion(delivery: delivery, verdict: verdict, answer: nil), tenant)
    }

    private func finish(_ completion: Completion, _ tenant: TenantID) {
        state.withLock { $0.finished[tenant, default: []].append(completion) }
        outcomes.raise()
    }

    // MARK: Writing down

    private func writeOutcomes() async {
        var triesLeft = settings.lastTries
        while true {
            let (isDrained, waiting) = state.withLock { state in
                (state.isDrained, state.finished.values.reduce(0) { $0 + $1.count })
            }
            if waiting == 0 {
                if isDrained { return }
                await outcomes.wait()
                continue
            }
            if !isDrained, waiting < settings.batch { try? await clock.sleep(for: settings.gathering) }
            let isWritten = await writeAll()
            state.withLock { $0.isBehind = !isWritten }
            if isWritten {
                due.raise()
                continue
            }
            if isDrained {
                triesLeft -= 1
                guard triesLeft > 0 else { return onEvent(.abandoned(waiting)) }
            }
            try? await clock.sleep(for: settings.retryInterval)
        }
    }

    /// - Returns: Whether all was written that was there.
    private func writeAll() async -> Bool {
        let finished = state.withLock { state in
            defer { state.finished = [:] }
            return state.finished
        }
        var isWritten = true
        for (tenant, completions) in finished {
            var rest = completions[...]
            var size = settings.batch
            while let first = rest.first {
                let batch = rest.prefix(size)
                do {
                    try await outbox.complete(Array(batch), of: tenant)
                    succeeded()
                } catch  where !Self.isRefusal(error) {
                    failed(error)
                    isWritten = false
                    let kept = Array(rest)
                    state.withLock { $0.finished[tenant, default: []].insert(contentsOf: kept, at: 0) }
                    break
                } catch  where batch.count > 1 {
                    // One that is refused takes all of its batch with it: halves, until it is alone.
                    size = batch.count / 2
                    continue
                } catch {
                    onEvent(.unwritable(first.delivery.id, error))
                }
                release(batch.count, of: tenant)
                rest = rest.dropFirst(batch.count)
                size = min(size * 2, settings.batch)
            }
        }
        return isWritten
    }

    /// Whether it is about what was to be written: it would be refused again.
    private static func isRefusal(_ error: any Error) -> Bool {
        !Task.isCancelled && (error as? NotificationStoreError) != .unavailable
    }

    private func release(_ count: Int, of tenant: TenantID) {
        state.withLock { state in
            let held = state.held[tenant, default: 0] - count
            state.held[tenant] = held > 0 ? held : nil
            state.heldCount -= count
        }
        due.raise()
    }

    // MARK: Telling

    private func failed(_ error: any Error) {
        state.withLock { $0.isFailing = true }
        onEvent(.failed(error))
    }

    private func succeeded() {
        let hasRecovered = state.withLock { state in
            defer { state.isFailing = false }
            return state.isFailing
        }
        if hasRecovered { onEvent(.recovered) }
    }
}

extension TenantID {
    /// In the order of the IDs' bytes, which is PostgreSQL's.
    fileprivate func isBehind(_ other: TenantID) -> Bool {
        withUnsafeBytes(of: uuid.uuid) { mine in
            withUnsafeBytes(of: other.uuid.uuid) { theirs in theirs.lexicographicallyPrecedes(mine) }
        }
    }
}

extension DeliveryAnswer.Result {
    init(_ outcome: PushOutcome) {
        switch outcome {
        case .answered(let answer):
            self = .answered(
                status: answer.status, reason: answer.reason?.rawValue, uniqueID: answer.uniqueID)
        case .notSent(let failure), .unanswered(let failure):
            self = .failed(failure.rawValue)
        }
    }
}
