import Foundation
import Synchronization
import Tenancy
import Testing

@testable import Notifications

@Suite(.timeLimit(.minutes(30))) struct LeaseLoopTests {
    private static let tenants = (1...40).map { number in
        TenantID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number))))
    }

    private static func settings(
        isInTurn: Bool = true, settlers: Int = 1, cutsOff: Bool = false, lastTries: Int = 3
    ) -> LeaseSettings {
        LeaseSettings(
            total: 100, share: 20, batch: 10, isInTurn: isInTurn, settlers: settlers,
            settlingRest: .seconds(10), patience: 3, pollInterval: .seconds(1), cutsOff: cutsOff,
            lastTries: lastTries)
    }

    /// The clock does not advance, so no rest ends.
    @Test(arguments: [true, false]) func unwritableTenantDoesNotDelayOthers(isInTurn: Bool) async {
        let (broken, others) = (Self.tenants[0], Self.tenants.dropFirst())
        let work = ScriptedWork(
            Dictionary(uniqueKeysWithValues: Self.tenants.map { ($0, [1, 2, 3]) }),
            onSettle: { if $0 == broken { throw ScriptedWork.Failure() } })
        let loop = LeaseLoop<ScriptedWork>(
            Self.settings(isInTurn: isInTurn, lastTries: 1), clock: NotedClock())
        async let run: Void = loop.run(work)
        await work.state.wait { state in others.allSatisfy { state.settled[$0]?.count == 3 } }
        await work.state.wait { $0.failed == [broken] }
        // Further due work of the tenant is not leased.
        work.state.change { $0.due[broken] = [4] }
        work.state.change { $0.due[Self.tenants[1]] = [4] }
        loop.wake()
        await work.state.wait { $0.settled[Self.tenants[1]]?.count == 4 }
        #expect(work.state.current.due[broken] == [4])
        loop.stop()
        await run
        #expect(work.state.current.abandonedCount == 3)
    }

    @Test func failedSettlementIsRetriedWhileStopping() async {
        let tenant = Self.tenants[0]
        let gate = Gate()
        let hasFailed = Mutex(false)
        let clock = NotedClock()
        let work = ScriptedWork(
            [tenant: [1, 2]], onWork: { if $0 == 2 { await gate.pass() } },
            onSettle: { _ in
                let isFirst = hasFailed.withLock { hasFailed in
                    defer { hasFailed = true }
                    return !hasFailed
                }
                if isFirst { throw ScriptedWork.Failure() }
            })
        let loop = LeaseLoop<ScriptedWork>(Self.settings(), clock: clock)
        async let run: Void = loop.run(work)
        await clock.wait(for: .seconds(10))
        loop.stop()
        clock.end(.seconds(10))
        // The second one is still in progress.
        await work.state.wait { $0.settled[tenant] == [1] }
        gate.open()
        await run
        #expect(work.state.current.settled[tenant] == [1, 2])
        #expect(work.state.current.abandonedCount == 0 && loop.heldCount == 0)
    }

    /// There is one settler, and a pause between the rounds.
    @Test func stoppingLoopTriesEachTenantOncePerRound() async {
        let (broken, others) = (Self.tenants[0], Self.tenants[1...3])
        let isEnding = Mutex(false)
        let clock = NotedClock()
        let work = ScriptedWork(
            Dictionary(uniqueKeysWithValues: Self.tenants[0...3].map { ($0, Array(1...15)) }),
            onSettle: { tenant in
                if tenant == broken || !isEnding.withLock({ $0 }) { throw ScriptedWork.Failure() }
            })
        let loop = LeaseLoop<ScriptedWork>(Self.settings(), clock: clock)
        async let run: Void = loop.run(work)
        await work.state.wait { $0.failed.count == 4 }
        isEnding.withLock { $0 = true }
        let tries = work.state.current.tries
        loop.stop()
        await work.state.wait { state in others.allSatisfy { !state.settled[$0, default: []].isEmpty } }
        for round in 1...2 {
            await work.state.wait { $0.tries[broken, default: 0] == tries[broken, default: 0] + round }
            await clock.wait(for: .seconds(10))
            clock.end(.seconds(10))
        }
        await run
        let end = work.state.current
        #expect(end.tries[broken, default: 0] == tries[broken, default: 0] + 3)
        #expect(others.allSatisfy { end.settled[$0]?.count == 15 - end.due[$0, default: []].count })
        #expect(end.abandonedCount == 15 - end.due[broken, default: []].count)
        #expect(loop.heldCount == 0)
    }

    @Test func reservationIsNotCountedAsHeld() async {
        let (gate, claimed, begun, worked) = (Gate(), Gate(), Gate(), Gate())
        let work = ScriptedWork(
            [Self.tenants[0]: [1, 2, 3]],
            onClaim: { _ in
                claimed.open()
                await gate.pass()
            },
            onWork: { _ in
                begun.open()
                await worked.pass()
            })
        let loop = LeaseLoop<ScriptedWork>(Self.settings(isInTurn: false), clock: NotedClock())
        async let run: Void = loop.run(work)
        await claimed.pass()
        #expect(loop.heldCount == 0)
        gate.open()
        await begun.pass()
        #expect(loop.heldCount == 3)
        loop.stop()
        worked.open()
        await run
        #expect(work.state.current.settled[Self.tenants[0]]?.count == 3 && loop.heldCount == 0)
    }

    enum Query: Sendable, CaseIterable { case look, claim, work, settle }

    /// A query that does not return is cancelled. Results that can be stored are stored once.
    @Test(arguments: Query.allCases) func loopThatCutsOffStopsImmediately(query: Query) async {
        let tenant = Self.tenants[0]
        let begun = Gate()
        @Sendable func hang() async throws {
            guard !Task.isCancelled else { throw CancellationError() }
            begun.open()
            try await Task.sleep(for: .seconds(86_400))
        }
        let settlings = Mutex(0)
        let work = ScriptedWork(
            [tenant: [1]], onLook: { if query == .look { try await hang() } },
            onClaim: { _ in if query == .claim { try await hang() } },
            onWork: { _ in if query == .work { try? await hang() } },
            onSettle: { _ in
                let isFirst = settlings.withLock { count in
                    count += 1
                    return count == 1
                }
                if query == .settle, isFirst { try await hang() }
            })
        let loop = LeaseLoop<ScriptedWork>(
            Self.settings(isInTurn: false, settlers: 8, cutsOff: true, lastTries: 1), clock: NotedClock())
        async let run: Void = loop.run(work)
        await begun.pass()
        loop.stop()
        await run
        let end = work.state.current
        #expect(end.failed.isEmpty && end.abandonedCount == 0 && loop.heldCount == 0)
        #expect(end.settled[tenant] == (query == .work || query == .settle ? [1] : nil))
    }

    @Test func failedClaimRestsLongerEachTime() async {
        let (broken, other) = (Self.tenants[0], Self.tenants[1])
        let isBroken = Mutex(true)
        let clock = NotedClock()
        let work = ScriptedWork(
            [broken: [1], other: [1]],
            onClaim: { if $0 == broken, isBroken.withLock({ $0 }) { throw ScriptedWork.Failure() } })
        let loop = LeaseLoop<ScriptedWork>(Self.settings(), clock: clock)
        async let run: Void = loop.run(work)
        await work.state.wait { $0.settled[other] == [1] }
        for number in 1...3 {
            await clock.wait(for: .seconds(10 * number))
            if number == 3 { isBroken.withLock { $0 = false } }
            clock.end(.seconds(10 * number))
        }
        await work.state.wait { $0.settled[broken] == [1] }
        loop.stop()
        await run
        #expect(work.state.current.failed == [broken, broken, broken])
    }
}
