import APNsPayload
import APNsSimulator
import Crypto
import Foundation
import NIOCore
import Notifications
import Tenancy
import Testing

@testable import APNsClient

/// Observed faults of APNs, and the required results.
@Suite struct APNsFaultTests {
    @Test(arguments: [true, false])
    func goAwayLosesNoNotifications(accepting: Bool) async throws {
        // Each response takes a while, so that most requests are in progress at any time.
        let slowly = Rule(.pass, delay: .milliseconds(20), times: 100)
        let leave = Rule(.goAway(reason: "Shutdown", accepting: accepting), times: 1)
        let rules = [slowly, leave, slowly, leave, slowly, leave, slowly]
        // Most requests wait for a stream, so that a closed connection does not have all of them.
        try await SimulatedService.lend(
            rules: rules,
            settings: {
                $0.connections = 2
                $0.streams = 50
            }
        ) { service in
            let outcomes = try await service.send(1_000)
            #expect(outcomes.count { $0.isAccepted } == 1_000)
            #expect(service.timesReceived.count == 1_000)
            #expect(service.timesReceived.values.allSatisfy { $0 == 1 })
            #expect(service.simulator.counters.connections > 1)
            #expect(service.log.lines.contains { $0.contains("Shutdown") })
        }
    }

    /// A line of the log is one line, and contains no control characters.
    @Test func goAwayReasonIsLoggedEscaped() async throws {
        let reason = "Shut\n\u{1B}[2Jdown\u{9B}" + String(repeating: "a", count: 1_000)
        let leave = Rule(.goAway(reason: reason, accepting: true), times: 1)
        try await SimulatedService.lend(rules: [leave]) { service in
            _ = try await service.send()
            let line = try #require(service.log.lines.first { $0.contains("Shut") })
            #expect(line.contains(#"Shut\n\u{1B}[2Jdown\u{009B}aaa"#), "\(line)")
            #expect(!line.contains("\n") && !line.contains("\u{1B}") && line.utf8.count < 500)
        }
    }

    @Test func repeatedGoAwayDelaysReconnection() async throws {
        try await SimulatedService.lend(
            rules: [Rule(.goAway(reason: "Shutdown", accepting: false))],
            settings: { $0.firstPause = .milliseconds(100) }
        ) { service in
            let start = ContinuousClock.now
            async let outcome = service.send()
            await service.simulator.wait { $0.turnedAway == 3 }
            // At least half of 100 and of 200 milliseconds.
            #expect(ContinuousClock.now - start >= .milliseconds(150))
            service.simulator.setRules([])
            let result = try await outcome
            #expect(result.isAccepted)
        }
    }

    @Test func changingStreamLimitsAreObeyed() async throws {
        let rules = [
            Rule(.pass, delay: .milliseconds(1), times: 100),
            Rule(.streams(1), times: 1),
            Rule(.pass, delay: .milliseconds(1), times: 100),
            Rule(.streams(7), times: 1),
            Rule(.pass, delay: .milliseconds(1)),
        ]
        try await SimulatedService.lend(rules: rules, options: { $0.maximumStreams = 50 }) { service in
            let outcomes = try await service.send(600)
            #expect(outcomes.count { $0.isAccepted } == 600)
            let counters = service.simulator.counters
            #expect(counters.connections == 1)
            #expect(counters.streamOverruns == 0)
            #expect((2...50).contains(counters.mostStreams))
        }
    }

    @Test func connectionUsesOneStreamUntilTokenIsAccepted() async throws {
        // The server would allow more streams.
        try await SimulatedService.lend(
            rules: [Rule(.response(.invalidProviderToken), times: 20)],
            options: { $0.startsWithOneStream = false }
        ) { service in
            let outcomes = try await service.send(20)
            #expect(outcomes.count { $0.reason == .invalidProviderToken } == 20)
            #expect(service.simulator.counters.mostStreams == 1)
            #expect(service.simulator.counters.connections == 1)
        }
    }

    @Test func missingResponseDoesNotAffectOtherRequests() async throws {
        let silent = SimulatedService.randomHex(32)
        try await SimulatedService.lend(rules: [Rule(.never, device: silent)]) { service in
            // After the first response, the connection may have more than one stream.
            let first = try await service.isAccepted()
            async let unanswered = service.send(device: silent)
            await service.simulator.wait { $0.unanswered == 1 }
            let others = try await service.send(100)
            await service.expire()
            let outcome = try await unanswered
            #expect(first)
            #expect(others.count { $0.isAccepted } == 100)
            #expect(outcome == .unanswered(.timedOut))
            let after = try await service.isAccepted()
            #expect(after)
            #expect(service.simulator.counters.connections == 1)
        }
    }

    @Test func unansweredRequestTimesOut() async throws {
        try await SimulatedService.lend(
            rules: [Rule(.never)], settings: { $0.requestTimeout = .milliseconds(500) }
        ) { service in
            let start = ContinuousClock.now
            let outcome = try await service.send()
            // The result depends on how soon the connection is open.
            #expect(outcome == .unanswered(.timedOut) || outcome == .notSent(.timedOut))
            #expect(ContinuousClock.now - start >= .milliseconds(500))
        }
    }

    @Test func requestWaitingTooLongForStreamIsNotSent() async throws {
        try await SimulatedService.lend(rules: [Rule(.never)], settings: { $0.waiting = 3 }) { service in
            // The first connection has one stream, because there was no response yet that allows more.
            async let first = service.send()
            await service.simulator.wait { $0.unanswered == 1 }
            async let others = service.send(3)
            await service.waitUntilThereAreWaiting(3)
            let tooMany = try await service.send()
            #expect(tooMany == .notSent(.noRoom))
            await service.expire()
            let firstResult = try await first
            #expect(firstResult == .unanswered(.timedOut))
            let othersResult = try await others
            #expect(othersResult == Array(repeating: .notSent(.timedOut), count: 3))
            #expect(service.simulator.received.count == 1)
        }
    }

    @Test func requestsOnCutConnectionAreUnanswered() async throws {
        try await SimulatedService.lend { service in
            let first = try await service.isAccepted()
            #expect(first)
            service.simulator.setRules([Rule(.never)])
            async let outcomes = service.send(10)
            await service.simulator.wait { $0.unanswered == 10 }
            service.simulator.setRules([])
            service.simulator.cutConnections()
            let outcomesResult = try await outcomes
            #expect(outcomesResult == Array(repeating: .unanswered(.connectionClosed), count: 10))
            let after = try await service.isAccepted()
            #expect(after)
            #expect(service.simulator.counters.connections == 2)
        }
    }

    @Test func refusedStreamIsReportedAsNotSent() async throws {
        let rules = [Rule(.reset(code: 7), times: 1), Rule(.reset(code: 2), times: 1)]
        try await SimulatedService.lend(rules: rules) { service in
            let refused = try await service.send()
            let failed = try await service.send()
            let after = try await service.isAccepted()
            #expect(refused == .notSent(.streamReset))
            #expect(failed == .unanswered(.streamReset))
            #expect(after)
            #expect(service.simulator.counters.connections == 1)
        }
    }

    @Test func refusedConnectionsAreRetried() async throws {
        try await SimulatedService.lend(rules: [Rule(.refuseTLS, times: 3)]) { service in
            let accepted = try await service.isAccepted()
            #expect(accepted)
        }
    }

    @Test func requestsWithoutConnectionAreNotSent() async throws {
        try await SimulatedService.lend(rules: [Rule(.refuseTLS)]) { service in
            async let outcomes = service.send(3)
            await service.waitUntilThereAreWaiting(3)
            await service.simulator.wait { $0.refusedConnections >= 2 }
            await service.expire()
            let outcomesResult = try await outcomes
            #expect(outcomesResult == Array(repeating: .notSent(.notConnected), count: 3))
        }
    }

    @Test func untrustedCertificatePreventsConnection() async throws {
        try await SimulatedService.lend(settings: { $0.authorities = nil }) { service in
            async let outcome = service.send()
            await service.simulator.wait { $0.connections >= 2 }
            await service.expire()
            let outcomeResult = try await outcome
            #expect(outcomeResult == .notSent(.notConnected))
            #expect(service.simulator.received.isEmpty)
        }
    }

    @Test func slowConnectionStartIsAwaited() async throws {
        try await SimulatedService.lend(rules: [Rule(.slowStart, delay: .milliseconds(200), times: 1)]) {
            service in
            let outcomes = try await service.send(20)
            #expect(outcomes.count { $0.isAccepted } == 20)
            #expect(service.simulator.counters.connections == 1)
        }
    }

    @Test func tooSlowConnectionStartIsAbandoned() async throws {
        // The simulator refuses the second connection, and counts it. The first one would count only after 60 seconds.
        let rules = [Rule(.slowStart, delay: .seconds(60), times: 1), Rule(.refuseTLS, times: 1)]
        try await SimulatedService.lend(
            rules: rules, settings: { $0.connectTimeout = .seconds(1) }
        ) { service in
            let accepted = try await service.isAccepted()
            #expect(accepted)
            #expect(service.simulator.counters.refusedConnections == 1)
        }
    }

    @Test func connectionAnsweringOtherRequestsIsKept() async throws {
        let silent = SimulatedService.randomHex(32)
        try await SimulatedService.lend(
            rules: [Rule(.never, device: silent)], settings: { $0.idleTime = .milliseconds(20) }
        ) { service in
            let first = try await service.isAccepted()
            async let outcome = service.send(device: silent)
            await service.simulator.wait { $0.unanswered == 1 }
            let other = try await service.isAccepted()
            await service.expire()
            let outcomeResult = try await outcome
            #expect(outcomeResult == .unanswered(.timedOut))
            let after = try await service.isAccepted()
            #expect(first && other && after)
            #expect(service.simulator.counters.connections == 1)
        }
    }

    @Test func connectionAnsweringOnlyPingsIsReplaced() async throws {
        try await SimulatedService.lend { service in
            let first = try await service.isAccepted()
            service.simulator.setRules([Rule(.never, times: 1)])
            async let outcome = service.send()
            await service.simulator.wait { $0.unanswered == 1 }
            await service.expire()
            let outcomeResult = try await outcome
            #expect(outcomeResult == .unanswered(.timedOut))
            let after = try await service.isAccepted()
            #expect(first && after)
            #expect(service.simulator.counters.connections == 2)
        }
    }

    /// An additional address of the host, which does not work.
    enum OtherAddress: CaseIterable {
        case refuses
        /// Connecting to it takes very long or never succeeds.
        case isSilent
    }

    @Test(.timeLimit(.minutes(30)), arguments: OtherAddress.allCases)
    func unresponsiveAddressIsSkipped(_ other: OtherAddress) async throws {
        let unused = try UnusedAddress(isListening: other == .isSilent)
        try await SimulatedService.lend(settings: {
            $0.resolver = FixedResolver(first: unused.address)
        }) { service in
            let outcomes = try await service.send(20)
            #expect(outcomes.count { $0.isAccepted } == 20)
            #expect(service.simulator.counters.connections == 1)
        }
        unused.close()
    }

    @Test(.timeLimit(.minutes(30)))
    func retrySharesDeadlineOfFirstAttempt() async throws {
        try await SimulatedService.lend { service in
            let isAccepted = try await service.isAccepted()
            #expect(isAccepted)
            service.simulator.setRules([
                Rule(.response(.unrelatedKeyIdInToken), delay: .seconds(1), times: 1), Rule(.never),
            ])
            let start = ContinuousClock.now
            async let outcome = service.send()
            await service.simulator.wait { $0.unanswered == 1 }
            // Half a second after the timeout of the first attempt. A timeout that began with the second attempt would be later.
            await service.client.expire(after: .seconds(600.5) - (ContinuousClock.now - start))
            let result = try await outcome
            #expect(result == .unanswered(.timedOut))
        }
    }

    @Test func connectionWithoutPingResponseIsReplaced() async throws {
        // With a limit of zero, every response is too late.
        try await SimulatedService.lend(
            rules: [Rule(.never, times: 1)], settings: { $0.pingTimeout = .zero }
        ) { service in
            async let outcome = service.send()
            await service.simulator.wait { $0.unanswered == 1 }
            await service.expire()
            let outcomeResult = try await outcome
            #expect(outcomeResult == .unanswered(.timedOut))
            await service.simulator.wait { $0.openConnections == 0 }
            let after = try await service.isAccepted()
            #expect(after)
            #expect(service.simulator.counters.connections == 2)
        }
    }

    @Test func shutdownAwaitsResponsesAndRejectsNewRequests() async throws {
        try await SimulatedService.lend { service in
            let first = try await service.isAccepted()
            #expect(first)
            service.simulator.setRules([Rule(.pass, delay: .milliseconds(200))])
            async let outcomes = service.send(10)
            await service.simulator.wait { $0.accepted == 11 }
            await service.client.shutDown()
            let results = try await outcomes
            #expect(results.count { $0.isAccepted } == 10)
            let late = try await service.send()
            #expect(late == .notSent(.shuttingDown))
            await service.simulator.wait { $0.openConnections == 0 }
        }
    }

    @Test func manyBadTokensOpenTheTenantsBreaker() async throws {
        try await SimulatedService.lend(
            rules: [Rule(.response(.badDeviceToken))],
            settings: {
                $0.breaker.firstPause = .seconds(600)
                // On a busy machine, this many failures may take long.
                $0.breaker.age = .hours(1)
            }
        ) { service in
            for _ in 0..<50 {
                let outcome = try await service.send()
                #expect(outcome.reason == .badDeviceToken)
            }
            let refused = try await service.send()
            #expect(refused == .notSent(.circuitOpen))
            #expect(service.simulator.received.count == 50)
            service.simulator.setRules([])
            // Another tenant's clip of the same team.
            let other = await service.client.send(
                try SimulatedService.request(tenant: TenantID(UUID())))
            #expect(other.isAccepted)
        }
    }

    @Test(.timeLimit(.minutes(30))) func breakerClosesAfterItsPause() async throws {
        try await SimulatedService.lend(
            rules: [Rule(.response(.badDeviceToken))],
            settings: {
                $0.breaker.firstPause = .milliseconds(1)
                $0.breaker.longestPause = .milliseconds(1)
            }
        ) { service in
            _ = try await service.send(50)
            service.simulator.setRules([])
            while try await !service.isAccepted() { await Task.yield() }
            let after = try await service.send(10)
            #expect(after.count { $0.isAccepted } == 10)
        }
    }

    @Test func logContainsNoSecrets() async throws {
        let device = SimulatedService.randomHex(32)
        let rules = [
            Rule(.goAway(reason: "Shutdown", accepting: false), times: 1), Rule(.cut, times: 1),
            Rule(.response(.unregistered), times: 1), Rule(.reset(code: 2), times: 1),
            Rule(.never, times: 1),
        ]
        try await SimulatedService.lend(rules: rules) { service in
            let request = try SimulatedService.request(
                device: device, payload: #"{"aps":{"alert":"canary words"}}"#)
            for _ in 0..<3 { _ = await service.client.send(request) }
            async let last = service.client.send(request)
            await service.simulator.wait { $0.unanswered == 1 }
            await service.expire()
            let lastResult = await last
            #expect(lastResult == .unanswered(.timedOut))
            let log = service.log.lines.joined(separator: "\n")
            #expect(!log.isEmpty)
            #expect(service.simulator.received.contains { $0.device == device })
            let authorization = try #require(service.simulator.received.last?.header("authorization"))
            for secret in [device, device.uppercased(), "canary", "bearer", String(authorization.suffix(20))]
            {
                #expect(!log.contains(secret))
            }
            #expect(!log.contains(String(SimulatedService.key.pemRepresentation.split(separator: "\n")[1])))
        }
    }
}
