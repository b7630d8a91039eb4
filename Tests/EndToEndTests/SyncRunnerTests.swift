import AppStoreConnect
import AppStoreConnectSimulator
import AppStoreSync
import Cards
import Formats
import Foundation
import Persistence
import PostgreSQL
import StoreSupport
import Tenancy
import Testing

/// Synchronizes a tenant's experiences with the simulator. The records are in a real database.
@Suite(.timeLimit(.minutes(10))) struct SyncRunnerTests {
    private static let experiences = "/v1/appClipAdvancedExperiences"
    private static let listings = "/v1/appClips"
    private static let names = (0..<25).map { "place-\($0)" }

    @Test func firstApplyCreatesAllAndSecondNothing() async throws {
        try await RegisteredTenant.lend { tenant in
            for seed in 0..<2 {
                try await tenant.add(
                    Self.names.enumerated().filter { $0.offset % 2 == seed }.map(\.element),
                    image: tenant.addImage(seed: seed))
            }
            let plan = try await tenant.plan()
            #expect(plan.plan.rows.count == 25 && plan.plan.rows.allSatisfy(\.step.isChange))
            #expect(!plan.isInStep && plan.forecast.images == 2)
            #expect(plan.text().contains("+ https://example.com/place-0"))
            #expect(tenant.simulator.experiences.isEmpty)

            let before = tenant.requestCount
            let outcome = try await tenant.apply()
            #expect(outcome.created == 25 && outcome.hasSucceeded, "\(outcome.text)")
            #expect(outcome.survey?.isInStep == true)
            // Besides the forecast requests, the run only reads app and clip, before and after.
            #expect(tenant.requestCount - before <= plan.forecast.requests + 4)
            #expect(tenant.simulator.counters.creations.values.allSatisfy { $0 == 1 })
            #expect(Set(tenant.remote.keys) == Set(Self.names))
            #expect(tenant.remote["place-7"].title == "place-7")

            let second = try await tenant.plan()
            #expect(second.isInStep && second.plan.isEmpty)
            let requests = tenant.requestCount
            let again = try await tenant.apply()
            #expect(again.created == 0 && again.updated == 0 && tenant.requestCount - requests == 3)
        }
    }

    @Test func changeUpdatesOneFieldOfOneExperience() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(Self.names, image: tenant.addImage())
            try await tenant.apply()
            try await tenant.retitle("place-3", "Changed")
            let plan = try await tenant.plan()
            let rows = plan.plan.rows.filter(\.step.isChange)
            #expect(rows.map(\.url) == ["https://example.com/place-3"])
            guard case .update(_, let changes, _) = rows.first?.step else {
                Issue.record("\(rows)")
                return
            }
            #expect(changes.map(\.path) == ["texts.EN.title"] && changes.first?.cause == .intended)
            #expect(plan.drifted.isEmpty)
            let outcome = try await tenant.apply()
            #expect(outcome.updated == 1 && outcome.survey?.isInStep == true)
            #expect(tenant.remote["place-3"].title == "Changed")
        }
    }

    @Test func manualChangesAreFoundAndRepaired() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(Self.names, image: tenant.addImage())
            try await tenant.apply()
            var edit = RemoteEdit()
            edit.texts = ["EN": ["title": "By hand"]]
            tenant.simulator.edit(try #require(tenant.remote["place-1"]?.first?.id), edit)
            edit = RemoteEdit()
            edit.isRemoved = true
            tenant.simulator.edit(try #require(tenant.remote["place-2"]?.first?.id), edit)

            // New experiences may appear in listings later, so they do not count as missing.
            #expect(try await tenant.plan().missing.isEmpty)
            try await tenant.clock.sleep(for: .seconds(61))
            let survey = try await tenant.plan()
            #expect(
                survey.drifted.map(\.url) == ["https://example.com/place-1", "https://example.com/place-2"])
            #expect(survey.missing == ["https://example.com/place-2"])
            #expect(survey.driftText.contains(#""By hand" → "place-1" (drift)"#), "\(survey.driftText)")
            // A plan changes nothing, so the experience is still missing.
            #expect(try await tenant.plan().missing == survey.missing)

            let outcome = try await tenant.apply()
            #expect(outcome.updated == 1 && outcome.created == 1 && outcome.hasSucceeded)
            #expect(tenant.remote["place-1"].title == "place-1" && tenant.remote["place-2"]?.count == 1)
            #expect(try await tenant.plan().isInStep)
        }
    }

    private static func shown(_ members: JSONObject) -> RemoteEdit {
        var edit = RemoteEdit()
        edit.shown = members
        return edit
    }

    private static var bengali: RemoteEdit {
        var edit = RemoteEdit()
        edit.texts = ["EN": ["language": "BN"]]
        return edit
    }

    private static let unreadableRows: [(edit: RemoteEdit, member: String)] = [
        (shown(["status": "IN_LIMBO"]), #"status "IN_LIMBO""#), (shown(["status": .null]), "status null"),
        (shown(["link": .null]), "link null"), (shown(["action": "DANCE"]), #"action "DANCE""#),
        (shown(["businessCategory": "SPACE_TRAVEL"]), #"businessCategory "SPACE_TRAVEL""#),
        (shown(["defaultLanguage": "BN"]), #"defaultLanguage "BN""#), (bengali, #"language "BN""#),
        (shown(["placeStatus": "MAYBE"]), #"placeStatus "MAYBE""#),
        (shown(["place": ["mapAction": "TELEPORT"]]), #"place.mapAction "TELEPORT""#),
        (shown(["place": ["relationship": "RIVAL"]]), #"place.relationship "RIVAL""#),
    ]

    /// App Store Connect may return values that Doorstep does not know. The row with such a value is skipped, and all others are
    /// synchronized.
    @Test(arguments: unreadableRows.indices)
    func unreadableRowIsNamedAndLeftUntouched(_ index: Int) async throws {
        let (edit, member) = Self.unreadableRows[index]
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a", "b", "c"], image: tenant.addImage())
            try await tenant.apply()
            let id = try #require(tenant.remote["a"]?.first?.id)
            tenant.simulator.edit(id, edit)
            for name in ["a", "b"] { try await tenant.retitle(name, "New") }
            try await tenant.delete("c")
            let survey = try await tenant.plan()
            let row = try #require(survey.plan.rows.first { $0.url == "https://example.com/a" })
            #expect(row.step == .blocked([.unreadable(id: id, member)]))
            #expect(survey.text().contains("! https://example.com/a: unreadable (\(id): \(member))"))
            #expect(survey.driftText.contains(member) && survey.drifted.isEmpty)

            let before = tenant.simulator.experiences.first { $0.id == id }
            let outcome = try await tenant.apply {
                $0.allowedRemovals = 1
                $0.grace = 0
            }
            #expect(outcome.hasSucceeded && outcome.updated == 1 && outcome.removed == 1)
            #expect(tenant.remote["b"].title == "New" && tenant.remote["c"] == nil)
            let after = tenant.simulator.experiences.first { $0.id == id }
            #expect(after?.texts == before?.texts && after?.attributes == before?.attributes)

            // The same if the catalogue no longer has the experience.
            try await tenant.delete("a")
            let removal = try await tenant.plan {
                $0.allowedRemovals = 1
                $0.grace = 0
            }
            #expect(
                removal.plan.rows.first { $0.url == "https://example.com/a" }?.step
                    == .blocked([.unreadable(id: id, member)]))
        }
    }

    @Test func foreignUnreadableRowStopsNothing() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            try await tenant.apply()
            let other = try #require(tenant.remote["a"]?.first?.id)
            try await tenant.execute("DELETE FROM doorstep.app_store_experiences")
            tenant.simulator.edit(other, Self.shown(["status": "IN_LIMBO"]))
            try await tenant.add(["b"], image: tenant.addImage(seed: 1))
            // An experience with an unknown value is not adopted.
            let outcome = try await tenant.apply { $0.adopts = true }
            #expect(outcome.created == 1 && outcome.adopted == 0)
            #expect(tenant.remote["a"]?.count == 1)
            tenant.simulator.edit(other, Self.shown(["link": .null]))
            try await tenant.delete("a")
            let survey = try await tenant.plan()
            #expect(
                survey.plan.rows.first { $0.url == "experience \(other)" }?.findings
                    == [.unreadable(id: other, "link null")])
            #expect(survey.text().contains("unreadable (\(other): link null)"))
        }
    }

    /// Responses are lost, and the simulator permits two experiences with one link. No duplicate is created.
    @Test(arguments: [1, 2, 3, 4, 5]) func lostResponseIsNeverRetriedBlindly(_ seed: Int) async throws {
        try await RegisteredTenant.lend {
            $0.refusesDuplicateLinks = false
        } _: { tenant in
            try await tenant.add(Self.names, image: tenant.addImage())
            var lost = Fault(.loseReply, times: 12, method: "POST", path: Self.experiences)
            lost.probability = 0.3
            lost.seed = seed
            var cut = Fault(.cut, times: 6, method: "POST", path: Self.experiences)
            cut.probability = 0.2
            cut.seed = seed
            var unavailable = Fault(
                .response(status: 503, code: "SERVICE_UNAVAILABLE", retryAfter: nil), times: 6, path: "/v1/")
            unavailable.probability = 0.1
            unavailable.seed = seed
            tenant.simulator.faults = [lost, cut, unavailable]
            let outcome = try await tenant.apply()
            #expect(outcome.hasSucceeded && outcome.created == 25, "\(outcome.text)")
            #expect(tenant.simulator.counters.creations.values.allSatisfy { $0 == 1 })
            #expect(Set(tenant.remote.keys) == Set(Self.names))
            #expect(try await tenant.plan().isInStep)
        }
    }

    @Test func listingWithGapsOrDuplicatesDecidesNothing() async throws {
        try await RegisteredTenant.lend {
            $0.refusesDuplicateLinks = false
            $0.scattersRows = true
        } _: { tenant in
            try await tenant.add(Self.names, image: tenant.addImage())
            tenant.simulator.faults = [Fault(.loseReply, times: 5, method: "POST", path: Self.experiences)]
            let first = try await tenant.apply { $0.limit = 5 }
            #expect(first.created == 5, "\(first.text)")
            // The fault lasts for all listings of a survey and one more.
            tenant.simulator.faults = [Fault(.omitRow, times: 6, path: Self.listings)]
            let survey = try await tenant.plan()
            #expect(!survey.listing.listing.isComplete && survey.plan.isEmpty)
            #expect(survey.text().contains("gaps"))
            tenant.simulator.faults = [
                Fault(.repeatRow, times: 2, path: Self.listings),
                Fault(.omitRow, times: 2, path: Self.listings),
            ]
            let outcome = try await tenant.apply()
            #expect(outcome.created == 20 && outcome.survey?.isInStep == true, "\(outcome.text)")
            #expect(tenant.simulator.counters.creations.values.allSatisfy { $0 == 1 })
        }
    }

    /// A new experience appears in listings only later. It is not created again.
    @Test func laggingListingCausesNoDuplicates() async throws {
        try await RegisteredTenant.lend {
            $0.refusesDuplicateLinks = false
            $0.listingLag = 50
        } _: { tenant in
            try await tenant.add(Self.names, image: tenant.addImage())
            tenant.simulator.faults = [Fault(.loseReply, times: 9, method: "POST", path: Self.experiences)]
            let outcome = try await tenant.apply()
            #expect(outcome.created == 25, "\(outcome.text)")
            #expect(tenant.simulator.counters.creations.values.allSatisfy { $0 == 1 })
            tenant.simulator.advance(by: .seconds(60))
            #expect(try await tenant.plan().isInStep)
        }
    }

    // MARK: Budget

    @Test(arguments: [true, false]) func hourlyBudgetIsKept(_ tells: Bool) async throws {
        try await RegisteredTenant.lend {
            $0.hourlyLimit = 100
            $0.tellsRetryAfter = tells
        } _: { tenant in
            try await tenant.add((0..<250).map { "p\($0)" }, image: tenant.addImage())
            let start = tenant.clock.now()
            let outcome = try await tenant.apply()
            #expect(outcome.created == 250 && outcome.survey?.isInStep == true, "\(outcome.text)")
            let counters = tenant.simulator.counters
            #expect(counters.overruns == 0 && counters.mostInAnHour <= 98, "\(counters.mostInAnHour)")
            // When the clock leaps, the eight current requests count in the next hour. With 90 requests an hour, the run takes at
            // least two hours.
            #expect(tenant.clock.now().timeIntervalSince(start) > 7_200)
        }
    }

    @Test(arguments: [Knobs.MinuteHeader.alone, .sameLine, .secondLine])
    func minuteBudgetIsKept(_ header: Knobs.MinuteHeader) async throws {
        try await RegisteredTenant.lend {
            $0.minuteLimit = 150
            $0.minuteHeader = header
        } _: { tenant in
            try await tenant.add((0..<400).map { "p\($0)" }, image: tenant.addImage())
            let outcome = try await tenant.apply()
            #expect(outcome.created == 400, "\(outcome.text)")
            #expect(tenant.simulator.counters.overruns == 0)
        }
    }

    /// Another program uses the same key. The service's count decides.
    @Test func requestsSpentByOthersAreCounted() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(Self.names, image: tenant.addImage())
            tenant.simulator.turn { $0.hourlyLimit = 60 }
            // Another installation, with its own records.
            let other = try RegisteredTenant.otherClient(of: tenant)
            for _ in 0..<40 { _ = try await other.app(bundleID: "com.example.app") }
            let outcome = try await tenant.apply()
            #expect(outcome.created == 25, "\(outcome.text)")
            #expect(tenant.simulator.counters.overruns == 0)
        }
    }

    @Test func rateLimitResponsesAreWaitedOut() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(Self.names, image: tenant.addImage())
            func refusal(_ retryAfter: Int?, _ path: String) -> Fault {
                Fault(
                    .response(status: 429, code: "RATE_LIMIT_EXCEEDED", retryAfter: retryAfter), times: 4,
                    path: path)
            }
            tenant.simulator.faults = [refusal(5, Self.experiences), refusal(nil, "/v1/")]
            let outcome = try await tenant.apply()
            #expect(outcome.created == 25 && outcome.hasSucceeded, "\(outcome.text)")

            // Without `Retry-After`, the run ends, too.
            try await tenant.retitle("place-1", "New")
            tenant.simulator.faults = [
                Fault(.response(status: 429, code: "RATE_LIMIT_EXCEEDED", retryAfter: nil), method: "PATCH")
            ]
            let stopped = try await tenant.apply()
            #expect(stopped.stopped?.code == "not_paced", "\(stopped.text)")
            tenant.simulator.faults = []
            #expect(try await tenant.apply().updated == 1)
        }
    }

    // MARK: Images

    @Test func eachExperienceHasOwnImageIfSharingIsRefused() async throws {
        try await RegisteredTenant.lend {
            $0.sharesImages = false
        } _: { tenant in
            try await tenant.add(Self.names, image: tenant.addImage())
            let outcome = try await tenant.apply()
            #expect(outcome.created == 25 && outcome.hasSucceeded, "\(outcome.text)")
            #expect(Set(tenant.simulator.experiences.map(\.imageID)).count == 25)
            #expect(try await tenant.plan().isInStep)
            // The next run does not repeat the refused requests.
            let refusals = tenant.simulator.counters.refusals.values.reduce(0, +)
            try await tenant.add(["more"], image: tenant.addImage())
            #expect(try await tenant.apply().created == 1)
            #expect(tenant.simulator.counters.refusals.values.reduce(0, +) == refusals)
        }
    }

    @Test func imageIsUploadedOnceDespiteLostResponses() async throws {
        try await RegisteredTenant.lend {
            $0.partSize = 16
            $0.hidesUploadOperations = true
        } _: { tenant in
            try await tenant.add(["a", "b"], image: tenant.addImage())
            tenant.simulator.faults = [
                Fault(.loseReply, times: 1, method: "POST", path: "/v1/appClipAdvancedExperienceImages"),
                Fault(.response(status: 500, code: "", retryAfter: nil), times: 2, path: "/upload/"),
                Fault(.cut, times: 2, path: "/upload/"),
                Fault(.loseReply, times: 1, method: "PATCH", path: "/v1/appClipAdvancedExperienceImages"),
            ]
            let outcome = try await tenant.apply()
            #expect(outcome.created == 2 && outcome.hasSucceeded, "\(outcome.text)")
            #expect(Set(tenant.simulator.experiences.map(\.imageID)).count == 1)
            // One reservation was lost. Only uploads of parts were repeated.
            #expect(
                tenant.simulator.counters.requests["POST /v1/appClipAdvancedExperienceImages"] == 2)
        }
    }

    /// The URLs of uploads are sealed. A server with another secret cannot read them.
    @Test func imageWithUnreadablePartsIsReservedAgain() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            tenant.simulator.faults = [
                Fault(.response(status: 503, code: "", retryAfter: nil), path: "/upload/")
            ]
            #expect(try await tenant.apply().failures.map(\.code) == ["part_refused"])
            tenant.simulator.faults = []
            let outcome = try await tenant.registrar(
                secret: "another secret, as long as it has to be, and new"
            )
            .apply(SyncRunner.Wishes())
            #expect(outcome.created == 1 && outcome.hasSucceeded, "\(outcome.text)")
            let requests = tenant.simulator.counters.requests
            #expect(requests["POST /v1/appClipAdvancedExperienceImages"] == 2)
            // The first image was not committed.
            #expect(requests["PATCH /v1/appClipAdvancedExperienceImages/{id}"] == 1)
        }
    }

    @Test func expiredImageReservationIsRenewed() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            // The simulator refuses the parts until the run gives the image up.
            tenant.simulator.faults = [
                Fault(.response(status: 503, code: "", retryAfter: nil), path: "/upload/")
            ]
            let outcome = try await tenant.apply()
            #expect(outcome.failures.map(\.code) == ["part_refused"], "\(outcome.text)")
            tenant.simulator.faults = []
            // The reservation is still valid, so the run continues with the same image.
            #expect(try await tenant.apply().created == 1)
            #expect(tenant.simulator.counters.requests["POST /v1/appClipAdvancedExperienceImages"] == 1)

            try await tenant.add(["b"], image: tenant.addImage(seed: 1))
            tenant.simulator.faults = [
                Fault(.response(status: 503, code: "", retryAfter: nil), path: "/upload/")
            ]
            _ = try await tenant.apply()
            tenant.simulator.faults = []
            try await tenant.clock.sleep(for: .seconds(8 * 86_400))
            #expect(try await tenant.apply().created == 1)
            #expect(tenant.simulator.counters.requests["POST /v1/appClipAdvancedExperienceImages"] == 3)
        }
    }

    // MARK: Foreign experiences

    @Test func foreignExperienceIsAdoptedOnlyOnRequest() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a", "b"], image: tenant.addImage())
            try await tenant.apply()
            // Another tenant of the installation has the same clip, and does not know the records of the first tenant.
            try await tenant.execute(
                "DELETE FROM doorstep.app_store_experiences; DELETE FROM doorstep.app_store_images")
            let plan = try await tenant.plan()
            #expect(plan.plan.isEmpty && plan.text().contains("not_owned"))
            #expect(try await tenant.apply { $0.allowedRemovals = 10 }.created == 0)
            let adopting = try await tenant.apply { $0.adopts = true }
            #expect(adopting.adopted == 2 && adopting.hasSucceeded, "\(adopting.text)")
            #expect(try await tenant.plan().isInStep)
            #expect(tenant.simulator.counters.creations.values.allSatisfy { $0 == 1 })
        }
    }

    @Test func removalsRequireGraceAllowanceAndCompleteListing() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(Self.names, image: tenant.addImage())
            try await tenant.apply()
            try await tenant.delete("place-1")
            try await tenant.delete("place-2")
            try await tenant.add(["new"], image: tenant.addImage())
            func allow(_ count: Int) -> (inout SyncRunner.Wishes) -> Void { { $0.allowedRemovals = count } }
            // A removal waits for a day after the missing experience was first seen.
            let graced = try await tenant.apply(allow(5))
            #expect(graced.created == 1 && graced.removed == 0)
            #expect(graced.survey?.text().contains("grace") == true)
            try await tenant.clock.sleep(for: .seconds(86_400))
            #expect(try await tenant.apply().removed == 0)
            #expect(try await tenant.apply(allow(1)).removed == 0)
            // After an experience returns and is deleted again, the grace period begins again.
            try await tenant.add(["place-2"], image: tenant.addImage())
            #expect(try await tenant.plan().plan.isEmpty)
            try await tenant.delete("place-2")
            #expect(try await tenant.apply(allow(2)).removed == 1)
            #expect(tenant.remote["place-1"] == nil && tenant.remote["place-2"]?.count == 1)

            // A run with an incomplete listing removes nothing.
            try await tenant.clock.sleep(for: .seconds(86_400))
            tenant.simulator.faults = [Fault(.omitRow, times: 5, path: Self.listings)]
            #expect(try await tenant.apply(allow(2)).removed == 0)
            tenant.simulator.faults = []
            #expect(try await tenant.apply(allow(2)).removed == 1)
            #expect(tenant.remote["place-2"] == nil)

            // Removing all experiences, or many without their exact number, is refused.
            for name in Self.names.dropFirst(3).prefix(12) { try await tenant.delete(name) }
            let all: (inout SyncRunner.Wishes) -> Void = {
                $0.allowedRemovals = 100
                $0.grace = 0
            }
            let mass = try await tenant.apply(all)
            #expect(mass.removed == 0 && mass.survey?.text().contains("mass_removal (12)") == true)
            let named = try await tenant.apply {
                all(&$0)
                $0.allowedMassRemoval = 12
            }
            #expect(named.removed == 12, "\(named.text)")
            try await tenant.execute("DELETE FROM doorstep.experiences")
            let none = try await tenant.apply {
                all(&$0)
                $0.allowedMassRemoval = 12
            }
            #expect(none.removed == 0 && none.survey?.text().contains("nothing_desired") == true)
        }
    }

    @Test func staleListingDoesNotRestoreRemovedExperience() async throws {
        try await RegisteredTenant.lend {
            $0.listingLag = 600
        } _: { tenant in
            try await tenant.add(["a", "b"], image: tenant.addImage())
            try await tenant.apply()
            try await tenant.clock.sleep(for: .seconds(700))
            try await tenant.delete("a")
            let outcome = try await tenant.apply {
                $0.allowedRemovals = 1
                $0.grace = 0
            }
            #expect(outcome.removed == 1 && outcome.survey?.isInStep == true, "\(outcome.text)")
            #expect(try await tenant.plan().isInStep)
        }
    }

    // MARK: Places

    /// Maps changes the name of a place when it finds the place. The run reports this and does not write the name again.
    @Test func placeRewrittenByMapsIsNoDrift() async throws {
        try await RegisteredTenant.lend {
            $0.correctsPlaces = true
        } _: { tenant in
            func card(_ name: String) -> String {
                """
                {"place": {"names": ["\(name)"], "mainAddress": {"fullAddress": "1 Road, Town"},
                "mapAction": "RESTAURANT_ORDER_FOOD"}}
                """
            }
            try await tenant.add(["a"], image: tenant.addImage())
            try await tenant.setCard(card("Café"), of: "a")
            try await tenant.apply()
            try await tenant.clock.sleep(for: .seconds(61))
            let survey = try await tenant.plan()
            #expect(survey.isInStep && survey.drifted.isEmpty, "\(survey.text())")
            #expect(survey.plan.rows.first?.findings == [.placeRewritten(paths: ["place.names"])])

            // Other changes are drift all the same, and changes of the catalogue are sent.
            let id = try #require(tenant.remote["a"]?.first?.id)
            var edit = RemoteEdit()
            edit.attributes = [
                "place": [
                    "names": ["Café"], "mainAddress": ["fullAddress": "1 Road, Town"], "mapAction": "BOOK",
                ]
            ]
            tenant.simulator.edit(id, edit)
            #expect(try await tenant.plan().drifted.count == 1)
            #expect(try await tenant.apply().updated == 1)
            try await tenant.setCard(card("Bistro"), of: "a")
            #expect(try await tenant.apply().updated == 1)
            try await tenant.clock.sleep(for: .seconds(61))
            #expect(try await tenant.plan().isInStep)
        }
    }

    // MARK: Stored plans

    @Test func storedPlanIsAppliedUnlessStale() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(Self.names, image: tenant.addImage())
            let first = try await tenant.save()
            // A part of the plan is applied, then the rest. Finished parts do not matter.
            #expect(try await tenant.registrar().apply(first, limit: 5).created == 5)
            let rest = try await tenant.registrar().apply(first)
            #expect(rest.created == 20 && rest.survey?.isInStep == true, "\(rest.text)")

            try await tenant.retitle("place-1", "New")
            let second = try await tenant.save()
            try await tenant.retitle("place-1", "Newer")
            try await tenant.expectStale(second, "the catalogue has changed")
            let third = try await tenant.save()
            var edit = RemoteEdit()
            edit.texts = ["EN": ["title": "By hand"]]
            tenant.simulator.edit(try #require(tenant.remote["place-1"]?.first?.id), edit)
            try await tenant.expectStale(third, "App Store Connect, or the applied state")
            let fourth = try await tenant.save()
            try await tenant.retitle("place-2", "Another")
            try await tenant.expectStale(fourth, "no change was planned, but now update is due")
            try await tenant.delete("place-1")
            try await tenant.expectStale(fourth, "(and 1 more)")
            #expect(tenant.remote["place-2"].title == "place-2")
        }
    }

    /// A stored plan remains valid after Apple refuses a part of it.
    @Test func storedPlanContinuesAfterRejection() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a", "b"], image: tenant.addImage())
            let saved = try await tenant.save()
            tenant.simulator.faults = [
                Fault(
                    .response(status: 409, code: "STATE_ERROR", retryAfter: nil), times: 1, method: "POST",
                    path: Self.experiences)
            ]
            let first = try await tenant.registrar().apply(saved)
            #expect(first.created == 1 && first.failures.map(\.code) == ["STATE_ERROR"], "\(first.text)")
            let second = try await tenant.registrar().apply(saved)
            #expect(second.created == 0 && second.hasSucceeded, "\(second.text)")
        }
    }

    /// A run was killed while responses were lost. The stored plan is still valid and continues.
    @Test func storedPlanContinuesAfterKilledRun() async throws {
        try await RegisteredTenant.lend {
            $0.refusesDuplicateLinks = false
        } _: { tenant in
            try await tenant.add(Self.names, image: tenant.addImage())
            let saved = try await tenant.save()
            struct Killed: Error {}
            tenant.simulator.faults = [
                Fault(.loseReply, times: 2, method: "POST", path: Self.experiences),
                Fault(.cut, times: 2, method: "POST", path: Self.experiences),
            ]
            // The run is killed before it checks the missing responses.
            let clock = InterruptedClock(tenant.clock) { duration in
                if duration > .seconds(30), !tenant.simulator.experiences.isEmpty { throw Killed() }
            }
            await #expect(throws: Killed.self) { try await tenant.registrar(clock: clock).apply(saved) }
            let unsettled = try await tenant.count(
                "SELECT count(*) FROM doorstep.app_store_experiences WHERE phase = 'creating'")
            #expect(unsettled == 4)
            _ = try await tenant.registrar().plan(saved)
            let outcome = try await tenant.registrar().apply(saved)
            #expect(outcome.hasSucceeded && outcome.survey?.isInStep == true, "\(outcome.text)")
            #expect(tenant.simulator.counters.creations.values.allSatisfy { $0 == 1 })
            #expect(Set(tenant.remote.keys) == Set(Self.names))
        }
    }

    /// The number of a mass removal is the plan's number, even if a part is already removed.
    @Test func storedMassRemovalContinues() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(Self.names, image: tenant.addImage())
            try await tenant.apply()
            for name in Self.names.prefix(14) { try await tenant.delete(name) }
            let saved = try await tenant.save {
                $0.allowedRemovals = 14
                $0.allowedMassRemoval = 14
                $0.grace = 0
            }
            #expect(try await tenant.registrar().apply(saved, limit: 1).removed == 1)
            // Another experience is removed by hand.
            try await tenant.clock.sleep(for: .seconds(61))
            var edit = RemoteEdit()
            edit.isRemoved = true
            let gone = try #require(Self.names.prefix(14).first { tenant.remote[$0] != nil })
            tenant.simulator.edit(try #require(tenant.remote[gone]?.first?.id), edit)
            let rest = try await tenant.registrar().apply(saved)
            #expect(rest.removed == 12 && rest.hasSucceeded, "\(rest.text)")
            #expect(tenant.remote.count == 11)
            #expect(try await tenant.registrar().apply(saved).hasSucceeded)
        }
    }

    /// If the target is already removed, the run succeeds.
    @Test func targetedExperienceIsRemoved() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a", "b", "c"], image: tenant.addImage())
            try await tenant.apply()
            try await tenant.delete("a")
            try await tenant.delete("b")
            func removing(_ name: String) -> (inout SyncRunner.Wishes) -> Void {
                {
                    $0.target = "https://example.com/\(name)"
                    $0.allowedRemovals = 2
                    $0.grace = 0
                }
            }
            let outcome = try await tenant.apply(removing("a"))
            #expect(outcome.removed == 1 && outcome.hasSucceeded && outcome.survey?.isInStep == true)
            let saved = try await tenant.save(removing("b"))
            #expect(try await tenant.registrar().apply(saved).removed == 1)
            #expect(try await tenant.registrar().apply(saved).hasSucceeded)
            #expect(Set(tenant.remote.keys) == ["c"])
            await #expect(throws: SyncError.self) { try await tenant.apply(removing("a")) }
        }
    }

    /// A moved URL is a creation and a removal. The stored plan contains both, with removals last.
    @Test func storedPlanRemovesNamedExperience() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a", "b"], image: tenant.addImage())
            try await tenant.apply()
            try await tenant.delete("a")
            try await tenant.add(["moved"], image: tenant.addImage())
            let saved = try await tenant.save {
                $0.allowedRemovals = 1
                $0.grace = 0
            }
            let outcome = try await tenant.registrar().apply(saved)
            #expect(outcome.created == 1 && outcome.removed == 1, "\(outcome.text)")
            #expect(Set(tenant.remote.keys) == ["b", "moved"])
            #expect(try await tenant.registrar().apply(saved).hasSucceeded)
        }
    }

    /// A change during the run of a stored plan is left for the next plan.
    @Test func changeDuringApplyIsLeftForNextPlan() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a", "b"], image: tenant.addImage())
            let saved = try await tenant.save()
            let outcome = try await tenant.registrar(
                clock: InterruptedClock(tenant.clock) { _ in
                    // The change is made while the image is processed, after the plan.
                    try await tenant.retitle("b", "Meanwhile")
                }
            ).apply(saved)
            #expect(outcome.created == 2 && outcome.survey?.isInStep == false, "\(outcome.text)")
            #expect(tenant.remote["b"].title == "b")
        }
    }

    // MARK: Narrower runs

    @Test func applyHonorsLimitAndTarget() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(Self.names, image: tenant.addImage())
            let canary = try await tenant.apply { $0.limit = 3 }
            #expect(canary.created == 3 && canary.hasSucceeded)
            let target = try await tenant.apply { $0.target = "https://example.com/place-9" }
            #expect(target.created == 1 && tenant.remote["place-9"]?.count == 1)
            #expect(
                target.text.hasSuffix(
                    "https://example.com/place-9 is in sync with the catalogue; nothing else was checked"))
            #expect(
                try await tenant.plan { $0.target = "https://example.com/place-8" }.text().contains(
                    "Plan of https://example.com/place-8 only: 1 create"))
            await #expect(throws: SyncError.unknownTarget("nowhere")) {
                try await tenant.apply { $0.target = "nowhere" }
            }
            #expect(try await tenant.apply().created == 21)
        }
    }

    /// The plan names URLs with characters that Apple excludes and URLs that are too long, among the compared experiences only.
    @Test func urlsUnfitForAppClipCodesAreNamed() async throws {
        try await RegisteredTenant.lend { tenant in
            let long = String(repeating: "xyz", count: 7)
            try await tenant.add(["a", "b~c", long], image: tenant.addImage())
            let plan = try await tenant.plan()
            let uncodable = ["https://example.com/b~c", "https://example.com/\(long)"]
            #expect(plan.json()["uncodable"] == .array(uncodable.map(JSONValue.string)))
            #expect(
                plan.text().contains(
                    "No App Clip Code can hold \(uncodable.joined(separator: ", ")); of the others"))
            let target = try await tenant.plan { $0.target = "https://example.com/a" }
            #expect(target.json()["uncodable"] == [] && !target.text().contains("No App Clip Code"))
        }
    }

    /// Each poll waits twice as long as the one before, up to half an hour in total.
    @Test func unfinishedImageIsWaitedForOncePerRun() async throws {
        try await RegisteredTenant.lend {
            $0.processing = 1e9
        } _: { tenant in
            try await tenant.add(Self.names, image: tenant.addImage())
            let start = tenant.clock.now()
            let outcome = try await tenant.apply()
            #expect(outcome.failures.count == Self.names.count)
            #expect(outcome.failures.allSatisfy { $0.code == "image_unfinished" })
            #expect(tenant.clock.now().timeIntervalSince(start) < 3_600)
        }
    }

    @Test func secondRunErrorNamesLockHolder() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            let records = try tenant.records()
            try await records.withRun(at: Date()) { _ in
                do {
                    try await tenant.apply()
                    Issue.record("two runs at once")
                } catch let error as SyncError {
                    #expect(error.code == "busy" && "\(error)".contains("operator:first"))
                }
                // A plan is possible.
                #expect(try await tenant.plan().plan.rows.count == 1)
            }
            #expect(try await tenant.apply().created == 1)
        }
    }

    /// In reality a run may take hours, while the connection of its lock is idle.
    @Test(.timeLimit(.minutes(30))) func lockConnectionIsKeptAliveDuringRun() async throws {
        try await RegisteredTenant.lend { tenant in
            var records = try tenant.records()
            records.lockInterval = .milliseconds(10)
            try await records.withRun(at: Date()) { _ in
                let lastHeard: Query = """
                    SELECT (extract(epoch FROM state_change) * 1e6)::bigint FROM pg_stat_activity JOIN pg_locks USING (pid)
                    WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND datname = current_database()
                    """
                let start = try await tenant.count(lastHeard)
                var last = start
                while last == start {
                    try Task.checkCancellation()
                    last = try await tenant.count(lastHeard)
                }
                #expect(last > start)
            }
        }
    }

    /// A proxy cuts the connection after the results are stored.
    @Test func runOutcomeIsReportedThoughLockIsLost() async throws {
        try await RegisteredTenant.lend { tenant in
            let records = try tenant.records()
            let result = try await records.withRun(at: Date()) { _ in
                let ended = try await tenant.count(
                    """
                    SELECT count(pg_terminate_backend(pid)) FROM pg_locks
                    WHERE locktype = 'advisory' AND mode = 'ExclusiveLock'
                        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    """)
                #expect(ended == 1)
                return "all is done"
            }
            #expect(result == "all is done")
            #expect(
                try await tenant.count("SELECT count(*) FROM doorstep.app_store_runs WHERE outcome = 'done'")
                    == 1)
        }
    }

    /// A run that lost its lock, for example with its connection, writes nothing more.
    @Test func supersededRunStops() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            let records = try tenant.records()
            await #expect(throws: SyncError.superseded(try BundleID(StoreFixture.clipBundleID))) {
                try await records.withRun(at: Date()) { run in
                    try await tenant.execute(
                        "UPDATE doorstep.app_store_runs SET ended_at = now(), outcome = 'abandoned'")
                    try await run.write([.forgotten(url: "https://example.com/a")])
                }
            }
        }
    }

    /// Another run begins while this one waits for its budget. The waiting requests are not sent.
    @Test func runSupersededWhileWaitingSendsNothing() async throws {
        try await RegisteredTenant.lend {
            $0.hourlyLimit = 100
        } _: { tenant in
            try await tenant.add((0..<150).map { "p\($0)" }, image: tenant.addImage())
            let clock = InterruptedClock(tenant.clock) { duration in
                guard duration > .seconds(600) else { return }
                try await tenant.execute(
                    """
                    UPDATE doorstep.app_store_runs SET ended_at = now(), outcome = 'abandoned'
                    WHERE ended_at IS NULL
                    """)
            }
            await #expect(throws: SyncError.superseded(try BundleID(StoreFixture.clipBundleID))) {
                try await tenant.registrar(clock: clock).apply(SyncRunner.Wishes())
            }
            // The run had sent the whole budget of the hour before.
            let requests = tenant.simulator.counters.requests.values.reduce(0, +)
            #expect((1...90).contains(requests), "\(requests)")
            #expect(try await tenant.apply().hasSucceeded)
            #expect(tenant.simulator.counters.creations.values.allSatisfy { $0 == 1 })
            #expect(tenant.remote.count == 150)
        }
    }

    // MARK: Another tenant

    @Test func otherTenantSeesNoSyncRecords() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            try await tenant.apply()
            let other = try await tenant.makeOther()
            let records = try tenant.records(of: other)
            let memory = try await records.memory(at: Date())
            #expect(memory.applied.isEmpty && memory.images.isEmpty && memory.removedIDs.isEmpty)
            #expect(try await records.catalogue().experiences.isEmpty)
            let own = try tenant.records()
            let image = try #require(try await own.memory(at: Date()).images.first?.digest)
            #expect(try await own.file(of: image) != nil)
            #expect(try await records.file(of: image) == nil)
            // For the second tenant, the experiences of the first one are foreign.
            let survey = try await tenant.registrar(of: other).plan(SyncRunner.Wishes())
            #expect(survey.counts.first { $0.name == "unmanaged" }?.count == 1)
            // Each tenant has its own key and its own records.
            let spent = try await tenant.count(
                "SELECT count(DISTINCT tenant_id) FROM doorstep.app_store_budget")
            #expect(spent == 2)
        }
    }
}
