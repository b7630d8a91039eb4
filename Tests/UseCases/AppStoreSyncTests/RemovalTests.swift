import AppStoreSync
import Cards
import Foundation
import Testing

struct RemovalTests {
    private let content: ExperienceContent
    private let kept: [DesiredExperience]
    private var allowing = SyncPolicy(primaryLanguage: .english, allowedRemovals: 1)

    init() throws {
        content = try Registrations.content()
        kept = [try Registrations.desired("kept", content)]
    }

    private func rows(_ count: Int) throws -> ([AppliedExperience], [RemoteExperience]) {
        let names = (0..<count).map { "r\($0)" } + ["kept"]
        return (
            try names.map { try Registrations.created($0, content, id: $0) },
            names.map { Registrations.remote($0, content, id: $0) }
        )
    }

    @Test func ownedUndesiredExperienceIsRemoved() throws {
        let (applied, remote) = try rows(1)
        let plan = try Registrations.plan(kept, applied, remote, policy: allowing)
        #expect(plan.step("r0") == .remove(id: "r0"))
        #expect(plan.step("kept") == .inStep)
        let unowned = try Registrations.plan(kept, Array(applied.dropFirst()), remote, policy: allowing)
        #expect(unowned.step("r0") == .unmanaged(ids: ["r0"]))
        #expect(unowned.isEmpty)
    }

    @Test func removalGuardsBlockRemoval() throws {
        let (applied, remote) = try rows(1)
        func step(
            desired: [DesiredExperience]? = nil, extra: [AppliedExperience] = [], total: Int = 2,
            allowed: Int = 1
        ) throws -> SyncPlan.Step? {
            var policy = allowing
            policy.allowedRemovals = allowed
            return try Registrations.plan(
                desired ?? kept, applied + extra, remote, total: total, policy: policy
            ).step("r0")
        }
        #expect(try step() == .remove(id: "r0"))
        #expect(try step(allowed: 0) == .blocked([.tooManyRemovals(count: 1)]))
        #expect(try step(total: 3) == .blocked([.incompleteListing]))
        #expect(try step(desired: [], allowed: 2) == .blocked([.nothingDesired]))
        let unsettled = AppliedExperience(try Registrations.url("u"), content, .creating(missingListings: 1))
        #expect(try step(extra: [unsettled]) == .blocked([.unsettledCreation]))
    }

    @Test func undesiredExperienceStaysDuringGracePeriod() throws {
        let (applied, remote) = try rows(1)
        let vanished = Date(timeIntervalSince1970: 1_700_000_000)
        var gone = applied
        gone[0].undesiredSince = vanished
        func step(_ seconds: TimeInterval) throws -> SyncPlan.Step? {
            var policy = allowing
            policy.removesWhatVanishedBefore = vanished.addingTimeInterval(seconds)
            return try Registrations.plan(kept, gone, remote, policy: policy).step("r0")
        }
        #expect(try step(-1) == .blocked([.grace(since: vanished)]))
        #expect(try step(0) == .remove(id: "r0"))
    }

    @Test func unlistedExperienceIsNotRemoved() throws {
        let (applied, remote) = try rows(1)
        let plan = try Registrations.plan(kept, applied, Array(remote.dropFirst()), policy: allowing)
        #expect(plan.step("r0") == .blocked([.unlisted(id: "r0")]))
    }

    @Test(arguments: [10, 11]) func massRemovalRequiresItsCount(count: Int) throws {
        let (applied, remote) = try rows(count)
        func steps(_ mass: Int?) throws -> Set<Bool> {
            var policy = allowing
            policy.allowedRemovals = 100
            policy.allowedMassRemoval = mass
            let plan = try Registrations.plan(kept, applied, remote, policy: policy)
            return Set(plan.rows.filter { $0.url != "https://example.com/kept" }.map(\.step.isChange))
        }
        #expect(try steps(nil) == [count == 10])
        #expect(try steps(12) == [count == 10])
        #expect(try steps(count) == [true])
    }

    @Test func removalOfOneInTwentyIsNoMassRemoval() throws {
        let (applied, remote) = try rows(12)
        var policy = allowing
        policy.allowedRemovals = 100
        for (count, isAllowed) in [(239, false), (240, true)] {
            let desired = try (0..<count).map { try Registrations.desired("d\($0)", content) }
            let plan = try Registrations.plan(
                desired, applied.dropLast(), remote.dropLast(), policy: policy)
            #expect(plan.step("r0")?.isChange == isAllowed)
        }
    }

    /// A stored plan names each removal. Some may already be done when the plan continues.
    @Test func storedPlanAllowsFewerRemovalsThanNamed() throws {
        let (applied, remote) = try rows(11)
        func isAllowed(_ named: Int?) throws -> Bool? {
            let policy = SyncPolicy(
                primaryLanguage: .english, allowedRemovals: 100, allowedMassRemoval: named, allowsFewer: true)
            return try Registrations.plan(kept, applied, remote, policy: policy).step("r0")?.isChange
        }
        #expect(try isAllowed(12) == true && isAllowed(11) == true)
        #expect(try isAllowed(10) == false && isAllowed(nil) == false)
    }

    @Test func staleListingDoesNotRestoreRemovedExperience() throws {
        let (applied, remote) = try rows(1)
        let plan = try Registrations.plan(
            kept, Array(applied.dropFirst()), remote, removedIDs: ["r0"], policy: allowing)
        #expect(plan.row("r0") == nil)
        #expect(plan.isEmpty)
    }
}
