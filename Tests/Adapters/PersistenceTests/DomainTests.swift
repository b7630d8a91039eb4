import Administration
import Foundation
import Invocation
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@Suite struct DomainTests {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)
    static let day = TimeInterval(86_400)

    static func withDomain(
        _ body: (Stores, TenantID, OutsideWorld, DomainVerification, DomainRecord) async throws -> Void
    ) async throws {
        try await Stores.withTenant { stores, tenant in
            let world = OutsideWorld()
            let verification = stores.verification(by: world)
            let record = try await stores.claim("example.com", of: tenant)
            try await body(stores, tenant, world, verification, record)
        }
    }

    @Test func claimKeepsItsChallenge() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let other = try await stores.createTenant("other")
            let first = try await stores.claim("example.com", challenge: "one", of: tenant)
            #expect(first.status == .claimed)
            #expect(first.challenge == "one")
            #expect(try await stores.claim("example.com", challenge: "two", of: tenant) == first)
            // Several tenants may claim an unproved domain. They do not see each other's claims.
            let theirs = try await stores.claim("example.com", challenge: "three", of: other)
            #expect(theirs.challenge == "three")
            #expect(try await store.domains(of: tenant) == [first])
            #expect(try await store.domains(of: other) == [theirs])
        }
    }

    @Test func contentIsStoredWithTheClaim() async throws {
        try await Stores.withTenant { stores, tenant in
            let store = stores.administration
            let other = try await stores.createTenant("other")
            try await stores.createClip(of: tenant)
            let record = try await stores.claim("example.com", of: tenant)
            let content = try AssociationContent(
                parsing: #"{"webcredentials":{"apps":["ABCDE12345.com.example.Bank"]}}"#.utf8)
            for name in ["example.com", "example.org"] {
                let name = try DomainName(name)
                await #expect(throws: AdministrationError.unknownDomain(name)) {
                    try await store.setContent(
                        content, ofDomain: name, of: name == record.name ? other : tenant)
                }
            }
            let kept = try await store.setContent(content, ofDomain: record.name, of: tenant)
            #expect(kept.content == content && kept.challenge == record.challenge)
            #expect(try await store.domain(record.name, of: tenant) == kept)
            #expect(try await stores.claim("example.com", challenge: "new", of: tenant) == kept)

            // Content that names a clip of the tenant as an app is refused. The stored content stays.
            let swapped = try AssociationContent(
                parsing: #"{"applinks":{"details":[{"appID":"ABCDE12345.com.example.MyApp.Clip"}]}}"#.utf8)
            let error = await #expect(throws: AssociationContentError.self) {
                try await store.setContent(swapped, ofDomain: record.name, of: tenant)
            }
            #expect(error?.description.hasPrefix("applinks.details[0].appID ") == true)
            #expect(try await store.domain(record.name, of: tenant) == kept)

            // The audit log has the actor and the content before and after.
            #expect(try await store.setContent(nil, ofDomain: record.name, of: tenant).content == nil)
            #expect(
                try await stores.count(
                    """
                    SELECT count(*) FROM doorstep.audit_log
                    WHERE relation = 'domains' AND action = 'update' AND actor = 'operator:alice'
                        AND (before->'content'->'webcredentials' IS NOT NULL
                            OR after->'content'->'webcredentials' IS NOT NULL)
                    """) == 2)
        }
    }

    @Test func txtRecordProvesDomain() async throws {
        try await Self.withDomain { stores, tenant, world, verification, record in
            let missing = try await verification.verify(record.name, of: tenant, at: Self.now)
            #expect(missing.record.status == .claimed)
            #expect(missing.lack?.isUnanswered == false)
            #expect(missing.lack?.reason.contains("_doorstep-challenge.example.com") == true)

            for values in [
                [record.challenge], ["doorstep-verification=other"], [record.recordValue + "x"], [],
            ] {
                world.publish(record, values)
                let outcome = try await verification.verify(record.name, of: tenant, at: Self.now)
                #expect(outcome.lack != nil, "\(values)")
            }
            world.publish(record, ["other", record.recordValue])
            let proved = try await verification.verify(record.name, of: tenant, at: Self.now)
            #expect(proved.lack == nil)
            #expect(proved.record.proof == .init(method: .dns, provedAt: Self.now))
            #expect(try await stores.administration.domains(of: tenant) == [proved.record])

            // A second verification keeps the time of the first proof.
            let again = try await verification.verify(record.name, of: tenant, at: Self.now + 1)
            #expect(again.record.proof?.provedAt == Self.now)
            #expect(again.record.checkedAt == Self.now + 1)
        }
    }

    @Test func fileProvesDomain() async throws {
        try await Self.withDomain { _, tenant, world, verification, record in
            let body = Array("  \(record.challenge)\r\n".utf8)
            for page in [
                Page(status: 404, body: body), Page(status: 302, location: "/x", body: body),
                Page(status: 200, body: Array("other".utf8)), Page(status: 200),
                Page(status: 200, body: body, isCutOff: true),
                Page(status: 200, body: Array("\(record.challenge) and more".utf8)),
            ] {
                world.serve(record, page)
                let outcome = try await verification.verify(record.name, of: tenant, at: Self.now)
                #expect(outcome.lack?.isUnanswered == false, "\(page)")
                #expect(outcome.record.status == .claimed)
            }
            world.serve(record, Page(status: 200, contentType: "text/plain", body: body))
            let proved = try await verification.verify(record.name, of: tenant, at: Self.now)
            #expect(proved.record.proof?.method == .file)
        }
    }

    @Test func domainIsProvedByOneTenantOnly() async throws {
        try await Self.withDomain { stores, tenant, world, verification, record in
            let other = try await stores.createTenant("other")
            let theirs = try await stores.claim("example.com", of: other)
            world.publish(record, [record.recordValue, theirs.recordValue])
            _ = try await verification.verify(record.name, of: tenant, at: Self.now)
            await #expect(throws: AdministrationError.domainTaken(record.name)) {
                try await verification.verify(record.name, of: other, at: Self.now)
            }
            #expect(
                try await stores.administration.domains(of: other) == [theirs.contesting(at: Self.now)])
            // After the first tenant releases the domain, the other tenant can prove it.
            try await stores.administration.releaseDomain(record.name, of: tenant)
            let proved = try await verification.verify(record.name, of: other, at: Self.now)
            #expect(proved.record.status == .proved)
        }
    }

    /// Two proofs are stored at the same moment. One succeeds, the other one fails with an error that says the domain is taken.
    @Test func concurrentProofsHaveOneWinner() async throws {
        try await Stores.withStores { stores in
            let tenants = [try await stores.createTenant("one"), try await stores.createTenant("two")]
            for round in 0..<20 {
                let name = try DomainName("round\(round).example.com")
                var records: [DomainRecord] = []
                for tenant in tenants { records.append(try await stores.claim(name.text, of: tenant)) }
                let outcomes = await withTaskGroup(of: Result<DomainRecord, any Error>.self) { group in
                    for (tenant, record) in zip(tenants, records) {
                        group.addTask {
                            do {
                                return .success(
                                    try await stores.administration.changeDomain(
                                        record.name, of: tenant
                                    ) { $0.proved(by: .dns, at: Self.now) })
                            } catch {
                                return .failure(error)
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                let refusals = outcomes.compactMap { outcome -> AdministrationError? in
                    if case .failure(let error) = outcome { error as? AdministrationError } else { nil }
                }
                #expect(refusals == [.domainTaken(name)])
                #expect(refusals.first?.code == "domain_taken")
                #expect(
                    try await stores.count(
                        """
                        SELECT count(*) FROM doorstep.domains
                        WHERE host = \(name.text) AND proved_at IS NOT NULL
                        """) == 1)
            }
        }
    }

    @Test func missingProofLapsesAndIsWithdrawnAfterAWeek() async throws {
        try await Self.withDomain { stores, tenant, world, verification, record in
            func check(_ days: Double) async throws -> DomainVerification.Outcome? {
                try await verification.verifyAll(of: tenant, at: Self.now + days * Self.day).first
            }
            world.publish(record)
            _ = try await verification.verify(record.name, of: tenant, at: Self.now)
            world.clear()

            let lapsed = try #require(try await check(1))
            #expect(lapsed.record.status == .lapsed)
            #expect(lapsed.record.lapsedAt == Self.now + Self.day)
            #expect(lapsed.record.withdrawnFrom == Self.now + 8 * Self.day)
            #expect(lapsed.lack?.isUnanswered == false)
            let later = try #require(try await check(7.9))
            #expect(later.record.status == .lapsed)
            #expect(later.record.lapsedAt == Self.now + Self.day)

            // If the proof is found again, the lapse is forgotten.
            world.publish(record)
            #expect(try await check(7.95)?.record.status == .proved)
            world.clear()
            #expect(try await check(10)?.record.lapsedAt == Self.now + 10 * Self.day)
            let withdrawn = try #require(try await check(17))
            #expect(withdrawn.record.status == .withdrawn)
            #expect(withdrawn.record.lapsedAt == Self.now + 10 * Self.day)
            #expect(try await stores.administration.domains(of: tenant) == [withdrawn.record])
            #expect(try await check(18) == nil)

            // The claim is still stored and can be proved again.
            world.publish(record)
            let proved = try await verification.verify(record.name, of: tenant, at: Self.now + 20 * Self.day)
            #expect(proved.record.proof?.provedAt == Self.now + 20 * Self.day)
            #expect(proved.record.status == .proved)
        }
    }

    @Test func silentServerCausesNoLapse() async throws {
        try await Self.withDomain { _, tenant, world, verification, record in
            world.fallSilent(record)
            let claimed = try await verification.verify(record.name, of: tenant, at: Self.now)
            #expect(claimed.lack?.isUnanswered == true)
            world.publish(record)
            _ = try await verification.verify(record.name, of: tenant, at: Self.now)
            world.fallSilent(record)
            for days in [1.0, 100] {
                let outcome = try await verification.verify(
                    record.name, of: tenant, at: Self.now + days * Self.day)
                #expect(outcome.record.status == .proved)
                #expect(outcome.lack?.isUnanswered == true)
                #expect(outcome.lack?.reason.contains("silence") == true)
            }
            // The DNS responds without the record, so the proof lapses although the web server is silent.
            world.publish(record, [])
            let lapsed = try await verification.verify(record.name, of: tenant, at: Self.now + Self.day)
            #expect(lapsed.record.status == .lapsed)
        }
    }

    /// An error status of the web server counts like no response.
    @Test(arguments: [429, 500, 502, 503, 504])
    func serverErrorCausesNoLapse(status: Int) async throws {
        try await Self.withDomain { _, tenant, world, verification, record in
            world.serve(record, Page(status: 200, body: Array(record.challenge.utf8)))
            _ = try await verification.verify(record.name, of: tenant, at: Self.now)
            world.serve(record, Page(status: status, body: Array("busy".utf8)))
            for days in [1.0, 100] {
                let outcome = try await verification.verify(
                    record.name, of: tenant, at: Self.now + days * Self.day)
                #expect(outcome.record.status == .proved)
                #expect(outcome.lack?.isUnanswered == true)
                #expect(outcome.lack?.reason.contains("has status \(status)") == true)
            }
        }
    }

    @Test func otherMethodReplacesMissingProof() async throws {
        try await Self.withDomain { _, tenant, world, verification, record in
            world.publish(record)
            _ = try await verification.verify(record.name, of: tenant, at: Self.now)
            world.clear()
            world.serve(record, Page(status: 200, body: Array(record.challenge.utf8)))
            let moved = try await verification.verify(record.name, of: tenant, at: Self.now + 1)
            #expect(moved.record.proof == .init(method: .file, provedAt: Self.now))
        }
    }

    @Test func verificationChecksAllDomainsOfOneTenant() async throws {
        try await Self.withDomain { stores, tenant, world, verification, record in
            let other = try await stores.createTenant("other")
            for number in 0..<30 {
                let name = "d\(number).example.com"
                let record = try await stores.claim(name, of: number % 2 == 0 ? tenant : other)
                _ = try await stores.administration.changeDomain(
                    record.name, of: number % 2 == 0 ? tenant : other
                ) { $0.proved(by: .dns, at: Self.now) }
                if number % 3 == 0 { world.publish(record) }
            }
            let outcomes = try await verification.verifyAll(of: tenant, at: Self.now + Self.day)
            #expect(outcomes.count == 15)
            #expect(outcomes.filter { $0.lack == nil }.count == 5)
            #expect(outcomes.map(\.record.name.text) == outcomes.map(\.record.name.text).sorted())
            let theirs = try await stores.administration.domains(of: other)
            #expect(theirs.allSatisfy { $0.status == .proved })
            // Unproved claims are not checked again.
            #expect(!outcomes.contains { $0.record.name == record.name })
        }
    }

    @Test func deletedOrReplacedClaimIsNotProved() async throws {
        try await Self.withDomain { stores, tenant, _, verification, record in
            let store = stores.administration
            let other = try await stores.createTenant("other")
            let unknown = AdministrationError.unknownDomain(record.name)
            for tenant in [tenant, other] {
                if tenant != other { try await store.releaseDomain(record.name, of: tenant) }
                await #expect(throws: unknown) { try await store.releaseDomain(record.name, of: tenant) }
                await #expect(throws: unknown) { try await store.domain(record.name, of: tenant) }
                await #expect(throws: unknown) {
                    try await verification.verify(record.name, of: tenant, at: Self.now)
                }
                await #expect(throws: unknown) {
                    try await store.changeDomain(record.name, of: tenant) {
                        $0.proved(by: .dns, at: Self.now)
                    }
                }
                await #expect(throws: unknown) {
                    try await store.changeDomain(record.name, of: tenant) { $0.lapsed(at: Self.now) }
                }
            }
            // A new claim has a new challenge. Evidence for the old challenge does not prove it.
            let old = try await stores.claim("example.com", challenge: "old", of: tenant)
            let late = DomainVerification(
                store: store.items.domains, by: "operator:alice",
                resolver: Reclaiming(stores: stores, tenant: tenant, record: old), fetcher: OutsideWorld())
            await #expect(throws: unknown) {
                try await late.verify(record.name, of: tenant, at: Self.now)
            }
            #expect(try await store.domain(record.name, of: tenant).challenge == "another")
            #expect(try await store.domain(record.name, of: tenant).status == .claimed)
        }
    }

    /// A resolver that replaces the claim while it looks up the record, and then returns the record of the old claim.
    private struct Reclaiming: TextRecordResolver {
        let stores: Stores
        let tenant: TenantID
        let record: DomainRecord

        func textRecords(of name: String) async throws(NoResponse) -> [String] {
            do {
                try await stores.administration.releaseDomain(record.name, of: tenant)
                _ = try await stores.claim(record.name.text, challenge: "another", of: tenant)
            } catch {
                throw NoResponse("\(error)")
            }
            return [record.recordValue]
        }
    }

    @Test func auditLogHasEveryStepOfDomain() async throws {
        try await Self.withDomain { stores, tenant, world, verification, record in
            world.publish(record)
            _ = try await verification.verify(record.name, of: tenant, at: Self.now)
            try await stores.administration.releaseDomain(record.name, of: tenant)
            #expect(
                try await stores.count(
                    "SELECT count(*) FROM doorstep.audit_log WHERE relation = 'domains' AND actor = 'operator:alice'"
                )
                    == 3)
        }
    }
}

extension Stores {
    func verification(by world: OutsideWorld) -> DomainVerification {
        DomainVerification(
            store: administration.items.domains, by: "operator:alice", resolver: world, fetcher: world)
    }

    func claim(
        _ name: String, challenge: String? = nil, of tenant: TenantID
    ) async throws -> DomainRecord {
        try await administration.claimDomain(
            DomainName(name), challenge: challenge ?? UUID().uuidString, of: tenant)
    }
}
