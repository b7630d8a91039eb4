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
    /// A clock that advances only when a test moves it.
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

        /// Steps the wall clock, as a person or NTP would.
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

    private let place = ProviderTokens.Place(team: SimulatedService.team, environment: .sandbox)

    @Test func tokenIsSharedForTwentyMinutes() async throws {
        let tokens = try tokens()
        let first = try #require(await tokens.token(at: place))
        let production = ProviderTokens.Place(team: SimulatedService.team, environment: .production)
        #expect(await tokens.token(at: production) == first)
        time.advance(minutes: 19.9)
        #expect(await tokens.token(at: place) == first)
        time.advance(minutes: 0.1)
        let second = try #require(await tokens.token(at: place))
        #expect(second.authorization != first.authorization)
        #expect(second.issuedAt.timeIntervalSince(first.issuedAt) == 20 * 60)
    }

    @Test func concurrentTokenRequestsSignOnce() async throws {
        let tokens = try tokens()
        let all = await withTaskGroup(of: ProviderToken?.self) { group in
            for _ in 0..<100 { group.addTask { await tokens.token(at: place) } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(all.count == 1)
    }

    @Test func tokenSignedSlowlyIsSignedAgain() async throws {
        let isFirstReading = Mutex(true)
        let tokens = ProviderTokens(
            [try SimulatedService.clientKey()], now: { [time] in time.now },
            uptime: { [time] in
                defer {
                    // Advances between the first reading of the clock and the end of the signature.
                    if isFirstReading.withLock({ isFirst in
                        defer { isFirst = false }; return isFirst
                    }) {
                        time.advance(minutes: 20)
                    }
                }
                return time.uptime
            })
        let token = try #require(await tokens.token(at: place))
        #expect(token.issuedAt == time.now)
    }

    @Test func refusedTokenIsReplaceableAfterTwentyMinutesOrIfNewerExists() async throws {
        let tokens = try tokens()
        let first = try #require(await tokens.token(at: place))
        time.advance(minutes: 19.9)
        #expect(!tokens.isReplaceable(first, at: place))
        time.advance(minutes: 0.1)
        #expect(tokens.isReplaceable(first, at: place))
        let second = try #require(await tokens.token(at: place))
        #expect(tokens.isReplaceable(first, at: place))
        #expect(!tokens.isReplaceable(second, at: place))
    }

    @Test func clockSetBackDoesNotProlongToken() async throws {
        let tokens = try tokens()
        let first = try #require(await tokens.token(at: place))
        // If the step is less than a minute, the token is still valid, and is replaced at its usual time.
        time.step(minutes: -0.9)
        #expect(await tokens.token(at: place) == first)
        time.advance(minutes: 20)
        let second = try #require(await tokens.token(at: place))
        #expect(second != first)
        // If the step is larger, the token's time is in the future for APNs.
        time.step(minutes: -120)
        #expect(tokens.isReplaceable(second, at: place))
        let third = try #require(await tokens.token(at: place))
        #expect(third.issuedAt == time.now)
        #expect(await tokens.token(at: place) == third)
    }

    @Test func clockSetForwardReplacesToken() async throws {
        let tokens = try tokens()
        let first = try #require(await tokens.token(at: place))
        time.step(minutes: 60)
        let second = try #require(await tokens.token(at: place))
        #expect(second.issuedAt.timeIntervalSince(first.issuedAt) == 3_600)
    }

    @Test func tokenHasRequiredHeaderAndClaims() async throws {
        let tokens = try tokens()
        let token = try #require(await tokens.token(at: place))
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
            // Requests are 21 minutes apart, and a token is renewed after 42 minutes: at 63, 126 and 189.
            #expect(service.simulator.counters.verifiedTokens == 4)
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func youngConnectionKeepsTokenWhenAnotherIsRenewed() async throws {
        let time = time
        try await SimulatedService.lend(
            clientNow: { time.now }, clientUptime: { time.uptime }, options: { $0.now = { time.now } }
        ) { service in
            let first = try await service.isAccepted()
            #expect(first)
            time.advance(minutes: 37)
            service.simulator.setRules([Rule(.goAway(reason: "Shutdown", accepting: true), times: 1)])
            #expect(try await service.isAccepted())
            #expect(try await service.isAccepted())
            #expect(service.simulator.counters.connections == 2)
            time.advance(minutes: 6)
            #expect(try await service.isAccepted())
            #expect(service.simulator.counters.connections == 2)
            #expect(service.simulator.counters.refused.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(30)), arguments: [1, 2, 3])
    func connectionSeesAtMostOneTokenPerTwentyMinutes(seed: Double) async throws {
        let time = time
        try await SimulatedService.lend(
            clientNow: { time.now }, clientUptime: { time.uptime }, options: { $0.now = { time.now } }
        ) { service in
            let start = time.now
            for step in 1...60 {
                // Advances by 0 to 16 minutes. Every seventh time, the connection ends.
                time.advance(minutes: abs(sin(Double(step) * seed)) * 16)
                if step.isMultiple(of: 7) {
                    service.simulator.setRules([
                        Rule(.goAway(reason: "Shutdown", accepting: true), times: 1)
                    ])
                }
                let isAccepted = try await service.isAccepted()
                #expect(isAccepted)
            }
            #expect(service.simulator.counters.refused.isEmpty)
            // A key signs at most one token in 20 minutes.
            let minutes = time.now.timeIntervalSince(start) / 60
            #expect(Double(service.simulator.counters.verifiedTokens) <= minutes / 20 + 1)
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func tooManyTokenUpdatesAreRetriedOnAnotherConnection() async throws {
        try await SimulatedService.lend { service in
            #expect(try await service.isAccepted())
            service.simulator.setRules([Rule(.response(.tooManyProviderTokenUpdates), times: 1)])
            let id = UUID()
            let outcome = try await service.send(id: id)
            #expect(outcome.isAccepted)
            #expect(service.timesReceived[id.uuidString.lowercased()] == 2)
            #expect(service.simulator.counters.connections == 2)
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func tooManyTokenUpdatesAreReportedAfterTwoAttempts() async throws {
        try await SimulatedService.lend(rules: [Rule(.response(.tooManyProviderTokenUpdates))]) { service in
            let outcome = try await service.send()
            #expect(outcome.reason == .tooManyProviderTokenUpdates)
            #expect(service.simulator.received.count == 2)
        }
    }

    @Test func expiredTokenIsRenewedOnceOnNewConnection() async throws {
        let time = time
        // The client's clock stops while APNs' clock continues.
        try await SimulatedService.lend(
            clientNow: { time.now }, clientUptime: { time.uptime }, options: { $0.now = { time.now } }
        ) {
            service in
            let first = try await service.isAccepted()
            #expect(first)
            time.advance(minutes: 25)
            service.simulator.setRules([Rule(.response(.expiredProviderToken), times: 1)])
            let id = UUID()
            let outcome = try await service.send(id: id)
            #expect(outcome.isAccepted)
            #expect(service.timesReceived[id.uuidString.lowercased()] == 2)
            #expect(service.simulator.counters.connections == 2)
            #expect(service.simulator.counters.verifiedTokens == 2)

            // The second refusal is returned to the caller, because the token is new.
            service.simulator.setRules([Rule(.response(.expiredProviderToken))])
            let refused = try await service.send()
            #expect(refused.reason == .expiredProviderToken)
            #expect(service.simulator.received.count == 4)
        }
    }

    @Test func renewalStopsAtSecondExpiredTokenResponse() async throws {
        let time = time
        try await SimulatedService.lend(
            rules: [Rule(.response(.expiredProviderToken))], clientNow: { time.now },
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
