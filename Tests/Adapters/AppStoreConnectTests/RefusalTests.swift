import AppStoreConnectSimulator
import AppStoreSync
import Cards
import Formats
import StoreSupport
import Synchronization
import Testing

@testable import AppStoreConnect

/// The client's reaction to refusals and missing responses.
@Suite(.timeLimit(.minutes(30))) struct RefusalTests {
    typealias Verdict = ServiceRefusal.Verdict

    /// All known codes with their status.
    private static let codes: [(ErrorCode, Int, Verdict)] = [
        (.parameter, 400, .reject), (.parameterIllegal, 400, .reject), (.parameterInvalid, 400, .reject),
        (.parameterRequired, 400, .reject), (.parameterDuplicate, 400, .reject),
        (.entityInvalid, 400, .reject), (.notAuthorized, 401, .stop), (.forbidden, 403, .stop),
        (.agreementsMissing, 403, .stop), (.path, 404, .reject), (.notFound, 404, .gone),
        (.methodNotAllowed, 405, .reject), (.entity, 409, .reject), (.attributeRequired, 409, .reject),
        (.attributeUnknown, 409, .reject), (.attributeInvalid, 409, .reject),
        (.attributeDuplicate, 409, .settle), (.attributeTooLong, 409, .reject),
        (.attributeInvalidState, 409, .blocked), (.attributeUnmodifiable, 409, .reject),
        (.relationshipRequired, 409, .reject), (.relationshipInvalid, 409, .reject),
        (.includedInvalidID, 409, .reject), (.unexpectedID, 409, .reject), (.state, 409, .blocked),
        (.unprocessable, 422, .reject), (.rateLimitExceeded, 429, .wait),
    ]

    @Test func everyErrorCodeIsTested() {
        #expect(Self.codes.map(\.0) == ErrorCode.allCases)
    }

    /// Over HTTP, a write is sent once, whatever the response.
    @Test(arguments: codes)
    func verdictFollowsFromErrorCode(_ code: ErrorCode, _ status: Int, _ verdict: Verdict) async throws {
        try await Store.lend { store in
            for text in [code.rawValue, code.rawValue + ".FURTHER"] {
                store.simulator.faults = [
                    Fault(.response(status: status, code: text, retryAfter: 9), method: "POST")
                ]
                let error = await #expect(throws: AppStoreConnectError.self) {
                    try await store.client.reserveImage(fileName: "a", byteCount: 1)
                }
                guard case .refused(let refusal)? = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(refusal.status == status)
                #expect(refusal.errors.map(\.code) == [text])
                #expect(refusal.errors.first?.known == code)
                #expect(refusal.verdict == verdict)
                #expect(refusal.retryAfter == 9)
                #expect(refusal.requestID?.isEmpty == false)
                #expect(error?.mayHaveHappened == false)
                #expect("\(refusal)".hasPrefix("App Store Connect answered \(status): \(text) (request "))
            }
            // With a refused token, each request is sent three times.
            #expect(store.simulator.counters.statuses == [status: status == 401 ? 6 : 2])
        }
    }

    @Test(arguments: [500, 502, 503, 504])
    func serverErrorMeansWait(_ status: Int) async throws {
        try await Store.lend { store in
            store.simulator.faults = [
                Fault(.response(status: status, code: "UNEXPECTED_ERROR", retryAfter: nil))
            ]
            let error = await #expect(throws: AppStoreConnectError.self) {
                try await store.client.removeExperience("1")
            }
            guard case .refused(let refusal)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refusal.verdict == .wait)
            #expect(refusal.retryAfter == nil)
            #expect(error?.mayHaveHappened == true)
            #expect(store.simulator.counters.statuses == [status: 1])
        }
    }

    private static func refusal(_ status: Int, _ errors: [(String, String?)]) -> ServiceRefusal {
        ServiceRefusal(
            status: status,
            body: [
                "errors": .array(
                    errors.map { code, pointer in
                        var error: JSONObject = ["code": .string(code), "status": "409", "title": "x"]
                        error["source"] = pointer.map { ["pointer": .string($0)] }
                        return .object(error)
                    })
            ], requestID: nil, retryAfter: nil)
    }

    @Test func verdictConsidersAllErrors() {
        let invalid = "ENTITY_ERROR.ATTRIBUTE.INVALID"
        #expect(Self.refusal(409, [(invalid, nil), ("STATE_ERROR.X", nil)]).verdict == .blocked)
        #expect(Self.refusal(409, [("NEW_CODE", nil), ("\(invalid).DUPLICATE", nil)]).verdict == .settle)
        #expect(Self.refusal(409, [("NEW_CODE", "/data/attributes/link")]).verdict == .settle)
        #expect(Self.refusal(409, [(invalid, "/data/attributes/link")]).verdict == .settle)
        #expect(
            Self.refusal(409, [("ENTITY_ERROR.ATTRIBUTE.REQUIRED", "/data/attributes/link")]).verdict
                == .reject)
        #expect(Self.refusal(404, []).verdict == .reject, "a proxy's page says nothing of the resource")
        #expect(Self.refusal(429, []).verdict == .wait)
        #expect(ErrorCode("NOT_FOUNDED") == nil)
    }

    @Test func refusalKeepsOnlyPrintableParts() {
        let refusal = ServiceRefusal(
            status: 409,
            body: [
                "errors": [
                    ["code": "A\nB"], ["code": .string(String(repeating: "A", count: 129))], ["code": 7], 1,
                    ["code": "GOOD", "detail": "the value 'secret'", "source": ["pointer": "/a\u{1B}[0m"]],
                    ["code": "OTHER", "source": ["parameter": "limit[localizations]"]],
                ]
            ], requestID: "a b", retryAfter: nil)
        #expect("\(refusal)" == "App Store Connect answered 409: GOOD, OTHER at limit[localizations]")
        #expect(!String(reflecting: refusal).contains("secret"))
        let many = Self.refusal(409, Array(repeating: ("CODE", nil), count: 1_000))
        #expect(many.errors.count == 20)
    }

    // MARK: Missing responses

    @Test(arguments: [Fault.Effect.cut, .loseReply, .truncate])
    func unansweredCreationIsNotRepeated(_ effect: Fault.Effect) async throws {
        try await Store.lend { store in
            let image = try await store.image()
            let card = try Store.card("One", image: nil)
            store.simulator.faults = [Fault(effect, times: 1, method: "POST")]
            let error = await #expect(throws: AppStoreConnectError.self) {
                try await store.create("https://example.com/1", card, image: image.id)
            }
            #expect(error?.mayHaveHappened == true)
            #expect(error?.code == (effect == .truncate ? "unreadable_answer" : "no_answer"))
            #expect(store.simulator.faults.isEmpty)
            let isMade = effect != .cut
            #expect(store.simulator.counters.attempts == (isMade ? ["https://example.com/1": 1] : [:]))
            let listing = try await store.client.listing(ofClip: StoreFixture.clipID).listing
            #expect(listing.experiences.count == (isMade ? 1 : 0))
            guard isMade else { return }
            let second = await #expect(throws: AppStoreConnectError.self) {
                try await store.create("https://example.com/1", card, image: image.id)
            }
            guard case .refused(let refusal)? = second else {
                Issue.record("\(String(describing: second))")
                return
            }
            #expect(refusal.verdict == .settle)
        }
    }

    /// A write with a refused token had no effect, so it may be sent again, even a creation.
    @Test func writesAreRepeatedOnlyAfterRefusedToken() async throws {
        try await Store.lend { store in
            let image = try await store.image()
            let asked = Mutex(0)
            func create(_ name: String) async throws {
                _ = try await store.client.createExperience(
                    at: "https://example.com/\(name)", ExperienceContent(Store.card(name, image: nil)),
                    clip: StoreFixture.clipID, image: image.id
                ) { asked.withLock { $0 += 1 } }
            }
            let refused = Fault.Effect.response(status: 401, code: "NOT_AUTHORIZED", retryAfter: nil)
            store.simulator.faults = [Fault(refused, times: 1, method: "POST")]
            try await create("a")
            #expect(store.simulator.counters.creations == ["https://example.com/a": 1])
            // The fence is asked before each attempt.
            #expect(asked.withLock { $0 } == 2)
            store.simulator.faults = [Fault(refused, method: "POST")]
            await #expect(throws: AppStoreConnectError.self) { try await create("b") }
            #expect(asked.withLock { $0 } == 5)
            store.simulator.faults = [
                Fault(.response(status: 503, code: "", retryAfter: nil), times: 1, method: "POST")
            ]
            await #expect(throws: AppStoreConnectError.self) { try await create("c") }
            #expect(asked.withLock { $0 } == 6)
        }
    }

    @Test func fencedWriteIsNotSent() async throws {
        struct Ended: Error {}
        try await Store.lend { store in
            let error = await #expect(throws: AppStoreConnectError.self) {
                try await store.client.removeExperience("1") { throw Ended() }
            }
            #expect(error?.code == "withdrawn" && error?.mayHaveHappened == false)
            #expect(store.simulator.counters.statuses.isEmpty)
        }
    }

    @Test func readsAreRepeatedOnlyAfterRefusedToken() async throws {
        try await Store.lend { store in
            let refused = Fault.Effect.response(status: 401, code: "NOT_AUTHORIZED", retryAfter: nil)
            store.simulator.faults = [Fault(refused, times: 2)]
            let app = try await store.client.app(bundleID: "com.example.app")
            #expect(app?.id == StoreFixture.appID)
            #expect(store.simulator.counters.statuses == [401: 2, 200: 1])
            store.simulator.faults = [Fault(refused)]
            await #expect(throws: AppStoreConnectError.self) {
                try await store.client.app(bundleID: "com.example.app")
            }
            #expect(store.simulator.counters.statuses[401] == 5)
            store.simulator.faults = [
                Fault(.response(status: 500, code: "UNEXPECTED_ERROR", retryAfter: nil), times: 1)
            ]
            await #expect(throws: AppStoreConnectError.self) {
                try await store.client.app(bundleID: "com.example.app")
            }
            #expect(store.simulator.counters.statuses[500] == 1)
        }
    }

    // MARK: Refusals

    @Test func verdictTellsWhyExperienceIsRefused() async throws {
        try await Store.lend { store in
            let image = try await store.image()
            func verdict(_ body: () async throws -> Void) async -> Verdict? {
                do {
                    try await body()
                    return nil
                } catch AppStoreConnectError.refused(let refusal) {
                    return refusal.verdict
                } catch {
                    Issue.record("\(error)")
                    return nil
                }
            }
            let card = try Store.card("One", image: nil)
            let id = try await store.create("https://example.com/1", card, image: image.id)
            #expect(
                await verdict { _ = try await store.create("https://example.com/1", card, image: image.id) }
                    == .settle)
            #expect(
                await verdict { _ = try await store.create("https://example.com/2", card, image: "none") }
                    == .reject)
            #expect(await verdict { try await store.client.removeExperience("none") } == .gone)
            var edit = RemoteEdit()
            edit.isFrozen = true
            store.simulator.edit(id, edit)
            #expect(await verdict { try await store.client.removeExperience(id) } == .blocked)
            store.simulator.turn { $0.lacksAgreement = true }
            #expect(await verdict { try await store.client.removeExperience(id) } == .stop)
            store.simulator.turn {
                $0.lacksAgreement = false
                $0.hourlyLimit = 1
            }
            #expect(await verdict { try await store.client.removeExperience(id) } == .wait)
            #expect(store.client.budget?.hourRemaining == 0)
        }
    }
}
