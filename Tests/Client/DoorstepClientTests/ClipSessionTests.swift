import Formats
import Foundation
import Receipts
import Synchronization
import Testing

@testable import DoorstepClient

@Suite struct ClipSessionTests {
    private let clock = ManualClock()
    private let container = MemoryContainer()

    /// Without jitter: pauses have their full length.
    private func session(
        _ transport: ScriptedTransport, _ app: ClipConfiguration.RunningApp = .clip,
        container: (any SharedContainer)? = nil
    ) -> ClipSession {
        ClipSession(
            Sample.configuration(app), container: container ?? self.container, transport: transport,
            clock: clock, attester: nil, chance: { 0 })
    }

    private func all(_ session: ClipSession) async -> (names: [String?], error: ClipError?) {
        var names: [String?] = []
        do {
            for try await lookup in session.lookups(of: Sample.restaurant) {
                names.append(lookup.location.name)
            }
            return (names, nil)
        } catch {
            return (names, error as? ClipError)
        }
    }

    // MARK: Lookups

    @Test func cachedLookupComesFirstThenChangedOneFromServer() async throws {
        let first = session(ScriptedTransport(.json(200, Sample.lookup(), ["ETag": "\"1\""])))
        #expect(await first.keptLookup(of: Sample.restaurant) == nil)
        #expect(await all(first).names == ["Restaurant A"])

        let unchanged = ScriptedTransport(.success(TransportResponse(status: 304)))
        #expect(await all(session(unchanged)).names == ["Restaurant A"])
        #expect(unchanged.sent.first?.fields["If-None-Match"] == "\"1\"")
        #expect(
            unchanged.sent.first?.url.absoluteString
                == "https://doorstep.example.com/v1/lookup?url=https%3A%2F%2Fexample.com%2Frestaurants%2Frestaurant_a%2Forder%2F1234"
        )
        #expect(unchanged.sent.first?.fields["Authorization"] == "Bearer \(Sample.key)")

        let renamed = session(ScriptedTransport(.json(200, Sample.lookup("Restaurant Z"))))
        #expect(await all(renamed).names == ["Restaurant A", "Restaurant Z"])

        let away = await all(session(ScriptedTransport(.failure(.notSent))))
        #expect(away.names == ["Restaurant Z"] && away.error == .notReached)
    }

    /// Only the server's statistics use the source, so an unknown one is not sent.
    @Test func sourceIsSentWithLookupAndLaunchReport() async throws {
        for source in LaunchSource.allCases {
            let looking = ScriptedTransport(.json(200, Sample.lookup()))
            _ = try await session(looking).lookUp(Sample.restaurant, source: source)
            let query = looking.sent.first?.url.query() ?? ""
            #expect(query.hasSuffix("&source=\(source.rawValue)") == (source != .unknown), "\(query)")

            let launching = ScriptedTransport(.failure(.notSent))
            _ = try? await session(launching).registerLaunch(
                Sample.restaurant, Reachability(permission: .denied), source: source)
            let body = String(decoding: launching.sent.first?.body ?? Data(), as: UTF8.self)
            #expect(body.contains(#""source":"\#(source.rawValue)""#) == (source != .unknown), "\(body)")
        }
    }

    @Test func lookupUnknownToServerIsForgotten() async throws {
        _ = await all(session(ScriptedTransport(.json(200, Sample.lookup()))))
        let gone = await all(session(ScriptedTransport(.problem(404, "unknown_identifier"))))
        #expect(gone.names == ["Restaurant A"])
        #expect(gone.error == .refused(ServiceProblem(status: 404, code: .unknownIdentifier)))
        #expect(await session(ScriptedTransport(.failure(.notSent))).keptLookup(of: Sample.restaurant) == nil)
    }

    /// If the coordinates are signed in the URL, the location is registered nowhere and has no name.
    @Test func positionSignedInURLHasNoName() async throws {
        let session = session(ScriptedTransport(.json(200, Sample.lookup(nil))))
        let place = try await session.lookUp(Sample.restaurant).location
        #expect(place.name == nil && place.region.radius == 100)
        #expect(await session.keptLookup(of: Sample.restaurant)?.location == place)
    }

    /// A released clip cannot decode a new outcome, so client and server must have the same outcomes.
    @Test func confirmationOutcomesMatchServers() {
        #expect(
            Set(ClipConfirmation.Outcome.allCases.map(\.rawValue))
                == Set(Receipt.Outcome.allCases.map(\.rawValue)))
    }

    @Test func sixteenLookupsAreCached() async throws {
        let session = session(ScriptedTransport(.json(200, Sample.lookup())))
        let urls = try (0..<17).map { try #require(URL(string: "https://example.com/\($0)")) }
        for url in urls { _ = try await session.lookUp(url) }
        #expect(await session.keptLookup(of: urls[0]) == nil)
        for url in urls.dropFirst() { #expect(await session.keptLookup(of: url) != nil) }
    }

    @Test func unreadableContainerDoesNotBlockLookup() async throws {
        let session = session(
            ScriptedTransport(.json(200, Sample.lookup())), container: MemoryContainer(isBroken: true))
        #expect(await all(session).names == ["Restaurant A"])
        await #expect(throws: ClipError.container) {
            try await session.registerLaunch(nil, Reachability(permission: .denied))
        }
    }

    @Test func overlongURLIsNotRequested() async throws {
        let transport = ScriptedTransport(.json(200, Sample.lookup()))
        let url = try #require(URL(string: "https://example.com/" + String(repeating: "a", count: 2_029)))
        await #expect(throws: ClipError.invalidURL) { try await session(transport).lookUp(url) }
        #expect(transport.sent.isEmpty)
    }

    @Test func nearbyLocationsHaveLaunchURLs() async throws {
        var place = try #require(Sample.place("Restaurant A").objectValue)
        place["distance"] = 574.295
        place["url"] = "https://example.com/restaurants/restaurant_a"
        let transport = ScriptedTransport(.json(200, ["data": [.object(place)]]))
        let found = try await session(transport).nearby(
            Sample.restaurant,
            coordinate: .init(
                latitude: 37.333, longitude: -122.015, horizontalAccuracy: 5, simulated: false),
            within: 5_000)
        #expect(found.map(\.url) == ["https://example.com/restaurants/restaurant_a"])
        #expect(found.first?.place.region.radius == 100)
        #expect(
            transport.sent.first?["coordinate"] == ["latitude": 37.333, "longitude": -122.015]
                && transport.sent.first?["limit"] == nil)
    }

    // MARK: Confirmations

    private static let evidence: [(PresenceEvidence, String, JSONValue)] = [
        (.device(.inRegion(true)), "deviceResult", ["inRegion": true]),
        (.device(.failed(code: 1)), "deviceResult", ["errorCode": 1]),
        (
            .coordinate(.init(latitude: 37.5, longitude: -122, horizontalAccuracy: 12)), "coordinate",
            ["latitude": 37.5, "longitude": -122, "horizontalAccuracy": 12]
        ),
        (
            .coordinate(.init(latitude: 37.5, longitude: -122, simulated: true)), "coordinate",
            ["latitude": 37.5, "longitude": -122, "simulated": true]
        ),
    ]

    @Test(arguments: evidence) func evidenceIsSentUnchanged(
        _ evidence: PresenceEvidence, _ member: String, _ value: JSONValue
    ) async throws {
        let transport = ScriptedTransport(
            .json(
                200,
                [
                    "outcome": "inRegion", "certain": true, "error": .null,
                    "location": Sample.place("Restaurant A"), "receipt": "a.b.c",
                ]))
        let response = try await session(transport).confirm(
            Sample.restaurant, evidence: evidence, source: .nfc, locationAccess: .allowed)
        #expect(response.outcome == .inRegion && response.certain && response.receipt == "a.b.c")
        let sent = try #require(transport.sent.first)
        #expect(sent[member] == value && sent["source"] == "nfc" && sent["locationAccess"] == "allowed")
        #expect(sent[member == "coordinate" ? "deviceResult" : "coordinate"] == nil)
    }

    // MARK: Trying again

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var response: ScriptedTransport.Response
        /// The pauses in milliseconds before the second response, which succeeds.
        var lookup: [Int]?
        var confirmation: [Int]?
    }

    static let cases: [Case] = [
        Case(testDescription: "never sent", response: .failure(.notSent), lookup: [500], confirmation: [500]),
        Case(testDescription: "lost", response: .failure(.interrupted), lookup: [500], confirmation: nil),
        Case(testDescription: "cancelled", response: .failure(.cancelled)),
        Case(
            testDescription: "refused for now", response: .problem(429, "rate_limited", ["Retry-After": "3"]),
            lookup: [3_000], confirmation: [3_000]),
        Case(
            testDescription: "refused for longer than the budget",
            response: .problem(429, "rate_limited", ["Retry-After": "7"])),
        Case(
            testDescription: "unavailable", response: .problem(503, "unavailable"), lookup: [500],
            confirmation: [500]),
        Case(testDescription: "failed", response: .problem(500, "internal_error"), lookup: [500]),
        Case(
            testDescription: "of a proxy",
            response: .success(TransportResponse(status: 502, body: Data("<html>".utf8))), lookup: [500]),
        Case(testDescription: "not set up", response: .problem(503, "notifications_not_configured")),
        Case(testDescription: "a revoked key", response: .problem(401, "unauthorized")),
        Case(
            testDescription: "no problem of the server's",
            response: .success(TransportResponse(status: 404, body: Data("<html>".utf8)))),
    ]

    @Test(arguments: cases) func lookupIsRetriedAfterTransientFailure(_ case: Case) async throws {
        let transport = ScriptedTransport(`case`.response, .json(200, Sample.lookup()))
        let lookup = try? await session(transport).lookUp(Sample.restaurant)
        #expect((lookup != nil) == (`case`.lookup != nil))
        #expect(clock.pauses == (`case`.lookup ?? []).map { .milliseconds($0) })
    }

    @Test(arguments: cases) func confirmationIsRetriedOnlyIfNotProcessed(_ case: Case) async throws {
        let transport = ScriptedTransport(
            `case`.response, .json(200, ["outcome": "undetermined", "certain": true, "location": .null]))
        let response = try? await session(transport).confirm(Sample.restaurant, evidence: .none)
        #expect((response != nil) == (`case`.confirmation != nil))
        #expect(clock.pauses == (`case`.confirmation ?? []).map { .milliseconds($0) })
    }

    @Test func retryPausesGrowUntilBudgetIsSpent() async throws {
        let transport = ScriptedTransport(.problem(503, "unavailable", ["Retry-After": "0"]))
        await #expect(
            throws: ClipError.refused(ServiceProblem(status: 503, code: .unavailable, retryAfter: .zero))
        ) {
            try await session(transport).lookUp(Sample.restaurant)
        }
        #expect(clock.pauses == [.milliseconds(500), .seconds(1), .seconds(2)])
    }

    @Test func jitterShortensPausesButNotBelowRetryAfter() {
        let budget = RetryBudget(
            total: .seconds(100), first: .seconds(2), longest: .seconds(8), timeout: .seconds(1))
        for (tries, chance, retryAfter, expected) in [
            (1, 0.0, nil, 2.0), (1, 1, nil, 1), (2, 0.5, nil, 3), (40, 0, nil, 8),
            (1, 1, Duration.seconds(5), 5),
        ] {
            #expect(
                budget.pause(afterTries: tries, spent: .zero, retryAfter: retryAfter, chance: chance)
                    == .seconds(expected))
        }
        #expect(budget.pause(afterTries: 1, spent: .seconds(99), retryAfter: nil, chance: 0) == nil)
    }

    // MARK: Launches

    @Test func fullAppContinuesInstanceOfClip() async throws {
        let transport = ScriptedTransport(.json(201, Sample.instance))
        let clip = session(transport)
        #expect(try await clip.lastURL() == nil)
        let registered = try await clip.registerLaunch(
            Sample.restaurant,
            Reachability(
                permission: .ephemeral, deviceToken: Data([0, 0xAB]), startTokens: ["Order": Data([1, 2])]))
        #expect(registered.reachableUntil == Date(timeIntervalSince1970: 1_780_028_800))
        clock.advance(by: 60)
        try await clip.update(Reachability(permission: .denied), receipt: "a.b.c")

        let app = session(transport, .full)
        #expect(try await app.lastURL() == Sample.restaurant)
        try await app.registerLaunch(nil, Reachability(permission: .authorized))
        #expect(try await app.lastURL() == Sample.restaurant)

        let sent = transport.sent
        #expect(Set(transport.targets) == ["PUT /v1/instances/\(try await app.instanceID())"])
        #expect(sent.map { $0["app"] } == ["clip", "clip", "full"])
        #expect(
            sent.map { $0["url"] } == [
                .string(Sample.restaurant.absoluteString), .string(Sample.restaurant.absoluteString), nil,
            ])
        #expect(
            sent.map { $0["launchedAt"] } == [
                "2026-05-28T20:26:40.000Z", "2026-05-28T20:26:40.000Z", "2026-05-28T20:27:40.000Z",
            ])
        #expect(sent[0]["token"] == "00ab" && sent[0]["startTokens"] == ["Order": "0102"])
        #expect(
            sent[1]["token"] == nil && sent[1]["receipt"] == "a.b.c"
                && sent[2]["clip"] == .string(Sample.clip))
    }

    @Test func instanceOfOtherInstallIsReplacedByNewOne() async throws {
        let transport = ScriptedTransport(.problem(409, "instance_of_other_key"), .json(201, Sample.instance))
        let session = session(transport)
        let restored = try await session.instanceID()
        try await session.registerLaunch(Sample.restaurant, Reachability(permission: .ephemeral))
        let own = try await session.instanceID()
        #expect(own != restored)
        #expect(transport.targets == ["PUT /v1/instances/\(restored)", "PUT /v1/instances/\(own)"])
    }

    @Test func liveActivityTokensAreSetAndDeleted() async throws {
        let transport = ScriptedTransport { request, _ in
            request.method == "DELETE"
                ? .problem(404, "unknown_activity") : .success(TransportResponse(status: 204))
        }
        let session = session(transport)
        try await session.setToken(Data(0..<8), ofActivity: "0D9D7A52")
        try await session.endActivity("0D9D7A52")
        let path = "/v1/instances/\(try await session.instanceID())/activities/0D9D7A52"
        #expect(transport.targets == ["PUT \(path)", "DELETE \(path)"])
        #expect(transport.sent.first?["token"] == "0001020304050607")
        for id in ["", "a/b", "ä", String(repeating: "a", count: 129)] {
            await #expect(throws: ClipError.invalidURL) { try await session.endActivity(id) }
        }
    }

    @Test func forgottenInstanceIsReplacedByNewOne() async throws {
        let transport = ScriptedTransport(.json(201, Sample.instance), .problem(422, "unknown_instance"))
        let session = session(transport)
        try await session.registerLaunch(Sample.restaurant, Reachability(permission: .ephemeral))
        let old = try await session.instanceID()
        try await session.forget()
        #expect(transport.targets.last == "DELETE /v1/instances/\(old)")
        #expect(try await session.lastURL() == nil)
        #expect(try await session.instanceID() != old)
    }

    @Test func descriptionsHideKeysTokensAndPositions() {
        let token = Data([0xAB, 0xCD, 0xEF, 0x9A, 0xFB, 0xBE])
        let values: [any Sendable] = [
            Sample.configuration(),
            Reachability(permission: .denied, deviceToken: token, startTokens: ["Order": token]),
            ClipLocation.Coordinate(latitude: 37.5, longitude: -122.25, horizontalAccuracy: 8.75),
        ]
        let hexadecimal = token.map { String($0, radix: 16) }.joined()
        let decimal = token.map(String.init).joined(separator: ", ")
        #expect(hexadecimal == "abcdef9afbbe" && decimal == "171, 205, 239, 154, 251, 190")
        let secrets = [
            Sample.key, "dpk_", hexadecimal, decimal, token.base64EncodedString(), "37.5", "122.25", "8.75",
        ]
        for value in values {
            for text in ["\(value)", String(reflecting: value)] {
                for secret in secrets { #expect(!text.lowercased().contains(secret.lowercased()), "\(text)") }
            }
        }
    }
}
