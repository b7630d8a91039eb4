import Foundation
import NIOCore
import Tenancy
import Testing

@testable import APNsClient

@Suite struct CircuitBreakerTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func breaker() -> CircuitBreaker {
        CircuitBreaker(CircuitBreaker.Thresholds())
    }

    @Test func breakerOpensAtFiftyBadOfAHundred() {
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

    @Test func breakerStaysClosedBelowThreshold() {
        var breaker = breaker()
        for index in 0..<10_000 {
            #expect(breaker.note(isBad: index % 5 < 2, isProbe: false, at: start) == nil)
        }
        #expect(breaker.admission(at: start) == .admitted)
    }

    @Test func resultsOlderThanAMinuteAreNotCounted() {
        var breaker = breaker()
        for second in 0..<300 {
            let now = start + .seconds(Int64(second) * 2)
            #expect(breaker.note(isBad: true, isProbe: false, at: now) == nil)
        }
    }

    @Test func probeDecidesAndPausesGrow() {
        var breaker = breaker()
        var now = start
        for _ in 0..<50 { _ = breaker.note(isBad: true, isProbe: false, at: now) }
        for pause in [30, 60, 120, 240, 480, 960, 1_800, 1_800] as [Int64] {
            now = now + .seconds(pause)
            #expect(breaker.admission(at: now - .nanoseconds(1)) == .refused)
            #expect(breaker.admission(at: now) == .asProbe)
            #expect(breaker.admission(at: now) == .refused)
            // Results of earlier requests are ignored.
            #expect(breaker.note(isBad: false, isProbe: false, at: now) == nil)
            #expect(breaker.admission(at: now) == .refused)
            #expect(
                breaker.note(isBad: true, isProbe: true, at: now) == .seconds(min(pause * 2, 1_800)))
        }
        now = now + .seconds(1_800)
        #expect(breaker.admission(at: now) == .asProbe)
        #expect(breaker.note(isBad: false, isProbe: true, at: now) == nil)
        #expect(breaker.admission(at: now) == .admitted)
        // The counts begin again.
        for _ in 0..<49 { #expect(breaker.note(isBad: true, isProbe: false, at: now) == nil) }
        #expect(breaker.note(isBad: true, isProbe: false, at: now) == .seconds(30))
    }

    // MARK: Teams

    private let tenants = (0..<6).map { _ in TenantID(UUID()) }

    /// Bad tokens of one tenant stop only this tenant's deliveries.
    @Test func badTokensOfOneTenantOpenOnlyItsBreaker() {
        var breakers = TeamBreakers(CircuitBreaker.Thresholds())
        for _ in 0..<49 {
            #expect(breakers.note(isBad: true, of: tenants[0], as: [], at: start) == nil)
        }
        #expect(breakers.note(isBad: true, of: tenants[0], as: [], at: start) == .tenant(.seconds(30)))
        #expect(breakers.admission(of: tenants[0], at: start) == nil)
        #expect(breakers.admission(of: tenants[1], at: start) == [])
        #expect(breakers.admission(of: nil, at: start) == [])
        // Earlier requests do not count for the team either.
        for _ in 0..<200 {
            #expect(breakers.note(isBad: true, of: tenants[0], as: [], at: start) == nil)
        }
        #expect(breakers.admission(of: tenants[1], at: start) == [])
        let later = start + .seconds(30)
        #expect(breakers.admission(of: tenants[0], at: later) == .tenant)
        #expect(breakers.admission(of: tenants[0], at: later) == nil)
        breakers.probesWereLost(.tenant, of: tenants[0], at: later)
        #expect(breakers.admission(of: tenants[0], at: later) == .tenant)
        #expect(breakers.note(isBad: false, of: tenants[0], as: .tenant, at: later) == nil)
        #expect(breakers.admission(of: tenants[0], at: later) == [])
    }

    @Test func badTokensOfSeveralTenantsOpenTeamBreaker() {
        var breakers = TeamBreakers(CircuitBreaker.Thresholds())
        for tenant in tenants[..<5] {
            for number in 1...10 {
                let opening = breakers.note(isBad: true, of: tenant, as: [], at: start)
                #expect(opening == (tenant == tenants[4] && number == 10 ? .team(.seconds(30)) : nil))
            }
        }
        #expect(breakers.admission(of: tenants[5], at: start) == nil)
        let later = start + .seconds(30)
        #expect(breakers.admission(of: tenants[5], at: later) == .team)
        #expect(breakers.admission(of: tenants[0], at: later) == nil)
        #expect(breakers.note(isBad: false, of: tenants[5], as: .team, at: later) == nil)
        #expect(breakers.admission(of: tenants[0], at: later) == [])
    }

    @Test func idleTenantsAreForgotten() {
        var breakers = TeamBreakers(CircuitBreaker.Thresholds())
        for second in 0..<10_000 {
            let now = start + .seconds(Int64(second))
            _ = breakers.note(isBad: second % 2 == 0, of: TenantID(UUID()), as: [], at: now)
        }
        #expect(breakers.tenantCount <= 256)
    }

    @Test func lostProbeIsFollowedByAnother() {
        var breaker = breaker()
        for _ in 0..<50 { _ = breaker.note(isBad: true, isProbe: false, at: start) }
        let later = start + .seconds(30)
        #expect(breaker.admission(at: later) == .asProbe)
        breaker.probeWasLost(at: later)
        #expect(breaker.admission(at: later) == .asProbe)
    }
}
