import Foundation
import PropertyTesting
import Testing

@testable import PostgreSQL

@Suite(.timeLimit(.minutes(30))) struct PoolStateMachineTests {
    private func machine(connections: Int = 2, waiters: Int = 10) -> PoolStateMachine {
        PoolStateMachine(maximumConnections: connections, maximumWaiters: waiters)
    }

    @Test func poolConnectsPerTaskUpToTheMaximum() {
        var pool = machine()
        #expect(pool.acquire(1) == [.connect(0)])
        #expect(pool.acquire(2) == [.connect(1)])
        #expect(pool.acquire(3) == [])
        #expect(pool.connected(1) == [.lend(1, to: 1)])
        #expect(pool.connected(0) == [.lend(0, to: 2)])
        #expect(pool.statistics == PoolStatistics(idle: 0, busy: 2, connecting: 0, waiting: 1))
    }

    @Test func waitersAreServedInOrder() {
        var pool = machine(connections: 1)
        _ = pool.acquire(1)
        _ = pool.connected(0)
        _ = pool.acquire(2)
        _ = pool.acquire(3)
        #expect(pool.release(0, isReusable: true) == [.lend(0, to: 2)])
        #expect(pool.lendIdle() == nil)
        #expect(pool.release(0, isReusable: true) == [.lend(0, to: 3)])
        #expect(pool.release(0, isReusable: true) == [])
        #expect(pool.lendIdle() == 0)
    }

    @Test func waitingPartiesTakeTurns() {
        var pool = machine(connections: 1)
        let (many, few) = (UUID(), UUID())
        _ = pool.acquire(1, for: many)
        _ = pool.connected(0)
        for task in 2...4 { _ = pool.acquire(task, for: many) }
        _ = pool.acquire(5, for: few)
        _ = pool.acquire(6)
        _ = pool.acquire(7, for: few)
        var order: [PoolStateMachine.Action] = []
        for _ in 0..<6 { order += pool.release(0, isReusable: true) }
        #expect(order == [2, 5, 6, 3, 7, 4].map { .lend(0, to: $0) })
    }

    @Test func partyWithMostWaitersMakesRoom() {
        var pool = machine(connections: 1, waiters: 3)
        let (many, few) = (UUID(), UUID())
        for task in 1...3 { _ = pool.acquire(task, for: many) }
        #expect(pool.acquire(4, for: many) == [.fail(4, .poolExhausted)])
        #expect(pool.acquire(5, for: few) == [.fail(3, .poolExhausted)])
        #expect(pool.acquire(6, for: few) == [.fail(6, .poolExhausted)])
        #expect(pool.connected(0) == [.lend(0, to: 1)])
        #expect(pool.release(0, isReusable: true) == [.lend(0, to: 5)])
        #expect(pool.release(0, isReusable: true) == [.lend(0, to: 2)])
    }

    @Test func excessWaiterIsRejected() {
        var pool = machine(connections: 1, waiters: 1)
        _ = pool.acquire(1)
        #expect(pool.acquire(2) == [.fail(2, .poolExhausted)])
    }

    @Test func waiterThatGaveUpIsNotServed() {
        var pool = machine(connections: 1)
        _ = pool.acquire(1)
        #expect(pool.giveUp(1, .cancelled) == [.fail(1, .cancelled)])
        #expect(pool.giveUp(1, .timeout(.acquiring)) == [])
        #expect(pool.connected(0) == [])
        #expect(pool.statistics.idle == 1)
    }

    @Test func failedConnectFailsOldestWaiterAndRetriesForNext() {
        var pool = machine(connections: 1)
        _ = pool.acquire(1)
        _ = pool.acquire(2)
        let failure = PostgreSQLError.connectFailed(reason: "refused")
        #expect(pool.connectFailed(0, failure) == [.close(0), .fail(1, failure), .connect(1)])
        #expect(pool.connected(1) == [.lend(1, to: 2)])
    }

    @Test func unusableConnectionIsClosedAndReplaced() {
        var pool = machine(connections: 1)
        _ = pool.acquire(1)
        _ = pool.connected(0)
        _ = pool.acquire(2)
        #expect(pool.release(0, isReusable: false) == [.close(0), .connect(1)])
    }

    @Test func lostIdleConnectionIsNotLeased() {
        var pool = machine()
        _ = pool.acquire(1)
        _ = pool.connected(0)
        _ = pool.release(0, isReusable: true)
        #expect(pool.lost(0) == [.close(0)])
        #expect(pool.lendIdle() == nil)
    }

    @Test func connectionLostWhileLeasedIsNotLeasedAgain() {
        var pool = machine()
        _ = pool.acquire(1)
        _ = pool.connected(0)
        _ = pool.lost(0)
        #expect(pool.release(0, isReusable: true) == [.close(0)])
        #expect(pool.lendIdle() == nil)
    }

    @Test func oldConnectionsAreNotLeasedAfterInvalidation() {
        var pool = machine()
        _ = pool.acquire(1)
        _ = pool.acquire(2)
        _ = pool.connected(0)
        _ = pool.connected(1)
        _ = pool.release(0, isReusable: true)
        #expect(pool.invalidate() == [.close(0)])
        #expect(pool.release(1, isReusable: true) == [.close(1)])
        #expect(pool.acquire(3) == [.connect(2)])
        #expect(pool.connected(2) == [.lend(2, to: 3)])
        #expect(pool.release(2, isReusable: true) == [])
    }

    @Test func closingWaitsForLeasedConnection() {
        var pool = machine(connections: 1)
        _ = pool.acquire(1)
        _ = pool.connected(0)
        _ = pool.acquire(2)
        #expect(pool.close() == [.fail(2, .poolClosed)])
        #expect(pool.acquire(3) == [.fail(3, .poolClosed)])
        #expect(pool.closeBusy() == [.close(0)])
        #expect(pool.release(0, isReusable: true) == [.close(0)])
        #expect(pool.ended(0) == [.finished])
    }

    @Test func threadMayEndWhileItsConnectionIsLeased() {
        var pool = machine(connections: 1)
        _ = pool.acquire(1)
        _ = pool.connected(0)
        #expect(pool.lost(0) == [])
        #expect(pool.ended(0) == [])
        #expect(pool.close() == [])
        #expect(pool.release(0, isReusable: false) == [.close(0), .finished])
    }

    @Test func connectionCompletedAfterClosingIsClosed() {
        var pool = machine(connections: 1)
        #expect(pool.acquire(1) == [.connect(0)])
        #expect(pool.isConnecting(0))
        #expect(pool.close() == [.fail(1, .poolClosed), .close(0)])
        #expect(!pool.isConnecting(0))
        #expect(pool.connected(0) == [.close(0)])
        #expect(pool.ended(0) == [.finished])
    }

    @Test func connectionBegunBeforeInvalidationIsNotLeased() {
        var pool = machine(connections: 1)
        #expect(pool.acquire(1) == [.connect(0)])
        #expect(pool.invalidate() == [])
        #expect(pool.connected(0) == [.close(0), .connect(1)])
        #expect(pool.connected(1) == [.lend(1, to: 1)])
    }

    @Test func emptyPoolClosesAtOnce() {
        var pool = machine()
        #expect(pool.close() == [.finished])
    }

    /// With any sequence of events: the pool never exceeds its connections, no connection is lent to two tasks, every task is
    /// served once and in its turn, and closing ends.
    @Test(arguments: UInt64(0)..<40) func poolInvariantsHoldForRandomEvents(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var pool = machine(connections: 3, waiters: 5)
        var connecting: [Int] = []
        var leased: [Int] = []
        /// Connections whose thread still runs.
        var threads: [Int] = []
        var waiting: [Int] = []
        let parties = [UUID(), UUID(), nil]
        var partyOf: [Int: UUID?] = [:]
        /// For each waiting party, the parties that were served since it began to wait.
        var passedOver: [UUID?: Set<UUID?>] = [:]
        var isFinished = false
        var nextTask = 0

        func apply(_ actions: [PoolStateMachine.Action]) {
            for action in actions {
                switch action {
                case .connect(let id):
                    connecting.append(id)
                    threads.append(id)
                case .lend(let id, let task):
                    let party = partyOf[task] ?? nil
                    // Tasks of one party are served in order.
                    #expect(waiting.first { partyOf[$0] == party } == task)
                    #expect(!leased.contains(id) && threads.contains(id))
                    leased.append(id)
                    waiting.removeAll { $0 == task }
                    for other in parties where other != party {
                        let waits = waiting.contains { partyOf[$0] == other }
                        guard waits else {
                            passedOver[other] = []
                            continue
                        }
                        // No party is served twice while another one waits.
                        #expect(passedOver[other, default: []].insert(party).inserted)
                    }
                    passedOver[party] = []
                case .fail(let task, _):
                    #expect(waiting.contains(task))
                    waiting.removeAll { $0 == task }
                    // The party was served, or it begins to wait anew.
                    passedOver[partyOf[task] ?? nil] = []
                case .close(let id): connecting.removeAll { $0 == id }
                case .finished: isFinished = true
                }
            }
            let now = pool.statistics
            #expect(now.idle + now.busy + now.connecting <= 3 && now.waiting <= 5)
            #expect(now.busy == leased.count && now.waiting == waiting.count)
            // No task waits while a connection is free.
            #expect(now.waiting == 0 || now.idle == 0)
        }

        for _ in 0..<400 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1, 2:
                nextTask += 1
                let party = parties.randomElement(using: &random) ?? nil
                partyOf[nextTask] = party
                waiting.append(nextTask)
                apply(pool.acquire(nextTask, for: party))
            case 3:
                if let task = waiting.randomElement(using: &random) { apply(pool.giveUp(task, .cancelled)) }
            case 4:
                guard let id = connecting.randomElement(using: &random) else { continue }
                connecting.removeAll { $0 == id }
                if Bool.random(using: &random) {
                    apply(pool.connected(id))
                } else {
                    apply(pool.connectFailed(id, .timeout(.connecting)))
                }
            case 5, 6:
                guard let id = leased.randomElement(using: &random) else { continue }
                leased.removeAll { $0 == id }
                apply(pool.release(id, isReusable: Int.random(in: 0..<4, using: &random) > 0))
            default:
                guard let id = threads.randomElement(using: &random), !connecting.contains(id) else {
                    continue
                }
                threads.removeAll { $0 == id }
                apply(pool.lost(id))
                apply(pool.ended(id))
                if Int.random(in: 0..<20, using: &random) == 0 { apply(pool.invalidate()) }
            }
        }
        apply(pool.close())
        for id in leased {
            leased.removeAll { $0 == id }
            apply(pool.release(id, isReusable: true))
        }
        for id in threads { apply(pool.ended(id)) }
        #expect(isFinished && waiting.isEmpty)
    }
}
