import Administration
import Foundation
import Invocation
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

/// Repeated checks of proofs, which the server makes by itself.
@Suite struct DomainCheckTests {
    /// A domain that one tenant has proved and another has claimed.
    private struct Contest {
        let stores: Stores
        let world = OutsideWorld()
        let (holder, rival): (TenantID, TenantID)
        let held: DomainRecord
        let claimed: DomainRecord
        let checks: PostgresDomainChecks
        /// Whole seconds, which the database stores exactly.
        let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))

        var name: DomainName { held.name }

        func verify(
            _ tenant: TenantID, _ rivalry: DomainVerification.Rivalry = .unknown, after days: Double = 0
        ) async throws -> DomainRecord {
            try await stores.verification(by: world)
                .verify(name, of: tenant, rivalry: rivalry, at: now + days * 86_400).record
        }

        /// The rival proves its claim and is refused, because the holder has the domain.
        func contest() async throws {
            await #expect(throws: AdministrationError.domainTaken(name)) { try await verify(rival) }
        }

        func told(_ tenant: TenantID) async throws -> [String] {
            try await stores.database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    try await connection.execute(
                        "SELECT type FROM doorstep.webhook_messages WHERE tenant_id = \(tenant.uuid) ORDER BY type"
                    ).map { try $0.decode(at: 0) }
                }
            }
        }
    }

    private static func withContest(_ body: (Contest) async throws -> Void) async throws {
        try await Stores.withTenant { stores, holder in
            let rival = try await stores.createTenant("rival")
            let (held, claimed) = (
                try await stores.claim("example.com", of: holder),
                try await stores.claim("example.com", of: rival)
            )
            for tenant in [holder, rival] {
                try await stores.administer(
                    tenant,
                    """
                    INSERT INTO doorstep.webhooks (tenant_id, webhook_id, url, sealed_secret, events)
                    VALUES ('\(tenant)', gen_random_uuid(), 'https://example.com/hook', sha512('s'), ARRAY[
                        'domain.proved', 'domain.contested', 'domain.lapsed', 'domain.withdrawn'])
                    """)
            }
            try await stores.database.withPool(as: .serve) { pool in
                let contest = Contest(
                    stores: stores, holder: holder, rival: rival, held: held, claimed: claimed,
                    checks: PostgresDomainChecks(pool))
                contest.world.publish(held)
                _ = try await contest.verify(holder)
                try await body(contest)
            }
        }
    }

    /// A check may still wait for its evidence when a later check ends.
    @Test func checkThatBeganEarlierDoesNotUndoALaterOne() async throws {
        try await Self.withContest { contest in
            contest.world.publish(contest.claimed)
            try await contest.contest()
            let lapsed = try await contest.verify(contest.holder, .proved(at: contest.now), after: 1)
            #expect(lapsed.status == .lapsed)
            contest.world.publish(contest.held)
            let late = try await contest.verify(contest.holder, .none, after: 0.5)
            #expect(late == lapsed)
            #expect(try await contest.verify(contest.holder, .none, after: 1).status == .proved)
        }
    }

    @Test func rivalProofStartsTheHoldersCheckAtOnce() async throws {
        try await Self.withContest { contest in
            let checks = contest.checks
            let first = try #require(try await checks.due(limit: 10).first)
            #expect(first.tenant == contest.holder && !first.isScheduled && !first.isUrgent)
            try await checks.schedule(first, after: .seconds(86_400))
            #expect(try await checks.due(limit: 10).isEmpty)

            contest.world.publish(contest.claimed)
            try await contest.contest()
            let due = try await checks.due(limit: 10)
            let holders = try #require(due.first)
            #expect(holders.tenant == contest.holder && holders.isUrgent)
            #expect(due.dropFirst().map(\.tenant) == [contest.rival])
            #expect(due.map(\.isProved) == [true, false])
            // Contested domains are checked even if daily checks are off.
            #expect(try await checks.due(limit: 10, isDaily: false).first?.tenant == contest.holder)
            #expect(try await checks.claim(holders, for: .seconds(600)))
            #expect(try await !checks.claim(holders, for: .seconds(600)))
            #expect(try await checks.due(limit: 10).map(\.tenant) == [contest.rival])

            let lapsed = try await contest.verify(contest.holder, holders.rivalry)
            #expect(lapsed.status == .lapsed && lapsed.contestedAt == contest.now)
            #expect(lapsed.withdrawnFrom == contest.now + DomainRecord.grace)
            #expect(
                try await contest.told(contest.holder) == [
                    "domain.contested", "domain.lapsed", "domain.proved",
                ])
            #expect(try await contest.told(contest.rival) == ["domain.contested"])

            // If the domain is contested again, it is not checked again at once.
            try await contest.contest()
            #expect(try await checks.due(limit: 10).map(\.tenant) == [contest.rival])

            let withdrawn = try await contest.verify(contest.holder, holders.rivalry, after: 7)
            #expect(withdrawn.status == .withdrawn && withdrawn.contestedAt == nil)
            let proved = try await contest.verify(contest.rival, after: 7)
            #expect(proved.status == .proved && proved.contestedAt == nil)
            #expect(try await contest.told(contest.holder).last == "domain.withdrawn")
            #expect(try await contest.told(contest.rival) == ["domain.contested", "domain.proved"])
        }
    }

    /// The rival's check begins before the holder's check. It stores the contest during or after the holder's check.
    @Test(arguments: [false, true])
    func contestThatARunningCheckDoesNotKnowLeadsToAnother(isAfterCheck: Bool) async throws {
        try await Self.withContest { contest in
            let checks = contest.checks
            let first = try #require(try await checks.due(limit: 10).first)
            try await checks.schedule(first, after: .zero)
            let daily = try #require(try await checks.due(limit: 10).first)
            #expect(try await checks.claim(daily, for: .seconds(600)))
            if isAfterCheck {
                _ = try await contest.verify(contest.holder, daily.rivalry)
                try await checks.reschedule(contest.name, of: contest.holder, after: .seconds(86_400))
            }
            contest.world.publish(contest.claimed)
            await #expect(throws: AdministrationError.domainTaken(contest.name)) {
                try await contest.verify(contest.rival, after: -1)
            }
            for isDaily in [true, false] {
                let urgent = try #require(try await checks.due(limit: 10, isDaily: isDaily).first)
                #expect(urgent.tenant == contest.holder && urgent.isUrgent)
            }
            let urgent = try #require(try await checks.due(limit: 10).first)
            // A server that read the due checks before the contest cannot claim this check.
            #expect(try await !checks.claim(daily, for: .seconds(600)))
            #expect(try await checks.claim(urgent, for: .seconds(600)))
            #expect(try await !checks.claim(urgent, for: .seconds(600)))
            #expect(try await checks.due(limit: 10).map(\.tenant) == [contest.rival])
            #expect(try await contest.verify(contest.holder, urgent.rivalry).status == .lapsed)
        }
    }

    /// If a daily check already knows the contest, no urgent check follows.
    @Test func dailyCheckThatKnowsTheContestIsTheOnlyOne() async throws {
        try await Self.withContest { contest in
            let checks = contest.checks
            contest.world.publish(contest.claimed)
            try await contest.contest()
            let urgent = try #require(try await checks.due(limit: 10).first)
            #expect(try await checks.claim(urgent, for: .zero))
            let daily = try #require(
                try await checks.due(limit: 10).first { $0.tenant == contest.holder })
            #expect(!daily.isUrgent && daily.rivalry != .none)
            #expect(try await checks.claim(daily, for: .seconds(600)))
            #expect(try await checks.due(limit: 10).map(\.tenant) == [contest.rival])
        }
    }

    @Test func provedHolderKeepsContestedDomain() async throws {
        try await Self.withContest { contest in
            contest.world.publish(contest.held, [contest.held.recordValue, contest.claimed.recordValue])
            try await contest.contest()
            let due = try #require(try await contest.checks.due(limit: 10).first)
            let kept = try await contest.verify(contest.holder, due.rivalry)
            #expect(kept.status == .proved && kept.contestedAt == contest.now)
            // The rival's proof is gone, so the contest has ended.
            contest.world.publish(contest.held)
            #expect(try await contest.verify(contest.rival).contestedAt == nil)
            let rivalry = try #require(try await contest.checks.due(limit: 10).first).rivalry
            #expect(rivalry == .none)
            #expect(try await contest.verify(contest.holder, rivalry).contestedAt == nil)
        }
    }

    @Test func silenceIsALapseOnlyIfRivalIsProved() async throws {
        try await Self.withContest { contest in
            contest.world.fallSilent(contest.held)
            for rivalry in [.unknown, .none, .proved(at: contest.now - 2 * 86_400 - 1)]
                as [DomainVerification.Rivalry]
            {
                #expect(try await contest.verify(contest.holder, rivalry).status == .proved, "\(rivalry)")
            }
            let lapsed = try await contest.verify(contest.holder, .proved(at: contest.now))
            #expect(lapsed.status == .lapsed)
        }
    }

    @Test func scheduledCheckIsClaimedByOneServer() async throws {
        try await Self.withContest { contest in
            let checks = contest.checks
            let due = try #require(try await checks.due(limit: 10).first)
            try await checks.schedule(due, after: .zero)
            try await checks.schedule(due, after: .seconds(3_600))
            let scheduled = try #require(try await checks.due(limit: 10).first)
            #expect(scheduled.isScheduled && scheduled.rivalry == .none)
            let claims = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask { try await checks.claim(scheduled, for: .seconds(600)) }
                }
                return try await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect(claims.count(where: \.self) == 1)
            #expect(try await checks.due(limit: 10).isEmpty)
            // If a server dies during a check, another server can claim the check after its lease.
            try await checks.reschedule(contest.name, of: contest.holder, after: .zero)
            #expect(try await checks.due(limit: 10).count == 1)
            #expect(try await checks.due(limit: 10, isDaily: false).isEmpty)
            try await contest.stores.administration.releaseDomain(contest.name, of: contest.holder)
            #expect(try await checks.due(limit: 10).isEmpty)
            #expect(try await !checks.claim(scheduled, for: .zero))
        }
    }

    @Test func unchangedProofLeavesNoAuditEntry() async throws {
        try await Self.withContest { contest in
            func entries() async throws -> Int {
                try await contest.stores.count(
                    "SELECT count(*) FROM doorstep.audit_log WHERE relation = 'domains'")
            }
            let before = try await entries()
            #expect(
                try await contest.verify(contest.holder, .none, after: 1).checkedAt == contest.now + 86_400)
            #expect(try await entries() == before)
            contest.world.publish(contest.held, [])
            #expect(try await contest.verify(contest.holder, .none, after: 2).status == .lapsed)
            #expect(try await entries() == before + 1)
        }
    }

    @Test func timeToNextCheckFollowsTheOutcome() async throws {
        try await Self.withContest { contest in
            let day = TimeInterval(86_400)
            let verification = contest.stores.verification(by: contest.world)
            func next(_ days: Double, spread: Double = 0) async throws -> TimeInterval {
                let now = contest.now + days * day
                let outcome = try await verification.verify(contest.name, of: contest.holder, at: now)
                return DomainRecord.timeToNextCheck(after: outcome, interval: day, spread: spread, at: now)
            }
            let found = try await next(0)
            #expect(found == day)
            #expect(try await next(0, spread: 1) == 0.9 * day)
            contest.world.fallSilent(contest.held)
            #expect(try await next(1) == 3_600)
            contest.world.publish(contest.held, [])
            #expect(try await next(1) == day)
            #expect(try await next(7.75) == day / 4)
            #expect(
                DomainRecord.timeToNextCheck(after: nil, interval: 60, spread: 0, at: contest.now) == 60)
        }
    }
}
