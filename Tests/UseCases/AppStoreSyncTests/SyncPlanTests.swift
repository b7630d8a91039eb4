import AppStoreSync
import Cards
import Invocation
import Testing

struct SyncPlanTests {
    private let content: ExperienceContent

    init() throws {
        content = try Registrations.content()
    }

    @Test func missingExperienceIsCreated() throws {
        let desired = try Registrations.desired("a", content)
        #expect(try Registrations.plan([desired]).step("a") == .create(content))
        #expect(try Registrations.plan([desired], total: 1).step("a") == .blocked([.incompleteListing]))
    }

    /// A listing may omit a created experience for a long time, and another experience may have its URL.
    @Test func createdExperienceIsNotCreatedAgain() throws {
        let desired = try Registrations.desired("a", content)
        let row = try Registrations.created("a", content, id: "1")
        for remote in [[], [Registrations.remote("a", content, id: "2")]] {
            let plan = try Registrations.plan([desired], [row], remote)
            #expect(plan.step("a") == .inStep)
            #expect(plan.row("a")?.findings.contains(.unlisted(id: "1")) == true)
            #expect(plan.row("a")?.findings.contains(.duplicate(ids: ["2"])) == !remote.isEmpty)
        }
        let changed = try Registrations.desired("a", Registrations.content("New"))
        guard case .update("1", _, _)? = try Registrations.plan([changed], [row]).step("a") else {
            Issue.record("an experience that exists is updated by its identifier")
            return
        }
        #expect(try Registrations.plan([desired], removedIDs: ["1"]).step("a") == .create(content))
    }

    @Test(arguments: [0, 1, 2, 3]) func creationWithoutResponseIsSettledByTwoListings(missing: Int) throws {
        let desired = try Registrations.desired("a", content)
        let row = AppliedExperience(desired.url, content, .creating(missingListings: missing))
        #expect(
            try Registrations.plan([desired], [row]).step("a")
                == (missing < 2 ? .blocked([.unsettledCreation]) : .create(content)))
        let seen = [Registrations.remote("a", content, id: "1")]
        #expect(try Registrations.plan([desired], [row], seen).step("a") == .adopt(id: "1", [], content))
        let twice = seen + [Registrations.remote("a", content, id: "2")]
        #expect(
            try Registrations.plan([desired], [row], twice).step("a")
                == .blocked([.ambiguous(ids: ["1", "2"])]))
    }

    @Test func foreignExperienceIsAdoptedOnlyIfAllowed() throws {
        let desired = [try Registrations.desired("a", content)]
        let remote = [
            Registrations.remote("a", content, id: "1"), Registrations.remote("b", content, id: "2"),
        ]
        var policy = SyncPolicy(primaryLanguage: .english)
        #expect(
            try Registrations.plan(desired, [], remote, policy: policy).step("a")
                == .blocked([.notOwned(id: "1")]))
        policy.adopts = true
        policy.allowedRemovals = 10
        let plan = try Registrations.plan(desired, [], remote, policy: policy)
        #expect(plan.step("a") == .adopt(id: "1", [], content))
        #expect(plan.step("b") == .unmanaged(ids: ["2"]))
    }

    @Test func invalidLinkIsUnmanaged() throws {
        let plan = try Registrations.plan([], [], [RemoteExperience(id: "1", link: "no url", content)])
        #expect(plan.rows.map(\.url) == ["no url"])
        #expect(plan.rows.map(\.step) == [.unmanaged(ids: ["1"])])
        #expect(plan.isEmpty)
    }

    @Test func remoteStatusBlocksChanges() throws {
        let desired = [try Registrations.desired("a", Registrations.content("New"))]
        let row = [try Registrations.created("a", content, id: "1")]
        var remote = Registrations.remote("a", content, id: "1")
        remote.status = .deactivated
        #expect(try Registrations.plan(desired, row, [remote]).step("a") == .blocked([.deactivated]))
        #expect(try Registrations.plan([], row, [remote]).step("a") == .inStep)
        remote.status = .appTransferInProgress
        #expect(try Registrations.plan(desired, row, [remote]).step("a") == .blocked([.appTransfer]))
        #expect(try Registrations.plan([], row, [remote]).step("a") == .blocked([.appTransfer]))
    }

    @Test func missingRequirementsAreNamed() throws {
        var desired = DesiredExperience(
            try Registrations.url("a"), ExperienceContent(Card()),
            obstacles: [.imageUnknown, .domainUnproved])
        #expect(
            try Registrations.plan([desired]).step("a")
                == .blocked([
                    .obstacle(.domainUnproved), .obstacle(.imageUnknown), .missing(path: "defaultLanguage"),
                    .missing(path: "texts.EN"), .missing(path: "image"),
                ]))
        desired.obstacles = []
        desired.content = content
        desired.content.card.defaultLanguage = .french
        desired.content.card.place = Place()
        #expect(
            try Registrations.plan([desired]).step("a")
                == .blocked([.missing(path: "texts.FR"), .missing(path: "place.displayPoint")]))
    }

    @Test func placeAndLanguageFindingsAreReported() throws {
        let policy = SyncPolicy(primaryLanguage: .english, languages: [.japanese, .english, .french])
        var remote = Registrations.remote("a", content, id: "1")
        remote.placeStatus = .noMatch
        remote.content.card.texts[.french] = try CardText(title: "Oui")
        func findings() throws -> [SyncPlan.Finding]? {
            try Registrations.plan(
                [try Registrations.desired("a", content)], [try Registrations.created("a", content, id: "1")],
                [remote], policy: policy
            ).row("a")?.findings
        }
        #expect(try findings() == [.placeNotMatched, .languageMissing("JA")])
        remote.placeStatus = .pending
        #expect(try findings() == [.placePending, .languageMissing("JA")])
        remote.placeStatus = .matched
        #expect(try findings() == [.languageMissing("JA")])
    }

    @Test func contradictionsAreRejected() throws {
        let desired = try Registrations.desired("a", content)
        let row = try Registrations.created("a", content, id: "1")
        #expect(throws: SyncError.desiredTwice(url: "https://example.com/a")) {
            try Registrations.plan([desired, desired])
        }
        #expect(throws: SyncError.appliedTwice(url: "https://example.com/a")) {
            try Registrations.plan([], [row, row])
        }
        #expect(throws: SyncError.contradictoryID("1")) {
            try Registrations.plan([], [row, try Registrations.created("b", content, id: "1")])
        }
        #expect(throws: SyncError.contradictoryID("1")) {
            try Registrations.plan([], [row], removedIDs: ["1"])
        }
    }

    @Test func listingIsCompleteOnlyIfConsistent() throws {
        let one = Registrations.remote("a", content, id: "1")
        let two = Registrations.remote("b", content, id: "2")
        var other = one
        other.status = .deactivated
        #expect(RemoteListing([two, one, one], total: 2).isComplete)
        #expect(RemoteListing([two, one, one], total: 2).experiences == [one, two])
        #expect(!RemoteListing([one, one], total: 2).isComplete)
        #expect(!RemoteListing([one, two], total: nil).isComplete)
        #expect(!RemoteListing([one, other], total: 1).isComplete)
        #expect(RemoteListing([one, other], total: 1) == RemoteListing([other, one], total: 1))
    }
}
