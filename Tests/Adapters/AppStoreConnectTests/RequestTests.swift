import AppStoreConnectSimulator
import AppStoreSync
import Cards
import Crypto
import Formats
import Foundation
import LocalServers
import StoreSupport
import Synchronization
import Testing
import Tracing

@testable import AppStoreConnect
@testable import TraceExport

/// Tokens, budgets, images, and other servers than Apple's.
@Suite(.timeLimit(.minutes(30))) struct RequestTests {
    // MARK: Tokens

    @Test func tokenIsReusedUntilShortlyBeforeExpiry() async throws {
        let now = Mutex(Date(timeIntervalSince1970: 1_790_000_000))
        let tokens = RequestTokens(try Store.key()) { now.withLock { $0 } }
        let first = try await tokens.authorization(for: nil)
        now.withLock { $0 += 839 }
        #expect(try await tokens.authorization(for: nil) == first)
        #expect(try await tokens.authorization(for: "GET /v1/apps") != first)
        now.withLock { $0 += 1 }
        let second = try await tokens.authorization(for: nil)
        #expect(second != first)
        tokens.discard(nil)
        now.withLock { $0 += 1 }
        #expect(try await tokens.authorization(for: nil) != second)
    }

    /// Neither the path nor the token is recorded.
    @Test func requestHasASpan() async throws {
        let tracer = OTLPTracer(sampling: 1)
        try await Store.lend(tracer: tracer) { store in
            _ = try await store.client.app(bundleID: "com.example.app")
        }
        let spans = tracer.take(upTo: 10)
        #expect(spans.map(\.name) == ["App Store Connect GET"])
        #expect(spans.first?.kind == .client && spans.first?.status == nil)
        var attributes: [String: String] = [:]
        spans.first?.attributes.forEach { attributes[$0] = "\($1)" }
        #expect(
            Set(attributes.keys) == ["http.request.method", "server.address", "http.response.status_code"])
        #expect(!"\(attributes)".contains("com.example.app"))
    }

    /// The simulator refuses a scope that does not match the request exactly.
    @Test func readOnlyTokensAreScopedToOneRead() async throws {
        try await Store.lend { store in
            let image = try await store.image()
            let id = try await store.create(
                "https://example.com/1", try Store.card("One", image: nil), image: image.id)
            try await Store.client(of: store.simulator.host, readsOnly: true) { reader in
                let app = try await reader.app(bundleID: "com.example.app")
                #expect(app?.id == StoreFixture.appID)
                let clip = try await reader.clipID(
                    bundleID: StoreFixture.clipBundleID, ofApp: StoreFixture.appID)
                #expect(clip == StoreFixture.clipID)
                let listing = try await reader.listing(ofClip: StoreFixture.clipID)
                #expect(listing.listing.isComplete)
                let experience = try await reader.experience(id)
                #expect(experience?.listing == listing.listing)
                let state = try await reader.image(image.id)
                #expect(state?.phase == .complete)
                let before = store.simulator.counters
                await #expect(throws: AppStoreConnectError.readsOnly) {
                    try await reader.removeExperience(id)
                }
                await #expect(throws: AppStoreConnectError.readsOnly) {
                    try await reader.reserveImage(fileName: "a", byteCount: 1)
                }
                #expect(store.simulator.counters == before)
            }
        }
    }

    @Test func invalidKeyIsRejected() throws {
        let pem = StoreFixture.key.pemRepresentation
        for (id, issuer, text) in [
            ("", nil, pem), ("a b", nil, pem), ("KEY", "", pem), ("KEY", "a\n", pem), ("KEY", nil, "pem"),
            ("KEY", nil, StoreFixture.key.publicKey.pemRepresentation),
        ] as [(String, String?, String)] {
            #expect(throws: AppStoreConnectError.unusableKey) {
                try AppStoreConnectKey(id: id, issuer: issuer, pem: text)
            }
        }
    }

    // MARK: Budgets

    private static let lines: [([String], [String: Int]?)] = [
        (["user-hour-lim:3500;user-hour-rem:500;"], ["user-hour-lim": 3_500, "user-hour-rem": 500]),
        (["user-minute-lim:150, user-minute-rem: 7"], ["user-minute-lim": 150, "user-minute-rem": 7]),
        (
            ["user-hour-rem:5", "User-Minute-Rem:6;new:1"],
            ["user-hour-rem": 5, "user-minute-rem": 6, "new": 1]
        ),
        (["user-hour-rem:-1;x;:;a:b;:2"], nil),
        ([], nil), ([""], nil),
    ]

    @Test(arguments: lines)
    func budgetIsParsedFromHeaders(_ lines: [String], _ values: [String: Int]?) {
        #expect(RequestBudget(lines)?.values == values)
    }

    @Test(arguments: Knobs.MinuteHeader.allCases)
    func budgetIsTakenFromResponses(_ form: Knobs.MinuteHeader) async throws {
        try await Store.lend({
            $0.knobs.minuteLimit = 2
            $0.knobs.minuteHeader = form
        }) { store in
            #expect(store.client.budget == nil)
            _ = try await store.client.reserveImage(fileName: "a", byteCount: 1)
            #expect(store.client.budget?.minuteRemaining == 1)
            #expect(store.client.budget?.minuteLimit == 2)
            #expect(store.client.budget?.hourRemaining == (form == .alone ? nil : 3_599))
        }
    }

    // MARK: Images

    @Test func imageIsUploadedInParts() async throws {
        try await Store.lend({ $0.knobs.partSize = 40 }) { store in
            let file = HeaderPicture.png()
            let md5 = try HeaderImage(file).md5
            let reservation = try await store.client.reserveImage(
                fileName: "header.png", byteCount: file.count)
            #expect(reservation.operations.count == 2)
            #expect(try await store.client.image(reservation.id)?.phase == .awaitingUpload)
            store.simulator.faults = [
                Fault(.response(status: 503, code: "", retryAfter: nil), times: 1, method: "PUT")
            ]
            for operation in reservation.operations.reversed() {
                if operation.offset > 0 {
                    await #expect(throws: AppStoreConnectError.partRefused(status: 503)) {
                        try await store.client.upload(file, operation)
                    }
                }
                try await store.client.upload(file, operation)
            }
            let state = try await store.client.commitImage(reservation.id, md5: md5)
            #expect(state == ImageState(phase: .uploadComplete, failures: []))
            store.simulator.advance(by: .seconds(10))
            #expect(try await store.client.image(reservation.id)?.phase == .complete)
            #expect(try await store.client.image("none") == nil)
            // The API and the storage of parts have separate budgets: three parts arrived, one of them twice.
            #expect(store.simulator.counters.parts == 3)
        }
    }

    @Test func failedImageNamesItsErrors() async throws {
        try await Store.lend { store in
            let file = HeaderPicture.png(hasAlpha: true)
            let reservation = try await store.client.reserveImage(fileName: "a.png", byteCount: file.count)
            for operation in reservation.operations { try await store.client.upload(file, operation) }
            _ = try await store.client.commitImage(reservation.id, md5: String(repeating: "0", count: 32))
            store.simulator.advance(by: .seconds(10))
            let state = try await store.client.image(reservation.id)
            #expect(state == ImageState(phase: .failed, failures: ["CHECKSUM_MISMATCH"]))
        }
    }

    private static let divisions: [([(Int, Int)], Bool)] = [
        ([(0, 10)], true), ([(5, 5), (0, 5)], true), ([], false), ([(0, 9)], false), ([(0, 11)], false),
        ([(1, 9)], false), ([(0, 5), (6, 4)], false), ([(0, 6), (5, 5)], false), ([(0, 0), (0, 10)], false),
        ([(0, Int.max), (0, 10)], false), ([(0, 10), (10, Int.max)], false),
    ]

    @Test(arguments: divisions)
    func partsMustCoverTheFile(_ parts: [(Int, Int)], _ isWhole: Bool) {
        let operations = parts.map {
            UploadOperation(method: "PUT", url: "", offset: $0.0, length: $0.1, headers: [])
        }
        #expect(AppStoreConnectClient.makeUp(operations, 10) == isWhole)
    }

    // MARK: Secrecy

    @Test func errorsContainNoSecrets() async throws {
        let secret = "c2VjcmV0"
        let key = try Store.key()
        var shown = ["\(key)", String(reflecting: key)]
        dump(key, to: &shown[0])
        let private1 = StoreFixture.key.pemRepresentation.split(separator: "\n")[1]
        let operation = UploadOperation(
            method: "PUT", url: "http://127.0.0.1:1/\(secret)", offset: 0, length: 1,
            headers: [.init("X-Secret", secret)])
        let reservation = ImageReservation(id: "1", operations: [operation])
        shown += ["\(operation)", String(reflecting: reservation)]
        var text = ""
        dump(reservation, to: &text)
        shown.append(text)
        try await Store.client(of: "http://127.0.0.1:1/\(secret)") { client in
            let upload = await #expect(throws: AppStoreConnectError.self) {
                try await client.upload([1], operation)
            }
            let read = await #expect(throws: AppStoreConnectError.self) { try await client.image(secret) }
            for error in [try #require(upload), try #require(read)] {
                #expect(error.code == "no_answer")
                #expect(!"\(error) \(String(reflecting: error))".contains(secret))
            }
        }
        for text in shown {
            #expect(!text.contains(secret))
            #expect(!text.contains(private1))
        }
    }

    @Test func tokensAreNotSentToAnotherHost() async throws {
        let seen = Mutex<[String]>([])
        try await LocalWebServer.lend({ request in
            seen.withLock { $0.append(request.path) }
            return .init("{}")
        }) { other in
            _ = try await LocalWebServer.lend({ _ in
                .init(
                    #"{"data":[],"meta":{"paging":{"total":1}},"links":{"next":"http://127.0.0.1:\#(other.port)/v1/x"}}"#
                )
            }) { server in
                try await Store.client(of: "http://127.0.0.1:\(server.port)") { client in
                    await #expect(
                        throws: AppStoreConnectError.unreadableResponse(status: 200, requestID: nil)
                    ) {
                        try await client.listing(ofClip: "1")
                    }
                }
            }
        }
        #expect(seen.withLock { $0 }.isEmpty)
    }

    @Test func unsafeIdentifiersAreRejected() async throws {
        try await Store.lend { store in
            for id in ["", "../apps", "a/b", "a?b", "a#b", "%2e", "ä", String(repeating: "a", count: 257)] {
                await #expect(throws: AppStoreConnectError.self) {
                    try await store.client.removeExperience(id)
                }
                await #expect(throws: AppStoreConnectError.self) {
                    try await store.client.listing(ofClip: id)
                }
            }
            #expect(store.simulator.counters.statuses.isEmpty)
        }
    }

    /// Pages with one row each. The second page has another total, or links to itself.
    @Test(arguments: [(2, false, true), (3, false, false), (2, true, false)])
    func changingListingIsIncomplete(_ total: Int, _ isCircle: Bool, _ isComplete: Bool) async throws {
        let port = Mutex(0)
        let count = Mutex(0)
        try await LocalWebServer.lend({ request in
            count.withLock { $0 += 1 }
            let isSecond = request.path.hasSuffix("/v1/2")
            let next = #""next":"http://127.0.0.1:\#(port.withLock { $0 })/v1/2""#
            return .init(
                #"""
                {"data":[{"id":"\#(isSecond ? 2 : 1)","attributes":{"link":"https://a.example","status":"RECEIVED"},
                "relationships":{"localizations":{"data":[]}}}],
                "meta":{"paging":{"total":\#(isSecond ? total : 2),"limit":1}},
                "links":{\#(!isSecond || isCircle ? next : "")}}
                """#)
        }) { server in
            port.withLock { $0 = server.port }
            try await Store.client(of: "http://127.0.0.1:\(server.port)") { client in
                let listing = try await client.listing(ofClip: "1").listing
                #expect(listing.experiences.map(\.id) == ["1", "2"])
                #expect(listing.isComplete == isComplete)
            }
        }
        #expect(count.withLock { $0 } == (isCircle ? 1_001 : 2))
    }

    private static let oddResponses = [
        "", "[]", "null", "{", #"{"data":{}}"#,
    ]

    private static let oddRows = [
        #"{"data":[{"id":"1"}]}"#,
        #"{"data":[{"id":"1","attributes":{"link":"https://a.example"},"relationships":{"localizations":{"data":[]}}}]}"#,
        #"{"data":[{"id":"1","attributes":{"link":"https://a.example","status":"NEW"},"relationships":{"localizations":{"data":[]}}}]}"#,
        #"{"data":[{"id":"1","attributes":{"link":"https://a.example","status":"RECEIVED"}}]}"#,
        #"{"data":[{"id":"1","attributes":{"link":"https://a.example","status":"RECEIVED"},"relationships":{"localizations":{"data":[{"id":"2"}]}}}]}"#,
        #"{"data":[{"id":"1","attributes":{"link":"https://a.example","status":"RECEIVED"},"relationships":{"localizations":{"data":[],"meta":{"paging":{"total":3}}}}}]}"#,
    ]

    @Test(arguments: oddResponses)
    func malformedListingIsRejected(_ body: String) async throws {
        try await LocalWebServer.lend({ _ in .init(body) }) { server in
            try await Store.client(of: "http://127.0.0.1:\(server.port)") { client in
                let error = await #expect(throws: AppStoreConnectError.self) {
                    try await client.listing(ofClip: "1")
                }
                #expect(error?.code == "unreadable_answer")
            }
        }
    }

    @Test(arguments: oddRows)
    func oddRowIsMarkedUnreadable(_ body: String) async throws {
        try await LocalWebServer.lend({ _ in .init(body) }) { server in
            try await Store.client(of: "http://127.0.0.1:\(server.port)") { client in
                let listing = try await client.listing(ofClip: "1").listing
                #expect(listing.experiences.map(\.id) == ["1"])
                #expect(listing.experiences.allSatisfy { $0.unreadable != nil })
            }
        }
    }

    @Test func redirectIsNotFollowed() async throws {
        let count = Mutex(0)
        try await LocalWebServer.lend({ _ in
            count.withLock { $0 += 1 }
            return .init("", status: 302, headers: [("Location", "/v1/apps")])
        }) { server in
            try await Store.client(of: "http://127.0.0.1:\(server.port)") { client in
                let error = await #expect(throws: AppStoreConnectError.self) {
                    try await client.app(bundleID: "com.example.app")
                }
                #expect(error.map { "\($0)" } == "App Store Connect answered 302")
            }
        }
        #expect(count.withLock { $0 } == 1)
    }
}
