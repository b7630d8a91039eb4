import AppStoreConnect
import AppStoreConnectSimulator
import AppStoreSync
import Formats
import StoreSupport
import Testing

/// The effect of each refusal in Apple's documentation, and of undocumented ones.
@Suite(.timeLimit(.minutes(10))) struct SyncRefusalTests {
    /// A refusal, and its effect on a creation and on a change that get it once.
    struct Case: Sendable, CustomTestStringConvertible {
        let status: Int
        let code: String
        let creation: Fate
        let change: Fate

        init(_ status: Int, _ code: String, _ creation: Fate, _ change: Fate? = nil) {
            self.status = status
            self.code = code
            self.creation = creation
            self.change = change ?? creation
        }

        var testDescription: String { "\(status) \(code)" }
    }

    enum Fate: Sendable {
        /// The run repeats the request.
        case repeated
        /// The row fails, and others do not. It is not sent again before it changes or a user asks for it.
        case refused
        /// The row fails. The next run checks it and sends it again.
        case unsettled
        /// The run ends. A person must act at Apple first.
        case stopped
    }

    static let cases = [
        Case(400, "PARAMETER_ERROR", .refused), Case(400, "PARAMETER_ERROR.ILLEGAL", .refused),
        Case(400, "PARAMETER_ERROR.INVALID", .refused),
        Case(400, "PARAMETER_ERROR.REQUIRED", .refused), Case(400, "PARAMETER_ERROR.DUPLICATE", .refused),
        Case(400, "ENTITY_INVALID", .refused),
        // Apple sometimes refuses a valid token once.
        Case(401, "NOT_AUTHORIZED", .repeated),
        Case(403, "FORBIDDEN_ERROR", .stopped),
        Case(403, "FORBIDDEN.REQUIRED_AGREEMENTS_MISSING_OR_EXPIRED", .stopped),
        Case(404, "PATH_ERROR", .refused),
        // Although the experience exists.
        Case(404, "NOT_FOUND", .refused, .repeated),
        Case(405, "METHOD_NOT_ALLOWED", .refused), Case(406, "NOT_ACCEPTABLE", .refused),
        Case(408, "REQUEST_TIMEOUT", .repeated), Case(410, "GONE", .refused),
        Case(409, "ENTITY_ERROR", .refused), Case(409, "ENTITY_ERROR.ATTRIBUTE.REQUIRED", .refused),
        Case(409, "ENTITY_ERROR.ATTRIBUTE.INVALID", .refused),
        Case(409, "ENTITY_ERROR.ATTRIBUTE.UNKNOWN", .refused),
        Case(409, "ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE", .unsettled),
        Case(409, "ENTITY_ERROR.ATTRIBUTE.INVALID.TOO_LONG", .refused),
        Case(409, "ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE", .refused),
        Case(409, "ENTITY_ERROR.ATTRIBUTE.INVALID.UNMODIFIABLE", .refused),
        Case(409, "ENTITY_ERROR.RELATIONSHIP.REQUIRED", .refused),
        Case(409, "ENTITY_ERROR.RELATIONSHIP.INVALID", .refused),
        Case(409, "ENTITY_ERROR.INCLUDED.INVALID_ID", .refused),
        Case(409, "ENTITY_ERROR.UNEXPECTED_ID", .refused), Case(409, "STATE_ERROR", .refused),
        Case(409, "STATE_ERROR.SOMETHING_NEW", .refused), Case(409, "SOMETHING.NEW", .refused),
        Case(415, "UNSUPPORTED_MEDIA_TYPE", .refused), Case(422, "ENTITY_UNPROCESSABLE", .refused),
        Case(429, "RATE_LIMIT_EXCEEDED", .repeated), Case(500, "UNEXPECTED_ERROR", .repeated),
        Case(503, "SERVICE_UNAVAILABLE", .repeated),
    ]

    private static let experiences = "/v1/appClipAdvancedExperiences"
    private static let images = "/v1/appClipAdvancedExperienceImages"

    @Test func everyCodeIsTested() {
        #expect(Set(ErrorCode.allCases.map(\.rawValue)).isSubset(of: Self.cases.map(\.code)))
    }

    private static func fault(_ refusal: Case, _ method: String, at path: String) -> Fault {
        Fault(
            .response(status: refusal.status, code: refusal.code, retryAfter: nil), times: 1, method: method,
            path: path)
    }

    /// A refused reservation of an image fails its experience, and the next run tries again, because Apple did not refuse values of
    /// the catalogue. If the parts exist, the image shows the result, and a refused image is replaced.
    @Test(arguments: ["POST", "PATCH"]) func imageRefusalHasExpectedEffect(_ method: String) async throws {
        try await RegisteredTenant.lend { tenant in
            for (seed, refusal) in Self.cases.enumerated() {
                try await tenant.add(["p\(seed)"], image: tenant.addImage(seed: seed))
                tenant.simulator.faults = [Self.fault(refusal, method, at: Self.images)]
                let outcome = try await tenant.apply()
                switch refusal.creation {
                case .repeated:
                    #expect(outcome.created == 1 && outcome.hasSucceeded, "\(refusal): \(outcome.text)")
                case .stopped:
                    #expect(outcome.stopped?.code == refusal.code && outcome.created == 0, "\(refusal)")
                case .refused where method == "PATCH", .unsettled where method == "PATCH":
                    #expect(outcome.created == 1 && outcome.hasSucceeded, "\(refusal): \(outcome.text)")
                case .refused, .unsettled:
                    #expect(outcome.failures.map(\.code) == [refusal.code], "\(refusal): \(outcome.text)")
                    #expect(outcome.created == 0 && outcome.stopped == nil)
                }
                let next = try await tenant.apply()
                #expect(next.hasSucceeded && next.survey?.isInStep == true, "\(refusal): \(next.text)")
            }
            #expect(tenant.remote.count == Self.cases.count)
        }
    }

    /// A run with a refused listing does nothing. If Apple refuses a parameter of a listing, the run leaves it out.
    @Test func listingRefusalHasExpectedEffect() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            for refusal in Self.cases {
                tenant.simulator.faults = [Self.fault(refusal, "GET", at: "/v1/appClips/")]
                let isAboutParameters = refusal.code.hasPrefix("PARAMETER_ERROR")
                switch refusal.creation {
                case .repeated: #expect(try await tenant.plan().plan.rows.count == 1, "\(refusal)")
                case .refused where isAboutParameters:
                    #expect(try await tenant.plan().plan.rows.count == 1, "\(refusal)")
                case .refused, .unsettled, .stopped:
                    let failure = await #expect(throws: ServiceFailure.self, "\(refusal)") {
                        try await tenant.apply()
                    }
                    #expect(failure?.code == refusal.code && failure?.requestID != nil, "\(refusal)")
                }
                #expect(tenant.remote.isEmpty)
            }
            tenant.simulator.faults = []
            #expect(try await tenant.apply().created == 1)
        }
    }

    /// The status of sites is additional. Without it, the check is still complete.
    @Test func buildsRefusalLeavesCheckUsable() async throws {
        try await RegisteredTenant.lend { tenant in
            for path in ["/v1/builds", "/v1/buildBundles"] {
                for refusal in Self.cases {
                    tenant.simulator.faults = [Self.fault(refusal, "GET", at: path)]
                    let (survey, check) = try await tenant.registrar { $0.readsOnly = true }.look()
                    #expect(survey.isInStep)
                    let isKnown = check.summary["domains"]?.arrayValue != nil
                    let isRepeated = if case .repeated = refusal.creation { true } else { false }
                    // The builds are requested again without the versions.
                    let isPlain = path == "/v1/builds" && refusal.code.hasPrefix("PARAMETER_ERROR")
                    #expect(isKnown == (isRepeated || isPlain), "\(path): \(refusal)")
                    let isReleaseKnown = check.summary["release"]?.objectValue?["published"] == true
                    #expect(
                        isReleaseKnown == (isRepeated || path == "/v1/buildBundles"), "\(path): \(refusal)")
                }
            }
        }
    }

    private static func fault(_ refusal: Case, _ method: String) -> Fault {
        fault(refusal, method, at: experiences)
    }

    @Test(arguments: cases) func creationRefusalHasExpectedEffect(_ refusal: Case) async throws {
        try await RegisteredTenant.lend {
            $0.refusesDuplicateLinks = false
        } _: { tenant in
            try await tenant.add((0..<10).map { "p\($0)" }, image: tenant.addImage())
            tenant.simulator.faults = [Self.fault(refusal, "POST")]
            let outcome = try await tenant.apply()
            try await Self.expect(refusal.creation, outcome, outcome.created, refusal, tenant)
            #expect(tenant.simulator.counters.creations.values.allSatisfy { $0 == 1 })
            #expect(tenant.remote.count == 10)
        }
    }

    @Test(arguments: cases) func changeRefusalHasExpectedEffect(_ refusal: Case) async throws {
        try await RegisteredTenant.lend {
            $0.refusesDuplicateLinks = false
        } _: { tenant in
            try await tenant.add((0..<10).map { "p\($0)" }, image: tenant.addImage())
            try await tenant.apply()
            for number in 0..<10 { try await tenant.retitle("p\(number)", "New \(number)") }
            tenant.simulator.faults = [Self.fault(refusal, "PATCH")]
            let outcome = try await tenant.apply()
            try await Self.expect(refusal.change, outcome, outcome.updated, refusal, tenant)
            #expect(tenant.simulator.counters.creations.values.allSatisfy { $0 == 1 })
            #expect((0..<10).allSatisfy { tenant.remote["p\($0)"].title == "New \($0)" })
        }
    }

    private static func expect(
        _ fate: Fate, _ outcome: SyncOutcome, _ done: Int, _ refusal: Case, _ tenant: RegisteredTenant
    ) async throws {
        switch fate {
        case .repeated:
            #expect(outcome.hasSucceeded && done == 10, "\(outcome.text)")
        case .refused:
            #expect(outcome.failures.map(\.code) == [refusal.code] && done == 9, "\(outcome.text)")
            #expect(outcome.failures.first?.requestID != nil && outcome.stopped == nil)
            #expect(outcome.text.contains(refusal.code))
            let requests = tenant.simulator.counters.requests["POST \(experiences)"]
            let again = try await tenant.apply()
            #expect(again.created == 0 && again.updated == 0 && !(again.survey?.isInStep ?? true))
            #expect(again.survey?.text().contains("refused_before") == true)
            #expect(tenant.simulator.counters.requests["POST \(experiences)"] == requests)
            #expect(try await tenant.apply { $0.retriesRefused = true }.hasSucceeded)
        case .unsettled:
            #expect(outcome.failures.map(\.code) == [refusal.code] && done == 9, "\(outcome.text)")
            #expect(try await tenant.apply().hasSucceeded)
        case .stopped:
            #expect(outcome.stopped?.code == refusal.code && done < 10, "\(outcome.text)")
            #expect(try await tenant.apply().hasSucceeded)
        }
        #expect(try await tenant.plan().isInStep)
    }

    @Test(arguments: ["POST", "PATCH"]) func rejectedKeyEndsRun(_ method: String) async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            try await tenant.apply()
            try await tenant.retitle("a", "New")
            try await tenant.add(["b"], image: tenant.addImage(seed: 1))
            tenant.simulator.faults = [
                Fault(.response(status: 401, code: "NOT_AUTHORIZED", retryAfter: nil), method: method)
            ]
            #expect(try await tenant.apply().stopped?.code == "NOT_AUTHORIZED")
            tenant.simulator.faults = []
            #expect(try await tenant.apply().hasSucceeded)
            #expect(tenant.simulator.counters.creations.values.allSatisfy { $0 == 1 })
        }
    }

    /// A refused removal is tried again in the next run.
    @Test func refusedRemovalIsRetried() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a", "b", "c"], image: tenant.addImage())
            try await tenant.apply()
            try await tenant.delete("a")
            let removing: (inout SyncRunner.Wishes) -> Void = {
                $0.allowedRemovals = 1
                $0.grace = 0
            }
            tenant.simulator.faults = [Self.fault(Case(409, "STATE_ERROR", .refused), "PATCH")]
            let refused = try await tenant.apply(removing)
            #expect(refused.removed == 0 && refused.failures.map(\.code) == ["STATE_ERROR"])
            // The response is lost. The second attempt finds the experience removed.
            tenant.simulator.faults = [Fault(.loseReply, times: 1, method: "PATCH")]
            let removed = try await tenant.apply(removing)
            #expect(removed.removed == 1 && removed.hasSucceeded, "\(removed.text)")
            #expect(tenant.remote["a"] == nil)
            #expect(try await tenant.plan().isInStep)
        }
    }

    @Test func fullClipGetsNoMoreExperiences() async throws {
        try await RegisteredTenant.lend {
            $0.maximumExperiences = 4
        } _: { tenant in
            try await tenant.add((0..<40).map { "p\($0)" }, image: tenant.addImage())
            let outcome = try await tenant.apply()
            #expect(
                outcome.created == 4 && outcome.createsNoMore?.code == "ENTITY_ERROR.RELATIONSHIP.INVALID")
            // The run does not try all other creations.
            #expect(tenant.simulator.counters.attempts.count <= 12)
            tenant.simulator.turn { $0.maximumExperiences = nil }
            #expect(try await tenant.apply().created == 36)
        }
    }

    @Test func repeatedRefusalStopsCreations() async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add((0..<100).map { "p\($0)" }, image: tenant.addImage())
            tenant.simulator.faults = [
                Fault(
                    .response(status: 409, code: "ENTITY_ERROR.ATTRIBUTE.INVALID", retryAfter: nil),
                    method: "POST",
                    path: Self.experiences)
            ]
            let outcome = try await tenant.apply()
            #expect(outcome.created == 0 && outcome.createsNoMore != nil && !outcome.hasSucceeded)
            #expect(outcome.failuresByCode.map(\.code) == ["ENTITY_ERROR.ATTRIBUTE.INVALID"])
            #expect((20...32).contains(outcome.failures.count), "\(outcome.failures.count)")
        }
    }

    @Test func missingAgreementIsReported() async throws {
        try await RegisteredTenant.lend {
            $0.lacksAgreement = true
        } _: { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            do {
                try await tenant.apply()
                Issue.record("applied without an agreement")
            } catch let failure as ServiceFailure {
                #expect(failure.verdict == .stop)
                #expect("\(failure)".contains("AGREEMENTS"))
            }
        }
    }

    /// If Apple finds an image invalid, experiences with this image fail until they name another image.
    @Test func imageRejectedByAppleBlocksItsExperiences() async throws {
        try await RegisteredTenant.lend { tenant in
            let image = try await tenant.addImage()
            try await tenant.add(["a", "b"], image: image)
            tenant.simulator.faults = [
                Fault(
                    .response(status: 409, code: "ENTITY_ERROR.ATTRIBUTE.INVALID", retryAfter: nil), times: 1,
                    method: "POST", path: "/v1/appClipAdvancedExperienceImages")
            ]
            let refused = try await tenant.apply()
            #expect(refused.created == 0 && refused.failures.count == 2, "\(refused.text)")
            #expect(try await tenant.apply().created == 2)
            try await tenant.execute(
                "UPDATE doorstep.app_store_images SET phase = 'failed' WHERE sha256 = '\(image)'")
            try await tenant.add(["c"], image: image)
            let plan = try await tenant.plan()
            #expect(plan.text().contains("! https://example.com/c: image_rejected"), "\(plan.text())")
        }
    }
}
