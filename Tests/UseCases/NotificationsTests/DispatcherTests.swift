import Foundation
import PropertyTesting
import Synchronization
import Tenancy
import Testing

@testable import Notifications

@Suite struct DispatcherTests {
    private static let tenants = (1...3).map { number in
        TenantID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number))))
    }

    private static let sent = PushOutcome.answered(APNsResponse(status: 200))

    @Test func dueDeliveriesAreSentAndCompleted() async throws {
        let outbox = MemoryOutbox()
        try outbox.add(10, of: Self.tenants[0])
        let dispatcher = Dispatcher(outbox, Responding { _ in Self.sent }, clock: StandingClock())
        async let run: Void = dispatcher.run()
        await outbox.waitForCompletions(10)
        dispatcher.shutDown()
        await run
        #expect(outbox.completions.allSatisfy { $0.verdict.next == .delivered })
        #expect(outbox.completedCount == 10 && Set(outbox.completions.map(\.delivery.id)).count == 10)
        #expect(dispatcher.inFlight == 0)
    }

    /// The clock never reaches a poll. Without the wake-up, nothing would complete before the time limit.
    @Test(.timeLimit(.minutes(30))) func wakeTriggersImmediateLook() async throws {
        let outbox = MemoryOutbox()
        let dispatcher = Dispatcher(outbox, Responding { _ in Self.sent }, clock: StandingClock())
        async let run: Void = dispatcher.run()
        await outbox.waitForLooks(1)
        #expect(outbox.claims.isEmpty)
        try outbox.add(1, of: Self.tenants[0])
        dispatcher.wake()
        await outbox.waitForCompletions(1)
        dispatcher.shutDown()
        await run
        #expect(outbox.completions.map(\.verdict.next) == [.delivered])
    }

    @Test func tenantsTakeTurnsAndCapacityIsBounded() async throws {
        let outbox = MemoryOutbox()
        try outbox.add(1_000, of: Self.tenants[0])
        try outbox.add(5, of: Self.tenants[1])
        try outbox.add(1_000, of: Self.tenants[2])
        var settings = Dispatcher.Settings()
        settings.maximumInFlight = 40
        settings.batch = 10
        let gate = Gate()
        let dispatcher = Dispatcher(
            outbox,
            Responding { _ in
                await gate.pass(); return Self.sent
            }, settings: settings, clock: StandingClock())
        async let run: Void = dispatcher.run()
        // The dispatcher leases 40 deliveries while none has a response.
        await outbox.waitForClaims(40)
        #expect(outbox.claims.prefix(3).map(\.tenant) == Self.tenants)
        #expect(outbox.claims.prefix(3).map(\.count) == [10, 5, 10])
        let perTenant = Dictionary(grouping: outbox.claims, by: \.tenant).mapValues {
            $0.reduce(0) { $0 + $1.count }
        }
        #expect(perTenant.values.allSatisfy { $0 <= 30 })
        gate.open()
        await outbox.waitForCompletions(2_005)
        dispatcher.shutDown()
        await run
        #expect(Set(outbox.completions.map(\.delivery.id)).count == 2_005)
        #expect(outbox.mostLeased <= 40)
    }

    @Test func singleTenantLeavesQuarterOfCapacity() async throws {
        let outbox = MemoryOutbox()
        try outbox.add(1_000, of: Self.tenants[0])
        var settings = Dispatcher.Settings()
        settings.maximumInFlight = 40
        let gate = Gate()
        let dispatcher = Dispatcher(
            outbox,
            Responding { _ in
                await gate.pass(); return Self.sent
            }, settings: settings, clock: StandingClock())
        async let run: Void = dispatcher.run()
        await outbox.waitForClaims(30)
        try outbox.add(1, of: Self.tenants[1])
        dispatcher.wake()
        await outbox.waitForClaims(31)
        #expect(outbox.claims.last?.tenant == Self.tenants[1])
        dispatcher.shutDown()
        gate.open()
        await run
        #expect(outbox.completions.count == 31)
    }

    @Test func deliveriesNotSentOnShutdownAreReturned() async throws {
        let outbox = MemoryOutbox()
        let (sending, claiming) = (Self.tenants[0], Self.tenants[1])
        try outbox.add(4, of: sending)
        try outbox.add(1, of: claiming)
        let (claims, replies) = (Gate(), Gate())
        outbox.holdClaims(of: claiming, until: claims)
        let begun = Watched(0)
        let dispatcher = Dispatcher(
            outbox,
            Responding { request in
                #expect(request.tenant == sending)
                let number = begun.change {
                    $0 += 1
                    return $0
                }
                await replies.pass()
                // APNs accepts the first two. The client has not sent the others yet.
                return number <= 2 ? Self.sent : .notSent(.shuttingDown)
            }, clock: StandingClock())
        async let run: Void = dispatcher.run()
        await begun.wait { $0 == 4 }
        dispatcher.shutDown()
        // The current claim ends after the shutdown, so its delivery is not sent.
        claims.open()
        replies.open()
        await run
        #expect(outbox.completions.count == 5 && dispatcher.inFlight == 0)
        #expect(outbox.completions.count { $0.verdict.next == .delivered } == 2)
        let returned = outbox.completions.filter { $0.verdict.next == .retry(after: 0) }
        #expect(returned.count == 3 && returned.allSatisfy { $0.verdict.lostReplies == 0 })
        #expect(returned.count { $0.response == nil } == 1)
    }

    /// While the outbox is unavailable, outcomes are kept and no new deliveries are leased.
    @Test func outcomesAreKeptWhileOutboxIsUnavailable() async throws {
        let outbox = MemoryOutbox()
        try outbox.add(20, of: Self.tenants[0])
        outbox.failCompletions(3)
        var settings = Dispatcher.Settings()
        settings.maximumInFlight = 8
        let events = Mutex<[String]>([])
        let dispatcher = Dispatcher(
            outbox, Responding { _ in Self.sent }, settings: settings, clock: RacingClock(),
            onEvent: { event in
                switch event {
                case .failed: events.withLock { $0.append("failed") }
                case .recovered: events.withLock { $0.append("recovered") }
                case .attempted, .decided, .unwritable, .abandoned: break
                }
            })
        async let run: Void = dispatcher.run()
        await outbox.waitForCompletions(20)
        dispatcher.shutDown()
        await run
        #expect(events.withLock { $0.count { $0 == "failed" } } == 3)
        #expect(events.withLock { $0.contains("recovered") })
        #expect(Set(outbox.completions.map(\.delivery.id)).count == 20)
        #expect(outbox.mostLeased <= 8)
    }

    /// If the outbox refuses one delivery, the rest of its batch is stored, and its room becomes free.
    @Test(arguments: [1, 2, 7, 64]) func unwritableDeliveryIsGivenUpWithoutItsBatch(
        refusedCount: Int
    ) async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix64(seed: seed)
        let outbox = MemoryOutbox()
        try outbox.add(64, of: Self.tenants[0])
        try outbox.add(3, of: Self.tenants[1])
        outbox.refuse(Set(outbox.due(of: Self.tenants[0]).shuffled(using: &random).prefix(refusedCount)))
        let unwritable = Mutex<[DeliveryID]>([])
        let gate = Gate()
        let dispatcher = Dispatcher(
            outbox,
            Responding { _ in
                await gate.pass(); return Self.sent
            }, clock: StandingClock(),
            onEvent: { event in
                switch event {
                case .unwritable(let id, _): unwritable.withLock { $0.append(id) }
                case .failed(let error): Issue.record("\(error), seed \(seed)")
                case .attempted, .decided, .recovered, .abandoned: break
                }
            })
        async let run: Void = dispatcher.run()
        await outbox.waitForClaims(67)
        gate.open()
        await outbox.waitForCompletions(67 - refusedCount)
        dispatcher.shutDown()
        await run
        #expect(outbox.completedCount == 67 - refusedCount && dispatcher.inFlight == 0, "seed \(seed)")
        #expect(unwritable.withLock { Set($0) } == outbox.refused, "seed \(seed)")
        #expect(unwritable.withLock(\.count) == refusedCount, "seed \(seed)")
    }

    /// The first of eight outcomes is refused, found in four attempts, and given up. Two are stored. Then the outbox becomes
    /// unavailable.
    @Test func unwrittenOutcomesAreHandedBack() async throws {
        let outbox = MemoryOutbox()
        try outbox.add(8, of: Self.tenants[0])
        let taken = try await outbox.claim(8, of: Self.tenants[0], for: .seconds(60))
        outbox.refuse([taken[0].id])
        outbox.failCompletions(1, after: 5)
        let dispatcher = Dispatcher(outbox, Responding { _ in Self.sent }, clock: StandingClock())
        let completions = taken.map { Completion(delivery: $0, verdict: .givenBack($0), response: nil) }
        let unsettled = await dispatcher.settle(completions, of: Self.tenants[0])
        #expect(unsettled?.outcomes.map(\.delivery.id) == taken[3...].map(\.id))
        #expect(outbox.completions.map(\.delivery.id) == taken[1...2].map(\.id))
        let left = await dispatcher.settle(unsettled?.outcomes ?? [], of: Self.tenants[0])
        #expect(left == nil && outbox.completedCount == 7)
    }

    @Test func shutdownAbandonsUnwritableOutcomes() async throws {
        let outbox = MemoryOutbox()
        try outbox.add(3, of: Self.tenants[0])
        outbox.failCompletions(.max)
        let abandoned = Mutex(0)
        let dispatcher = Dispatcher(
            outbox, Responding { _ in Self.sent }, clock: RacingClock(),
            onEvent: { if case .abandoned(let count) = $0 { abandoned.withLock { $0 = count } } })
        async let run: Void = dispatcher.run()
        await outbox.waitForClaims(3)
        dispatcher.shutDown()
        await run
        #expect(abandoned.withLock { $0 } == 3)
    }

    @Test func deliveryWithoutDestinationIsNotSent() async throws {
        let outbox = MemoryOutbox()
        try outbox.add(2, of: Self.tenants[0], destination: .nowhere("token_dead"))
        let dispatcher = Dispatcher(
            outbox,
            Responding { _ in
                Issue.record("sent")
                return Self.sent
            }, clock: StandingClock())
        async let run: Void = dispatcher.run()
        await outbox.waitForCompletions(2)
        dispatcher.shutDown()
        await run
        #expect(outbox.completions.allSatisfy { $0.verdict.next == .refused && $0.response == nil })
    }
}

private struct Responding: PushSender {
    let response: @Sendable (PushRequest) async -> PushOutcome

    init(_ response: @escaping @Sendable (PushRequest) async -> PushOutcome) {
        self.response = response
    }

    func send(_ request: PushRequest) async -> PushOutcome { await response(request) }
}

/// A clock whose sleeps end at once.
private struct RacingClock: Clock {
    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// An outbox in memory that counts its calls.
private final class MemoryOutbox: Outbox {
    struct Claim: Sendable {
        let tenant: TenantID
        let count: Int
    }

    private struct State {
        var due: [TenantID: [ClaimedDelivery]] = [:]
        var claims: [Claim] = []
        var completions: [Completion] = []
        var looks = 0
        var failures = 0
        /// The number of completions that are refused or succeed before completing fails.
        var triesBeforeFailures = 0
        var refused: Set<DeliveryID> = []
        var heldClaims: [TenantID: Gate] = [:]
        var mostLeased = 0

        var claimed: Int { claims.reduce(0) { $0 + $1.count } }
    }

    private let state = Watched(State())

    var claims: [Claim] { state.current.claims.filter { $0.count > 0 } }
    var completions: [Completion] { state.current.completions }
    var completedCount: Int { completions.count }
    var mostLeased: Int { state.current.mostLeased }

    func add(
        _ count: Int, of tenant: TenantID, destination: ClaimedDelivery.Destination = .channel("c")
    ) throws {
        let deliveries = try (0..<count).map { _ in
            // Created while the tests run, unlike the other deliveries, which are in the past.
            try VerdictTests.delivery(
                age: -Date().timeIntervalSince1970 + 1_772_368_200, destination: destination)
        }
        change { $0.due[tenant, default: []] += deliveries }
    }

    /// Deliveries that make every completion with them fail.
    func refuse(_ deliveries: Set<DeliveryID>) { change { $0.refused = deliveries } }
    var refused: Set<DeliveryID> { state.current.refused }
    func due(of tenant: TenantID) -> [DeliveryID] { state.current.due[tenant, default: []].map(\.id) }

    func holdClaims(of tenant: TenantID, until gate: Gate) { change { $0.heldClaims[tenant] = gate } }

    func failCompletions(_ count: Int, after tries: Int = 0) {
        change { ($0.failures, $0.triesBeforeFailures) = (count, tries) }
    }

    func waitForCompletions(_ count: Int) async { await wait { $0.completions.count >= count } }
    func waitForClaims(_ count: Int) async { await wait { $0.claimed >= count } }
    func waitForLooks(_ count: Int) async { await wait { $0.looks >= count } }

    private func wait(until isOver: @escaping @Sendable (State) -> Bool) async {
        await state.wait(until: isOver)
    }

    private func change(_ change: (inout State) -> Void) { state.change(change) }

    func tenantsWithDueDeliveries() async throws -> [DueTenant] {
        change { $0.looks += 1 }
        return state.current.due.filter { !$0.value.isEmpty }.keys.sorted { $0.description < $1.description }
            .map { DueTenant(tenant: $0, overdue: .zero) }
    }

    func claim(_ limit: Int, of tenant: TenantID, for lease: Duration) async throws -> [ClaimedDelivery] {
        if let gate = state.current.heldClaims[tenant] { await gate.pass() }
        var taken: [ClaimedDelivery] = []
        change { state in
            taken = Array(state.due[tenant, default: []].prefix(limit))
            state.due[tenant]?.removeFirst(taken.count)
            state.claims.append(Claim(tenant: tenant, count: taken.count))
            state.mostLeased = max(state.mostLeased, state.claimed - state.completions.count)
        }
        return taken
    }

    func complete(_ completions: [Completion], of tenant: TenantID) async throws -> Int {
        struct Refusal: Error {}
        var fails = false
        var refuses = false
        change { state in
            fails = state.failures > 0 && state.triesBeforeFailures == 0
            state.triesBeforeFailures = max(0, state.triesBeforeFailures - 1)
            refuses = completions.contains { state.refused.contains($0.delivery.id) }
            if fails {
                state.failures -= 1
            } else if !refuses {
                state.completions += completions
            }
        }
        if fails { throw StoreUnavailable() }
        if refuses { throw Refusal() }
        return completions.count
    }
}
