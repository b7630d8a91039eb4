import Foundation
import PropertyTesting
import Tenancy
import Testing

@testable import Notifications

@Suite struct LeaseStateTests {
    private static let tenants = (1...50).map { number in
        TenantID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number))))
    }

    private static func settings(
        total: Int = 20, share: Int = 8, batch: Int = 5, isInTurn: Bool = true, settlers: Int = 2
    ) -> LeaseSettings {
        LeaseSettings(
            total: total, share: share, batch: batch, isInTurn: isInTurn, foundAtOnce: 32,
            settlers: settlers, settlingRest: .seconds(10), patience: 3, pollInterval: .seconds(1),
            cutsOff: false, lastTries: 1)
    }

    /// Every tenant has more due work than there is room for.
    @Test(arguments: [(10, 4, 3), (7, 7, 7), (100, 3, 2), (1, 1, 1), (64, 5, 9)])
    func turnsAreSharedFairlyAmongTenants(total: Int, share: Int, batch: Int) {
        var state = LeaseState<TenantID, Int>(Self.settings(total: total, share: share, batch: batch))
        var turns: [TenantID: Int] = [:]
        for _ in 1...400 {
            var held: [TenantID: Int] = [:]
            for tenant in state.inTurn(Self.tenants) {
                guard let room = state.reserve(for: tenant) else { continue }
                #expect(room <= min(batch, share))
                _ = state.claimed(room, of: room, for: tenant)
                held[tenant, default: 0] += room
                turns[tenant, default: 0] += 1
            }
            #expect(state.heldCount == min(total, Self.tenants.count * min(batch, share)))
            Self.settle(held, in: &state)
        }
        let (fewest, most) = (turns.values.min() ?? 0, turns.values.max() ?? 0)
        #expect(turns.count == Self.tenants.count && most - fewest <= 1)
    }

    private static func settle(_ held: [TenantID: Int], in state: inout LeaseState<TenantID, Int>) {
        for (tenant, count) in held {
            for number in 0..<count { state.finish(number, of: tenant) }
        }
        while let tenant = state.next() {
            let outcomes = state.takeOutcomes(of: tenant)
            #expect(state.settled(outcomes.count, keeping: [], of: tenant) == false)
        }
        #expect(state.heldCount == 0)
    }

    @Test func tenantIsLimitedToItsShare() {
        var state = LeaseState<TenantID, Int>(Self.settings())
        let (greedy, other) = (Self.tenants[0], Self.tenants[1])
        #expect(state.reserve(for: greedy) == 5)
        // Reserved work occupies room, but is not held.
        #expect(state.heldCount == 0)
        #expect(state.reserve(for: greedy) == 3)
        #expect(state.reserve(for: greedy) == nil)
        #expect(state.busy == [greedy])
        _ = state.claimed(5, of: 5, for: greedy)
        _ = state.claimed(1, of: 3, for: greedy)
        #expect(state.heldCount == 6)
        #expect(state.reserve(for: greedy) == 2)
        for tenant in Self.tenants[1...2] {
            #expect(state.reserve(for: tenant) == 5)
        }
        // 18 of 20 places are occupied.
        #expect(state.reserve(for: Self.tenants[3]) == 2)
        #expect(state.busy == nil)
        #expect(state.reserve(for: other) == nil)
    }

    @Test func tenantsFoundBeyondCapacityAreLookedForAgain() {
        var state = LeaseState<TenantID, Int>(Self.settings(isInTurn: false))
        let rooms = state.reserve(for: Array(Self.tenants.prefix(6)))
        #expect(rooms.map(\.room) == [5, 5, 5, 5])
        #expect(state.claimed(5, of: 5, for: rooms[0].lessee) == false)
        #expect(state.claimed(1, of: 5, for: rooms[1].lessee) == true)
        #expect(state.claimed(0, of: 5, for: rooms[2].lessee) == true)
        // The next tenant gets all that it asked for.
        #expect(state.reserve(for: [Self.tenants[8]]).map(\.room) == [5])
        #expect(state.claimed(0, of: 5, for: Self.tenants[8]) == false)
    }

    @Test func consecutiveFailuresCountOncePerRest() {
        var state = LeaseState<TenantID, Int>(Self.settings())
        let tenant = Self.tenants[0]
        for number in 1...3 {
            // Two concurrent claims fail, and the tenant rests once.
            #expect(state.reserve(for: tenant) == 5)
            #expect(state.reserve(for: tenant) == 3)
            state.failedToClaim(5, for: tenant)
            state.failedToClaim(3, for: tenant)
            #expect(state.takeRests().map(\.number) == [number])
            #expect(state.reserve(for: tenant) == nil && state.busy == [tenant])
            #expect(state.reserve(for: Self.tenants[1]) == 5)
            _ = state.claimed(0, of: 5, for: Self.tenants[1])
            state.endRest(of: tenant)
        }
        #expect(state.reserve(for: tenant) == 5)
        _ = state.claimed(0, of: 5, for: tenant)
        #expect(state.reserve(for: tenant) == 5)
        state.failedToClaim(5, for: tenant)
        #expect(state.takeRests().map(\.number) == [1])
    }

    @Test func unwritableTenantGetsNoLeasesAndNoSettler() throws {
        var state = LeaseState<TenantID, Int>(Self.settings(settlers: 1))
        let (broken, other) = (Self.tenants[0], Self.tenants[1])
        try Self.hold(2, of: broken, in: &state)
        try Self.hold(2, of: other, in: &state)
        #expect(state.next() == broken)
        #expect(state.next() == nil)
        #expect(state.takeOutcomes(of: broken) == [0, 1])
        // One of two results is stored.
        #expect(state.settled(1, keeping: [1], of: broken) == true)
        #expect(state.heldCount == 3)
        #expect(state.reserve(for: broken) == nil)
        #expect(state.next() == other)
        _ = state.takeOutcomes(of: other)
        #expect(state.settled(2, keeping: [], of: other) == false)
        #expect(state.next() == nil)
        state.endSettlingRest(of: broken)
        // Its rest is over, but its results are still not stored.
        #expect(state.reserve(for: broken) == nil)
        #expect(state.next() == broken)
        #expect(state.takeOutcomes(of: broken) == [1])
        #expect(state.settled(0, keeping: [1], of: broken) == true)
        state.endSettlingRest(of: broken)
        #expect(state.next() == broken)
        _ = state.takeOutcomes(of: broken)
        #expect(state.settled(1, keeping: [], of: broken) == false)
        #expect(state.heldCount == 0 && state.reserve(for: broken) == 5)
    }

    private static func hold(
        _ count: Int, of tenant: TenantID, in state: inout LeaseState<TenantID, Int>
    ) throws {
        let reserved = state.reserve(for: tenant)
        let room = try #require(reserved)
        _ = state.claimed(count, of: room, for: tenant)
        for number in 0..<count { state.finish(number, of: tenant) }
    }

    @Test(arguments: [true, false]) func droppedOutcomesAreNoLongerHeld(hasRested: Bool) throws {
        var state = LeaseState<TenantID, Int>(Self.settings(total: 5))
        let tenant = Self.tenants[0]
        try Self.hold(5, of: tenant, in: &state)
        #expect(state.next() == tenant)
        let outcomes = state.takeOutcomes(of: tenant)
        #expect(state.settled(0, keeping: outcomes, of: tenant) == true)
        #expect(state.busy == nil && state.drop { $0 > 4 } == 0)
        if hasRested { state.endSettlingRest(of: tenant) }
        #expect(state.drop { $0 < 2 } == 2)
        #expect(state.heldCount == 3 && state.reserve(for: tenant) == nil)
        #expect(state.reserve(for: Self.tenants[1]) == 2)
        _ = state.claimed(0, of: 2, for: Self.tenants[1])
        #expect(state.drop { _ in true } == 3)
        if !hasRested { state.endSettlingRest(of: tenant) }
        #expect(state.heldCount == 0 && state.next() == nil && state.reserve(for: tenant) == 5)
    }

    /// Its leases could expire, and its work could be leased again, before its results are stored.
    @Test func tenantWaitingForSettlerGetsNoLeases() throws {
        var state = LeaseState<TenantID, Int>(Self.settings(settlers: 1))
        let (slow, waiting) = (Self.tenants[0], Self.tenants[1])
        try Self.hold(2, of: slow, in: &state)
        try Self.hold(2, of: waiting, in: &state)
        #expect(state.next() == slow)
        let outcomes = state.takeOutcomes(of: slow)
        for _ in 1...3 {
            #expect(state.busy == [])
            state.pass()
        }
        #expect(state.busy.map(Set.init) == [slow, waiting])
        #expect(state.reserve(for: Self.tenants[2]) == 5)
        #expect(state.settled(0, keeping: outcomes, of: slow) == true)
        #expect(state.next() == waiting)
        _ = state.takeOutcomes(of: waiting)
        #expect(state.settled(2, keeping: [], of: waiting) == false)
        #expect(state.busy == [slow])
    }

    /// One after another, each tenant could wait for a connection until the timeout.
    @Test(arguments: [true, false]) func finalRoundSettlesAllAtOnceIfCutOff(cutsOff: Bool) throws {
        var settings = Self.settings(total: 200)
        settings.cutsOff = cutsOff
        var state = LeaseState<TenantID, Int>(settings)
        for tenant in Self.tenants[0...9] { try Self.hold(1, of: tenant, in: &state) }
        #expect([state.next(), state.next(), state.next()].compactMap(\.self).count == 2)
        for tenant in Self.tenants[0...1] {
            let outcomes = state.takeOutcomes(of: tenant)
            #expect(state.settled(outcomes.count, keeping: [], of: tenant) == false)
        }
        state.drain()
        #expect(state.beginRound() == (cutsOff ? 8 : 2))
        let begun = (1...10).compactMap { _ in state.next() }
        #expect(begun.count == (cutsOff ? 8 : 2))
    }

    @Test func failedLookWaitsForPoll() {
        var state = LeaseState<TenantID, Int>(Self.settings())
        state.isLookFailing = true
        #expect(state.busy == nil)
        state.pass()
        #expect(state.busy == [])
    }

    @Test func roundTriesEachTenantOnce() throws {
        var state = LeaseState<TenantID, Int>(Self.settings(total: 200, settlers: 1))
        for tenant in Self.tenants[0...9] {
            try Self.hold(5, of: tenant, in: &state)
            try Self.hold(2, of: tenant, in: &state)
        }
        state.isStopping = true
        state.drain()
        #expect(state.isQuiet)
        for round in 1...3 {
            #expect(state.beginRound() == 1)
            var tries: [TenantID: Int] = [:]
            while let tenant = state.next() {
                tries[tenant, default: 0] += 1
                let outcomes = state.takeOutcomes(of: tenant)
                let kept = tenant == Self.tenants[0] ? outcomes : []
                #expect(state.settled(outcomes.count - kept.count, keeping: kept, of: tenant) == false)
            }
            #expect(tries[Self.tenants[0]] == 1)
            #expect(tries.count == (round == 1 ? 10 : 1))
            #expect(state.heldCount == 7)
        }
        #expect(state.abandon() == 7 && state.heldCount == 0)
    }

    /// Compares random sequences of events with simple accounting.
    @Test(.timeLimit(.minutes(30)), arguments: [true, false]) func randomOrderKeepsAccountsConsistent(
        isInTurn: Bool
    ) throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix64(seed: seed)
        for _ in 1...60 {
            let settings = Self.settings(
                total: 1 + random.below(40), share: 1 + random.below(12), batch: 1 + random.below(8),
                isInTurn: isInTurn, settlers: 1 + random.below(4))
            var run = LeaseRun(settings, tenants: Array(Self.tenants.prefix(1 + random.below(8))))
            for step in 1...500 {
                run.step(&random)
                try #require(run.isKept, "seed \(seed), step \(step), \(settings)")
            }
            run.end()
            try #require(run.isOver, "seed \(seed), \(settings)")
        }
    }
}

/// A state of leases, and the expected values.
private struct LeaseRun {
    private let settings: LeaseSettings
    private let tenants: [TenantID]
    private var state: LeaseState<TenantID, Int>
    private var reserved: [(tenant: TenantID, room: Int)] = []
    private var worked: [(tenant: TenantID, lease: Int)] = []
    private var waiting: [TenantID: [Int]] = [:]
    private var beingWritten: [TenantID: [Int]] = [:]
    private var behind: Set<TenantID> = []
    private var resting: Set<TenantID> = []
    private var settlingRests: Set<TenantID> = []
    private var leaseCount = 0
    /// Work whose result is stored or dropped, each once.
    private var ended: Set<Int> = []
    private var isWrong = false

    init(_ settings: LeaseSettings, tenants: [TenantID]) {
        self.settings = settings
        self.tenants = tenants
        state = LeaseState(settings)
    }

    private func held(of tenant: TenantID) -> Int {
        worked.count { $0.tenant == tenant } + waiting[tenant, default: []].count
            + beingWritten[tenant, default: []].count
    }

    private func room(for tenant: TenantID) -> Int {
        let isBlocked =
            behind.contains(tenant) || resting.contains(tenant) || settlingRests.contains(tenant)
        guard !isBlocked else { return 0 }
        let all = reserved.reduce(0) { $0 + $1.room } + tenants.reduce(0) { $0 + held(of: $1) }
        let own = reserved.reduce(0) { $0 + ($1.tenant == tenant ? $1.room : 0) } + held(of: tenant)
        return max(0, min(settings.batch, settings.total - all, settings.share - own))
    }

    /// The tenants whose results could be stored if a settler were free.
    private var waiters: [TenantID] {
        tenants.filter {
            !waiting[$0, default: []].isEmpty && beingWritten[$0] == nil && !settlingRests.contains($0)
        }
    }

    var isKept: Bool {
        let busy = state.busy.map(Set.init)
        let held = tenants.map { self.held(of: $0) }
        return !isWrong && state.heldCount == held.reduce(0, +) && state.heldCount <= settings.total
            && held.allSatisfy { $0 <= settings.share } && beingWritten.count <= settings.settlers
            && (busy.map { busy in tenants.allSatisfy { !busy.contains($0) || room(for: $0) == 0 } } ?? true)
    }

    var isOver: Bool { !isWrong && ended.count == leaseCount && state.heldCount == 0 }

    mutating func step(_ random: inout SplitMix64) {
        let tenant = random.pick(tenants)
        switch random.below(9) {
        case 0, 1:
            let expected = room(for: tenant)
            let room = state.reserve(for: tenant)
            isWrong = isWrong || (room ?? 0) != expected
            if let room { reserved.append((tenant, room)) }
        case 2:
            guard !reserved.isEmpty else { return }
            let (tenant, room) = reserved.remove(at: random.below(reserved.count))
            let count = random.below(room + 1)
            _ = state.claimed(count, of: room, for: tenant)
            for _ in 0..<count {
                worked.append((tenant, leaseCount))
                leaseCount += 1
            }
        case 3:
            guard !reserved.isEmpty, random.oneIn(3) else { return }
            let (tenant, room) = reserved.remove(at: random.below(reserved.count))
            state.failedToClaim(room, for: tenant)
            let rests = state.takeRests().map(\.lessee)
            isWrong = isWrong || rests != (resting.insert(tenant).inserted ? [tenant] : [])
        case 4:
            guard resting.remove(tenant) != nil else { return }
            state.endRest(of: tenant)
        case 5, 6:
            guard !worked.isEmpty else { return }
            let (tenant, lease) = worked.remove(at: random.below(worked.count))
            state.finish(lease, of: tenant)
            waiting[tenant, default: []].append(lease)
        case 7:
            if random.oneIn(2) { begin() } else { settle(&random) }
        default:
            if random.oneIn(4) { drop(random.below(5)) } else { endSettlingRest(of: tenant) }
        }
    }

    private mutating func begin() {
        let (expected, isFree) = (waiters, beingWritten.count < settings.settlers)
        guard let tenant = state.next() else {
            isWrong = isWrong || isFree && !expected.isEmpty
            return
        }
        let outcomes = state.takeOutcomes(of: tenant)
        let all = waiting[tenant, default: []]
        isWrong =
            isWrong || !isFree || !expected.contains(tenant)
            || outcomes != Array(all.prefix(settings.batch))
        waiting[tenant] = Array(all.dropFirst(outcomes.count))
        beingWritten[tenant] = outcomes
    }

    private mutating func settle(_ random: inout SplitMix64) {
        guard let (tenant, outcomes) = beingWritten.randomElement(using: &random) else { return }
        beingWritten[tenant] = nil
        let written = random.oneIn(2) ? outcomes.count : random.below(outcomes.count + 1)
        let kept = Array(outcomes.dropFirst(written))
        isWrong = isWrong || state.settled(written, keeping: kept, of: tenant) == kept.isEmpty
        end(outcomes.prefix(written))
        waiting[tenant, default: []].insert(contentsOf: kept, at: 0)
        if kept.isEmpty {
            behind.remove(tenant)
        } else {
            behind.insert(tenant)
            settlingRests.insert(tenant)
        }
    }

    private mutating func endSettlingRest(of tenant: TenantID) {
        guard settlingRests.remove(tenant) != nil else { return }
        state.endSettlingRest(of: tenant)
        if waiting[tenant, default: []].isEmpty { behind.remove(tenant) }
    }

    private mutating func drop(_ remainder: Int) {
        var count = 0
        for (tenant, outcomes) in waiting {
            let past = outcomes.filter { $0 % 5 == remainder }
            waiting[tenant] = outcomes.filter { $0 % 5 != remainder }
            count += past.count
            end(past[...])
            let isLeft = outcomes.count > past.count || beingWritten[tenant] != nil
            if !isLeft, !settlingRests.contains(tenant) { behind.remove(tenant) }
        }
        isWrong = isWrong || state.drop { $0 % 5 == remainder } != count
    }

    private mutating func end(_ outcomes: ArraySlice<Int>) {
        for outcome in outcomes { isWrong = isWrong || !ended.insert(outcome).inserted }
    }

    /// Ends like a loop: the remaining results are stored in one round.
    mutating func end() {
        state.isStopping = true
        for (tenant, room) in reserved { _ = state.claimed(0, of: room, for: tenant) }
        reserved = []
        for (tenant, lease) in worked {
            state.finish(lease, of: tenant)
            waiting[tenant, default: []].append(lease)
        }
        worked = []
        for (tenant, outcomes) in beingWritten {
            isWrong = isWrong || state.settled(outcomes.count, keeping: [], of: tenant)
            end(outcomes[...])
        }
        beingWritten = [:]
        settlingRests = []
        state.drain()
        guard state.beginRound() > 0 else { return }
        while let tenant = state.next() {
            let outcomes = state.takeOutcomes(of: tenant)
            isWrong =
                isWrong || state.settled(outcomes.count, keeping: [], of: tenant)
                || outcomes != Array(waiting[tenant, default: []].prefix(outcomes.count))
            waiting[tenant]?.removeFirst(outcomes.count)
            end(outcomes[...])
        }
    }
}
