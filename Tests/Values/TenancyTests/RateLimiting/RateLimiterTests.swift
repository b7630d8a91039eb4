import PropertyTesting
import Testing

@testable import Tenancy

@Suite struct RateLimiterTests {
    private static let start = ContinuousClock.now

    private static func limit(_ perSecond: Int, burst: Int) throws -> RateLimit {
        try #require(RateLimit(perSecond: perSecond, burst: burst))
    }

    @Test func burstIsAdmittedThenRateApplies() throws {
        let limiter = RateLimiter<Int>(from: Self.start)
        let limit = try Self.limit(10, burst: 3)
        for remaining in [2, 1, 0] {
            let state = limiter.take(1, limit, at: Self.start)
            #expect(state.isAdmitted && state.remaining == remaining)
        }
        let refused = limiter.take(1, limit, at: Self.start)
        #expect(!refused.isAdmitted && refused.remaining == 0)
        #expect(refused.untilNext == 100_000_000)
        #expect(refused.secondsUntilNext == 1 && refused.secondsUntilFull == 1)
        // A refusal costs nothing: the next request is admitted at the announced time.
        #expect(!limiter.take(1, limit, at: Self.start + .milliseconds(99)).isAdmitted)
        #expect(limiter.take(1, limit, at: Self.start + .milliseconds(100)).isAdmitted)
        #expect(!limiter.take(1, limit, at: Self.start + .milliseconds(100)).isAdmitted)
        let rested = limiter.take(1, limit, at: Self.start + .seconds(10))
        #expect(rested.remaining == 2)
    }

    @Test func chargeBeyondTheBurstIsOwed() throws {
        let limiter = RateLimiter<Int>(from: Self.start)
        let limit = try Self.limit(10, burst: 8)
        #expect(limiter.take(1, limit, at: Self.start).remaining == 7)
        #expect(limiter.charge(3, to: 1, limit, at: Self.start).remaining == 4)
        #expect(limiter.take(1, limit, at: Self.start).remaining == 3)
        // Three are left, and five are owed.
        let all = limiter.charge(8, to: 1, limit, at: Self.start)
        #expect(all.remaining == 0 && all.isAdmitted)
        #expect(!limiter.take(1, limit, at: Self.start + .milliseconds(599)).isAdmitted)
        #expect(limiter.take(1, limit, at: Self.start + .milliseconds(600)).isAdmitted)
        // A burst used up and as much owed as a second makes up for.
        _ = limiter.charge(100, to: 1, limit, at: Self.start + .milliseconds(600))
        #expect(!limiter.take(1, limit, at: Self.start + .milliseconds(1_699)).isAdmitted)
        #expect(limiter.take(1, limit, at: Self.start + .milliseconds(1_700)).isAdmitted)
    }

    /// After its burst, a client gets as much work as its limit allows. The number of requests does not matter.
    @Test func chargedRequestsKeepToTheLimitInTheLongRun() throws {
        let limiter = RateLimiter<Int>(from: Self.start)
        let limit = try Self.limit(50, burst: 100)
        var units = 0
        for millisecond in 0..<10_000 {
            let now = Self.start + .milliseconds(millisecond)
            guard limiter.take(1, limit, at: now).isAdmitted else { continue }
            _ = limiter.charge(9, to: 1, limit, at: now)
            units += 10
        }
        #expect((550...620).contains(units), "\(units)")
    }

    @Test func tokenGivenBackIsAvailableAgain() throws {
        let limiter = RateLimiter<Int>(from: Self.start)
        let limit = try Self.limit(10, burst: 3)
        for _ in 0..<3 { #expect(limiter.take(1, limit, at: Self.start).isAdmitted) }
        limiter.giveBack(1, limit)
        #expect(limiter.take(1, limit, at: Self.start).remaining == 0)
        #expect(!limiter.take(1, limit, at: Self.start).isAdmitted)
        // Never more than a burst, and nothing for who has taken nothing.
        for _ in 0..<9 { limiter.giveBack(1, limit) }
        limiter.giveBack(2, limit)
        for key in 1...2 {
            #expect(limiter.take(key, limit, at: Self.start).remaining == 2)
        }
    }

    /// If the limiter is full, keys share a counter. They also share a returned token.
    @Test func tokenGivenBackIsAvailableToAllKeysSharingIt() throws {
        let limiter = RateLimiter<Int>(capacity: 1, shards: 1, from: Self.start)
        let limit = try Self.limit(1, burst: 2)
        #expect(limiter.take(0, limit, at: Self.start).isAdmitted)
        for _ in 0..<9 {
            #expect(limiter.take(1, limit, at: Self.start).isAdmitted)
            limiter.giveBack(1, limit)
        }
        for key in 2...3 { #expect(limiter.take(key, limit, at: Self.start).isAdmitted) }
        #expect(!limiter.take(4, limit, at: Self.start).isAdmitted)
        #expect(limiter.take(0, limit, at: Self.start).remaining == 0)
    }

    @Test func keysHaveSeparateLimits() throws {
        let limiter = RateLimiter<Int>(from: Self.start)
        let limit = try Self.limit(1, burst: 1)
        for key in 0..<1_000 { #expect(limiter.take(key, limit, at: Self.start).isAdmitted) }
        for key in 0..<1_000 { #expect(!limiter.take(key, limit, at: Self.start).isAdmitted) }
    }

    @Test func narrowedLimitAppliesImmediately() throws {
        let limiter = RateLimiter<Int>(from: Self.start)
        let wide = try Self.limit(100, burst: 100)
        for _ in 0..<100 { _ = limiter.take(1, wide, at: Self.start) }
        let narrow = try Self.limit(1, burst: 1)
        #expect(!limiter.take(1, narrow, at: Self.start).isAdmitted)
        #expect(limiter.take(1, narrow, at: Self.start + .seconds(1)).isAdmitted)
    }

    /// A slow limit books requests for days ahead. A wider limit does not keep these bookings.
    @Test func widenedLimitAppliesImmediately() throws {
        let limiter = RateLimiter<Int>(from: Self.start)
        let slow = try Self.limit(1, burst: 100)
        for _ in 0..<100 { #expect(limiter.take(1, slow, at: Self.start).isAdmitted) }
        let wide = try Self.limit(1_000, burst: 1_000)
        #expect(limiter.take(1, wide, at: Self.start).untilNext == 1_000_000)
        #expect(limiter.take(1, wide, at: Self.start + .milliseconds(1)).isAdmitted)
        #expect(!limiter.take(1, wide, at: Self.start + .milliseconds(1)).isAdmitted)
        #expect(limiter.take(1, wide, at: Self.start + .seconds(2)).remaining == 999)
    }

    /// An independent reading of the algorithm: a bucket of tokens that fills continuously.
    @Test func limiterAgreesWithTokenBucket() throws {
        var generator = SplitMix64(seed: 7)
        for _ in 0..<200 {
            let rate = [1, 2, 5, 10, 100, 1_000].randomElement(using: &generator) ?? 1
            let burst = Int.random(in: 1...20, using: &generator)
            let limit = try Self.limit(rate, burst: burst)
            let limiter = RateLimiter<Int>(from: Self.start)
            // In units of a nanosecond's worth of a token at one a second.
            let one = 1_000_000_000
            var tokens = burst * one
            var time = 0
            for _ in 0..<200 {
                let step = Int.random(in: 0...(2 * one / rate), using: &generator)
                time += step
                tokens = min(burst * one, tokens + step * rate)
                let state = limiter.take(1, limit, at: Self.start + .nanoseconds(time))
                #expect(state.isAdmitted == (tokens >= one))
                if tokens >= one { tokens -= one }
                if state.isAdmitted { #expect(state.remaining == tokens / one) }
            }
        }
    }

    @Test func keysBeyondCapacityShareOneBurst() throws {
        let limiter = RateLimiter<Int>(capacity: 10, shards: 1, from: Self.start)
        let limit = try Self.limit(1, burst: 2)
        for key in 0..<10 { #expect(limiter.take(key, limit, at: Self.start).isAdmitted) }
        // All others together have one burst more.
        let admitted = (10..<1_000).filter { limiter.take($0, limit, at: Self.start).isAdmitted }
        #expect(admitted.count == 2)
        #expect(limiter.count == 10)
        // The ten are still known.
        #expect(limiter.take(3, limit, at: Self.start).isAdmitted)
        #expect(!limiter.take(3, limit, at: Self.start).isAdmitted)
        // When their bursts are there again they make room.
        #expect(limiter.take(2_000, limit, at: Self.start + .seconds(3)).remaining == 1)
        #expect(limiter.count == 1)
    }

    @Test func idleKeysAreForgotten() throws {
        let limiter = RateLimiter<Int>(capacity: 100_000, shards: 1, from: Self.start)
        let limit = try Self.limit(1_000, burst: 1)
        for key in 0..<50_000 {
            #expect(limiter.take(key, limit, at: Self.start + .milliseconds(key)).isAdmitted)
        }
        #expect(limiter.count <= 512)
    }

    @Test func concurrentRequestsAreAdmittedExactlyUpToBurst() async throws {
        let limiter = RateLimiter<Int>(from: Self.start)
        let limit = try Self.limit(1, burst: 500)
        let admitted = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<1_000).count { _ in limiter.take(1, limit, at: Self.start).isAdmitted }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(admitted == 500)
    }

    @Test(arguments: [(0, 1), (1, 0), (-1, 1), (1_000_001, 1), (1, 1_000_001)])
    func limitOutOfRangeIsRejected(_ numbers: (Int, Int)) {
        #expect(RateLimit(perSecond: numbers.0, burst: numbers.1) == nil)
    }

    @Test(arguments: [
        ("10", "10:40"), ("10:20", "10:20"), ("1000000", "off"), ("off", "off"), ("1000000:1000000", "off"),
        ("OFF", nil), ("300000", "300000:1000000"),
        ("", nil), (":", nil), ("10:", nil), (":10", nil), ("1:2:3", nil), ("0", nil), ("1:0", nil),
        ("ten", nil),
        ("1000001", nil), ("9223372036854775807", nil),
    ])
    func limitTextIsParsed(_ text: String, _ limit: String?) {
        #expect(RateLimit(text)?.description == limit)
    }

    @Test(arguments: [(1, 1, 1), (10, 5, 1), (10, 11, 2), (1, 1_000_000, 1_000_000)])
    func windowIsTimeToRefillBurst(_ numbers: (Int, Int, Int)) throws {
        #expect(try Self.limit(numbers.0, burst: numbers.1).window == numbers.2)
    }
}
