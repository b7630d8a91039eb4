import NIOCore
import Testing

@testable import APNsClient

@Suite struct CircuitBreakerTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func breaker() -> CircuitBreaker {
        CircuitBreaker(CircuitBreaker.Thresholds())
    }

    @Test func opensAtFiftyBadOfAHundred() {
        var breaker = breaker()
        for _ in 0..<50 {
            #expect(breaker.note(isBad: false, isProbe: false, at: start) == nil)
        }
        for _ in 0..<49 {
            #expect(breaker.note(isBad: true, isProbe: false, at: start) == nil)
        }
        #expect(breaker.admission(at: start) == .admitted)
        #expect(breaker.note(isBad: true, isProbe: false, at: start) == .seconds(30))
        #expect(breaker.admission(at: start) == .refused)
    }

    @Test func aSmallerShareIsBorne() {
        var breaker = breaker()
        for index in 0..<10_000 {
            #expect(breaker.note(isBad: index % 5 < 2, isProbe: false, at: start) == nil)
        }
        #expect(breaker.admission(at: start) == .admitted)
    }

    @Test func whatIsOlderThanAMinuteDoesNotCount() {
        var breaker = breaker()
        for second in 0..<300 {
            let now = start + .seconds(Int64(second) * 2)
            #expect(breaker.note(isBad: true, isProbe: false, at: now) == nil)
        }
    }

    @Test func oneProbeDecidesAndThePausesGrow() {
        var breaker = breaker()
        var now = start
        for _ in 0..<50 { _ = breaker.note(isBad: true, isProbe: false, at: now) }
        for pause in [30, 60, 120, 240, 480, 960, 1_800, 1_800] as [Int64] {
            now = now + .seconds(pause)
            #expect(breaker.admission(at: now - .nanoseconds(1)) == .refused)
            #expect(breaker.admission(at: now) == .asProbe)
            #expect(breaker.admission(at: now) == .refused)
            // What was under way before decides nothing.
            #expect(breaker.note(isBad: false, isProbe: false, at: now) == nil)
            #expect(breaker.admission(at: now) == .refused)
            #expect(
                breaker.note(isBad: true, isProbe: true, at: now) == .seconds(min(pause * 2, 1_800)))
        }
        now = now + .seconds(1_800)
        #expect(breaker.admission(at: now) == .asProbe)
        #expect(breaker.note(isBad: false, isProbe: true, at: now) == nil)
        #expect(breaker.admission(at: now) == .admitted)
        // From the beginning.
        for _ in 0..<49 { #expect(breaker.note(isBad: true, isProbe: false, at: now) == nil) }
        #expect(breaker.note(isBad: true, isProbe: false, at: now) == .seconds(30))
    }

    @Test func aProbeWithoutAnAnswerIsFollowedByAnother() {
        var breaker = breaker()
        for _ in 0..<50 { _ = breaker.note(isBad: true, isProbe: false, at: start) }
        let later = start + .seconds(30)
        #expect(breaker.admission(at: later) == .asProbe)
        breaker.probeWasLost(at: later)
        #expect(breaker.admission(at: later) == .asProbe)
    }
}
