import AppStoreSync
import Foundation
import PropertyTesting
import Synchronization
import Testing

/// The times of requests, with a ledger in memory and a clock that advances only during waits.
@Suite(.timeLimit(.minutes(5))) struct RequestPacerTests {
    private final class Clock: SyncClock {
        private let time = Mutex(Date(timeIntervalSince1970: 1_700_000_000))

        func now() -> Date { time.withLock { $0 } }
        func sleep(for duration: Duration) async throws {
            time.withLock { $0 += duration / .seconds(1) }
        }
    }

    /// A ledger of a rolling hour.
    private final class Ledger: RequestLedger {
        private let entries = Mutex<[(time: Date, count: Int)]>([])
        var total: Int { entries.withLock { $0.reduce(0) { $0 + $1.count } } }

        func spend(_ count: Int, of allowance: Int, at now: Date) async throws -> RequestGrant {
            // A database lets other tasks run meanwhile, too.
            await Task.yield()
            return entries.withLock { entries in
                entries.removeAll { now.timeIntervalSince($0.time) >= 3_660 }
                let spent = entries.reduce(0) { $0 + $1.count }
                let granted = max(0, min(count, allowance - spent))
                if granted > 0 { entries.append((now, granted)) }
                return RequestGrant(
                    count: granted, spent: spent + granted,
                    next: (entries.first?.time ?? now).addingTimeInterval(3_661))
            }
        }

        func raise(to count: Int, at now: Date) async throws {
            entries.withLock { entries in
                let spent = entries.reduce(0) { $0 + $1.count }
                if count > spent { entries.append((now, count - spent)) }
            }
        }
    }

    @Test func requestsPerHourStayWithinAllowance() async throws {
        let (clock, ledger) = (Clock(), Ledger())
        let pacer = RequestPacer(ledger, clock)
        var random = SplitMix64(seed: 7)
        var sent: [Date] = []
        for _ in 0..<9_000 {
            try await pacer.permit()
            sent.append(clock.now())
            if random.oneIn(5) { try await clock.sleep(for: .seconds(random.below(40))) }
        }
        #expect(await pacer.allowance == 3_240)
        for (index, time) in sent.enumerated() where index >= 3_240 {
            #expect(time.timeIntervalSince(sent[index - 3_240]) >= 3_600, "\(index)")
        }
    }

    /// A run requests permission for a whole chunk of requests at once.
    @Test func concurrentRequestsSpendOneGrant() async throws {
        let (clock, ledger) = (Clock(), Ledger())
        let pacer = RequestPacer(ledger, clock)
        for round in 1...3 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<RequestPacer.leaseSize { group.addTask { try await pacer.permit() } }
                try await group.waitForAll()
            }
            #expect(ledger.total == round * RequestPacer.leaseSize)
        }
    }

    @Test func rateReportedByServiceIsAdopted() async throws {
        let (clock, ledger) = (Clock(), Ledger())
        let pacer = RequestPacer(ledger, clock)
        try await pacer.permit()
        try await pacer.observe(hour: (limit: 100, rest: 5), minute: nil, refusal: nil)
        let start = clock.now()
        try await pacer.permit()
        #expect(clock.now().timeIntervalSince(start) >= 3_600)
        #expect(await pacer.allowance == 90)
    }

    /// A command that has to wait for an hour reports this when the wait begins.
    @Test func spentBudgetIsReportedBeforeWait() async throws {
        let (clock, ledger) = (Clock(), Ledger())
        let told = Mutex<[(at: Date, until: Date)]>([])
        let pacer = RequestPacer(ledger, clock) { end in told.withLock { $0.append((clock.now(), end)) } }
        try await pacer.permit()
        let early = told.withLock { $0.count }
        #expect(early == 0)
        try await pacer.observe(hour: (limit: 100, rest: 0), minute: nil, refusal: nil)
        let start = clock.now()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { try await pacer.permit() } }
            try await group.waitForAll()
        }
        let waits = told.withLock { $0 }
        #expect(waits.count == 1 && waits.first?.at == start)
        #expect(waits.first.map { $0.until.timeIntervalSince(start) >= 3_600 } == true)
    }

    @Test func refusalIsWaitedOut() async throws {
        let (clock, ledger) = (Clock(), Ledger())
        let pacer = RequestPacer(ledger, clock)
        func pause(_ retryAfter: Int?) async throws -> TimeInterval {
            let start = clock.now()
            try await pacer.observe(hour: nil, minute: nil, refusal: .some(retryAfter))
            try await pacer.permit()
            return clock.now().timeIntervalSince(start)
        }
        #expect((7...8).contains(try await pause(7)))
        // Without a given time, the pause doubles each time, up to a quarter of an hour.
        #expect((120...133).contains(try await pause(nil)))
        for _ in 0..<6 { _ = try await pause(nil) }
        #expect((900...991).contains(try await pause(nil)))
        // Until a response says otherwise, or trying is useless.
        try await pacer.observe(hour: nil, minute: nil, refusal: nil)
        #expect((60...67).contains(try await pause(nil)))
        await #expect(throws: SyncError.tooManyRefusals) {
            for _ in 0..<20 { _ = try await pause(nil) }
        }
    }

    @Test func almostSpentMinuteIsWaitedOut() async throws {
        let (clock, ledger) = (Clock(), Ledger())
        let pacer = RequestPacer(ledger, clock)
        let start = clock.now()
        try await pacer.observe(hour: nil, minute: (limit: 150, rest: 100), refusal: nil)
        try await pacer.permit()
        #expect(clock.now() == start)
        try await pacer.observe(hour: nil, minute: (limit: 150, rest: 15), refusal: nil)
        try await pacer.permit()
        #expect(clock.now().timeIntervalSince(start) >= 60)
    }
}
