import Administration
import Foundation
import Logging
import Metrics
import Persistence
import ServiceLifecycle

/// Checks the proofs of all tenants' domains again, as long as the server runs.
///
/// One of several servers checks each proof. A proof that another tenant's claim contests is checked at once.
struct DomainCheckService: Service {
    let checks: PostgresDomainChecks
    /// The interval between two checks of one proof; nil to check contested domains only.
    let interval: Duration?
    /// Verifies one domain.
    let verify: @Sendable (PostgresDomainChecks.Due, Date) async throws -> DomainVerification.Outcome
    let logger: Logger

    /// The interval between two searches for due proofs. [ours]
    private static let pause = Duration.seconds(15)
    /// The maximum number of domains of one search. It is small, so that contested domains do not wait for a long round. [ours]
    private static let limit = 48
    /// The maximum number of concurrent checks of one server. [ours]
    private static let atOnce = 8
    /// The time after which the check of a dead server is repeated. It exceeds the time of any check. [ours]
    private static let lease = Duration.seconds(600)
    /// The interval between two checks of a contesting claim, which is proved when the holder's proof is withdrawn. [ours]
    private static let contestedPause = Duration.seconds(3_600)
    /// The interval if only contested domains are checked. [ours]
    private static let usualInterval = Duration.seconds(86_400)

    private var spacing: Duration { interval ?? Self.usualInterval }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await checkWhereDue()
                } catch  where !Task.isCancelled {
                    logger.warning(
                        "domain proofs cannot be checked: trying again", metadata: ["error": "\(error)"])
                } catch {
                    return
                }
                // Delayed randomly, so that servers do not search at the same time.
                try? await Task.sleep(for: Self.pause * Double.random(in: 0.5...1.5))
            }
        }
    }

    private func checkWhereDue() async throws {
        let due = try await checks.due(limit: Self.limit, isDaily: interval != nil)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, domain) in due.enumerated() {
                if index >= Self.atOnce { try await group.next() }
                group.addTask { try await checkOrSchedule(domain) }
            }
            try await group.waitForAll()
        }
    }

    private func checkOrSchedule(_ domain: PostgresDomainChecks.Due) async throws {
        guard domain.isScheduled || domain.isUrgent else {
            // The first checks of many domains are spread over the whole interval.
            let latest = domain.isProved ? spacing : min(spacing, Self.contestedPause)
            return try await checks.schedule(domain, after: latest * Double.random(in: 0...1))
        }
        guard try await checks.claim(domain, for: Self.lease) else { return }
        let pause = await check(domain)
        try await checks.reschedule(domain.name, of: domain.tenant, after: pause)
    }

    /// - Returns: The time until the next check.
    private func check(_ domain: PostgresDomainChecks.Due) async -> Duration {
        var place: Logger.Metadata = ["tenant": "\(domain.tenant)", "host": "\(domain.name)"]
        let now = Date()
        var outcome: DomainVerification.Outcome?
        do {
            outcome = try await verify(domain, now)
        } catch let error as AdministrationError where error == .domainTaken(domain.name) {
            count("contested")
            return min(spacing, Self.contestedPause)
        } catch {
            count("failed")
            place["error"] = "\(error)"
            logger.warning("a domain's proof could not be checked", metadata: place)
        }
        if let outcome {
            count(
                outcome.lack == nil ? "found" : outcome.lack?.isUnanswered == true ? "unanswered" : "missing")
            if outcome.record.status != .proved {
                place["status"] = "\(outcome.record.status.rawValue)"
                logger.notice("a domain's proof was not found", metadata: place)
            }
        }
        return .seconds(
            DomainRecord.timeToNextCheck(
                after: outcome, interval: spacing / .seconds(1), spread: .random(in: 0...1), at: now))
    }

    private func count(_ result: String) {
        Counter(label: "doorstep_domain_checks", dimensions: [("result", result)]).increment()
    }
}
