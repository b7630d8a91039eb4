import APNsPayload
import APNsSimulator
import Crypto
import Foundation
import Notifications
import Synchronization
import Tenancy
import Testing

@testable import APNsClient

@Suite struct ProviderTokensTests {
    /// A time of day that stands still until it is moved.
    private final class ManualTime: Sendable {
        private let time = Mutex(
            (date: Date(timeIntervalSince1970: 1_800_000_000), uptime: ContinuousClock.now))

        var now: Date { time.withLock { $0.date } }
        var uptime: ContinuousClock.Instant { time.withLock { $0.uptime } }

        func advance(minutes: Double) {
            time.withLock {
                $0.date += minutes * 60
                $0.uptime += .seconds(minutes * 60)
            }
        }

        /// Somebody sets the clock.
        func step(minutes: Double) {
            time.withLock { $0.date += minutes * 60 }
        }
    }

    private let time = ManualTime()

    private func tokens() throws -> ProviderTokens {
        ProviderTokens(
            [try SimulatedService.clientKey()], now: { [time] in time.now }, uptime: { [time] in time.uptime }
        )
    }

    @Test func aTokenIsKeptForFortyMinutesMoreOrLess() async throws {
        let tokens = try tokens()
        let first = try #require(await tokens.token(for: SimulatedService.team, .sandbox))
        #expect(await tokens.token(for: SimulatedService.team, .production) == first)
        time.advance(minutes: 37)
        #expect(await tokens.token(for: SimulatedService.team, .sandbox) == first)
        time.advance(minutes: 6)
        let second = try #require(await tokens.token(for: SimulatedService.team, .sandbox))
        #expect(second.authorization != first.authorization)
        #expect(second.issuedAt.timeIntervalSince(first.issuedAt) == 43 * 60)
    }

    @Test func itIsMadeOnceForAllWhoAskAtOnce() async throws {
        let tokens = try tokens()
        let all = await withTaskGroup(of: ProviderToken?.self) { group in
            for _ in 0..<100 { group.addTask { await tokens.token(for: SimulatedService.team, .sandbox) } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(all.count == 1)
    }

    @Test func anotherIsMadeAfterTwentyMinutesAtTheEarliest() async throws {
        let tokens = try tokens()
        let team = SimulatedService.team
        let first = try #require(await tokens.token(for: team, .sandbox))
        time.advance(minutes: 19.9)
        #expect(await tokens.token(insteadOf: first, for: team, .sandbox) == nil)
        time.advance(minutes: 0.1)
        let second = try #require(await tokens.token(insteadOf: first, for: team, .sandbox))
        #expect(second.authorization != first.authorization)
        // Somebody else was refused with the first too.
        #expect(await tokens.token(insteadOf: first, for: team, .sandbox) == second)
        #expect(await tokens.token(for: team, .sandbox) == second)
    }

    @Test func aClockThatIsPutBackDoesNotKeepATokenLonger() async throws {
        let tokens = try tokens()
        let team = SimulatedService.team
        let first = try #require(await tokens.token(for: team, .sandbox))
        // By less than a minute: it is still good, and renewed in its time.
        time.step(minutes: -0.9)
        #expect(await tokens.token(for: team, .sandbox) == first)
        time.advance(minutes: 42)
        let second = try #require(await tokens.token(for: team, .sandbox))
        #expect(second != first)
        // By more: for APNs it was issued in the future.
        time.step(minutes: -120)
        let third = try #require(await tokens.token(for: team, .sandbox))
        #expect(third.issuedAt == time.now)
        #expect(await tokens.token(for: team, .sandbox) == third)
        time.step(minutes: -120)
        let fourth = try #require(await tokens.token(insteadOf: third, for: team, .sandbox))
        #expect(fourth.issuedAt == time.now)
        time.step(minutes: -120)
        // Neither is one that replaced it.
        let fifth = try #require(await tokens.token(insteadOf: third, for: team, .sandbox))
        #expect(fifth.issuedAt == time.now)
    }

    @Test func aClockThatIsPutForwardRenewsTheToken() async throws {
        let tokens = try tokens()
        let first = try #require(await tokens.token(for: SimulatedService.team, .sandbox))
        time.step(minutes: 60)
        let second = try #require(await tokens.token(for: SimulatedService.team, .sandbox))
        #expect(second.issuedAt.timeIntervalSince(first.issuedAt) == 3_600)
    }

    @Test func theTokenIsWhatAppleAsksFor() async throws {
        let tokens = try tokens()
        let token = try #require(await tokens.token(for: SimulatedService.team, .sandbox))
        #expect(token.authorization.hasPrefix("bearer "))
        let parts = token.authorization.dropFirst(7).split(separator: ".").map(String.init)
        func object(_ part: String) throws -> [String: Any] {
            let base64 = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(
                of: "_", with: "/")
            let padded = base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)
            let data = try #require(Data(base64Encoded: padded))
            return try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        }
        let header = try object(parts[0])
        #expect(header["alg"] as? String == "ES256")
        #expect(header["kid"] as? String == SimulatedService.keyID)
        let claims = try object(parts[1])
        #expect(claims["iss"] as? String == SimulatedService.team.text)
        #expect(claims["iat"] as? Int == 1_800_000_000)
        #expect(claims.count == 2)
    }

    @Test func tokensAreRefreshedOnTheSameConnection() async throws {
        let time = time
        try await SimulatedService.lend(
            clientNow: { time.now }, clientUptime: { time.uptime }, options: { $0.now = { time.now } }
        ) {
            service in
            for _ in 0..<10 {
                let accepted = try await service.isAccepted()
                #expect(accepted)
                time.advance(minutes: 21)
            }
            #expect(service.simulator.counters.connections == 1)
            // 210 minutes, each token for 42 at most, of requests that are 21 apart.
            #expect(service.simulator.counters.verifiedTokens == 5)
        }
    }

    @Test func anExpiredTokenIsRenewedOnceOnANewConnection() async throws {
        let time = time
        // The client's clock stands while APNs' goes on.
        try await SimulatedService.lend(
            clientNow: { time.now }, clientUptime: { time.uptime }, options: { $0.now = { time.now } }
        ) {
            service in
            let first = try await service.isAccepted()
            #expect(first)
            time.advance(minutes: 25)
            service.simulator.setRules([Rule(.answer(.expiredProviderToken), times: 1)])
            let id = UUID()
            let outcome = try await service.send(id: id)
            #expect(outcome.isAccepted)
            #expect(service.timesReceived[id.uuidString.lowercased()] == 2)
            #expect(service.simulator.counters.connections == 2)
            #expect(service.simulator.counters.verifiedTokens == 2)

            // A second time: the answer is handed on, since the token is new.
            service.simulator.setRules([Rule(.answer(.expiredProviderToken))])
            let refused = try await service.send()
            #expect(refused.reason == .expiredProviderToken)
            #expect(service.simulator.received.count == 4)
        }
    }

    @Test func whoIsToldTwiceThatTheTokenIsExpiredStops() async throws {
        let time = time
        try await SimulatedService.lend(
            rules: [Rule(.answer(.expiredProviderToken))], clientNow: { time.now },
            clientUptime: { time.uptime },
            options: { $0.now = { time.now } }
        ) { service in
            let young = try await service.send()
            #expect(young.reason == .expiredProviderToken)
            #expect(service.simulator.received.count == 1)
            time.advance(minutes: 20)
            let old = try await service.send()
            #expect(old.reason == .expiredProviderToken)
            #expect(service.simulator.received.count == 3)
        }
    }
}
