import APNsPayload
import Formats
public import Foundation
import Synchronization
import Tenancy

/// Leases due deliveries from the outbox, sends them, and stores the results, until it is stopped.
///
/// Fair between tenants: each gets at most one batch per turn, and never so many deliveries that no room is left for others.
/// Several servers can do this at once.
///
/// While the database is unavailable, results are kept and stored later, and no new deliveries of their tenants are leased. The
/// outbox ignores late results. A result that the outbox refuses delays nothing else: it is discarded, and the delivery is
/// leased again later, with one more lost response.
public final class Dispatcher: Sendable {
    public struct Settings: Sendable {
        /// Maximum number of leased deliveries without a result.
        public var maximumInFlight = 2_000
        /// Maximum number of deliveries in a batch.
        public var batch = 500
        /// Duration of a lease: longer than a sender can need.
        public var lease = Duration.seconds(60)
        /// The longest time until due deliveries that another server has stored are noticed.
        public var pollInterval = Duration.milliseconds(500)
        /// The time for which an outcome waits for others, so that one statement writes many.
        public var gathering = Duration.milliseconds(20)
        /// Pause after the database did not respond.
        public var retryInterval = Duration.seconds(1)
        /// The number of attempts of a stopping server to store the last results. Another server sends the other deliveries again.
        public var lastTries = 5

        public init() {}

        /// The maximum number of leased deliveries of one tenant: a quarter is left for others.
        var tenantShare: Int { max(1, maximumInFlight - maximumInFlight / 4) }
    }

    /// An event for logs and metrics.
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
        /// The result of a delivery can never be stored.
        case unwritable(DeliveryID, any Error)
        /// The server stops, and could not store this number of results.
        case abandoned(Int)
    }

    private let outbox: any Outbox
    private let sender: any PushSender
    private let settings: Settings
    private let now: @Sendable () -> Date
    private let onEvent: @Sendable (Event) -> Void
    private let loop: LeaseLoop<Dispatcher>
    private let longestDue = Mutex(Duration.zero)

    public init(
        _ outbox: any Outbox, _ sender: any PushSender, settings: Settings = Settings(),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() },
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.outbox = outbox
        self.sender = sender
        self.settings = settings
        self.now = now
        self.onEvent = onEvent
        loop = LeaseLoop(
            LeaseSettings(
                total: settings.maximumInFlight, share: settings.tenantShare, batch: settings.batch,
                isInTurn: true, settlers: 1, gathering: settings.gathering,
                settlingRest: settings.retryInterval,
                patience: max(1, Int(settings.lease / settings.pollInterval / 2)),
                pollInterval: settings.pollInterval, cutsOff: false, lastTries: settings.lastTries),
            clock: clock)
    }

    /// The number of leased deliveries without a result.
    public var inFlight: Int { loop.heldCount }

    /// The age of the longest overdue delivery, at the last measurement.
    public var overdue: Duration { longestDue.withLock { $0 } }

    /// Something is due now.
    public func wake() { loop.wake() }

    /// Leases nothing more, returns unsent deliveries, and lets ``run()`` return after the rest is stored.
    public func shutDown() { loop.stop() }

    /// Dispatches until ``shutDown()``. To be called once.
    public func run() async { await loop.run(self) }
}

extension Dispatcher: LeasedWork {
    func lessees(except busy: [TenantID]) async throws -> [TenantID] {
        let due = try await outbox.tenantsWithDueDeliveries()
        longestDue.withLock { $0 = due.map(\.overdue).max() ?? .zero }
        return due.map(\.tenant)
    }

    func claim(
        _ room: Int, of tenant: TenantID
    ) async throws -> (leases: [ClaimedDelivery], hasMore: Bool) {
        (try await outbox.claim(room, of: tenant, for: settings.lease), false)
    }

    func work(on delivery: ClaimedDelivery, of tenant: TenantID) async -> Completion {
        let start = now()
        let givenBack = Completion(delivery: delivery, verdict: .givenBack(delivery), response: nil)
        guard !loop.isStopping else { return givenBack }
        if let verdict = DeliveryVerdict(before: delivery, at: start) { return decided(verdict, delivery) }
        let request: PushRequest?
        do {
            request = try delivery.request(of: tenant)
        } catch {
            return decided(.unsendable(delivery, code: error.code), delivery)
        }
        // A delivery without a request has its verdict above.
        guard let request else { return givenBack }
        let outcome = await TraceContext.$current.withValue(delivery.notification.trace) {
            await sender.send(request)
        }
        let end = now()
        let verdict = DeliveryVerdict(
            on: outcome, of: delivery, at: end, random: Double.random(in: 0..<1))
        onEvent(
            .attempted(
                verdict.next.state, reason: verdict.reason, duration: end.timeIntervalSince(start),
                delay: delivery.attempt == 1
                    ? end.timeIntervalSince(delivery.notification.createdAt) : nil))
        let response = DeliveryResponse(attempt: delivery.attempt, at: end, result: .init(outcome))
        return Completion(delivery: delivery, verdict: verdict, response: response)
    }

    private func decided(_ verdict: DeliveryVerdict, _ delivery: ClaimedDelivery) -> Completion {
        onEvent(.decided(verdict.next.state, reason: verdict.reason))
        return Completion(delivery: delivery, verdict: verdict, response: nil)
    }

    /// Never: the outbox fences, and takes even late that APNs has a delivery.
    func isPast(_ completion: Completion) -> Bool { false }

    func settle(_ completions: [Completion], of tenant: TenantID) async -> Unsettled<Completion>? {
        var rest = completions[...]
        var size = completions.count
        while let first = rest.first {
            let batch = rest.prefix(size)
            do {
                try await outbox.complete(Array(batch), of: tenant)
            } catch  where !Self.isRefusal(error) {
                return Unsettled(outcomes: Array(rest), error: error)
            } catch  where batch.count > 1 {
                // One that is refused takes all of its batch with it: halves, until it is alone.
                size = batch.count / 2
                continue
            } catch {
                onEvent(.unwritable(first.delivery.id, error))
            }
            rest = rest.dropFirst(batch.count)
            size = min(size * 2, completions.count)
        }
        return nil
    }

    /// Whether the error concerns the data itself, so that a repetition would fail too.
    private static func isRefusal(_ error: any Error) -> Bool {
        !Task.isCancelled && !(error is StoreUnavailable)
    }

    func rest(_ number: Int) -> Duration { settings.retryInterval }

    func report(_ event: LeaseEvent<TenantID>) {
        switch event {
        case .failed(_, let error): onEvent(.failed(error))
        case .recovered: onEvent(.recovered)
        case .abandoned(let count): onEvent(.abandoned(count))
        }
    }
}

extension DeliveryResponse.Result {
    init(_ outcome: PushOutcome) {
        switch outcome {
        case .answered(let response):
            self = .answered(
                status: response.status, reason: response.reason?.rawValue, uniqueID: response.uniqueID)
        case .notSent(let failure), .unanswered(let failure):
            self = .failed(failure.rawValue)
        }
    }
}
