import Formats
import Foundation
import StoreSupport
import Testing

@testable import AppStoreConnectSimulator

/// Budgets, faults and knobs.
@Suite struct BudgetTests {
    @Test func hourlyBudgetIsRolling() throws {
        let desk = try Desk { $0.knobs.hourlyLimit = 2 }
        #expect(
            try desk.ask("GET", "/v1/apps").headers("X-Rate-Limit") == ["user-hour-lim:2;user-hour-rem:1;"])
        desk.pass(1_800)
        #expect(
            try desk.ask("GET", "/v1/none").headers("X-Rate-Limit") == ["user-hour-lim:2;user-hour-rem:0;"])
        desk.pass(1_799)
        let refused = try desk.ask("GET", "/v1/apps")
        #expect(refused.status == 429)
        #expect(refused.codes == ["RATE_LIMIT_EXCEEDED"])
        #expect(refused.headers("Retry-After").isEmpty)
        desk.turn { $0.tellsRetryAfter = true }
        #expect(try desk.ask("GET", "/v1/apps").headers("Retry-After") == ["1"])
        desk.pass(1)
        #expect(try desk.ask("GET", "/v1/apps").status == 200)
        #expect(try desk.ask("GET", "/v1/apps").status == 429)
        #expect(desk.simulation.counters.overruns == 3)
        #expect(desk.simulation.counters.mostInAnHour == 2)
    }

    @Test func eachKeyHasItsOwnBudget() throws {
        let desk = try Desk { $0.knobs.hourlyLimit = 1 }
        _ = try desk.ask("GET", "/v1/apps")
        desk.authorization = Desk.token(
            at: desk.now, header: ["kid": .string(StoreFixture.individualKeyID)], claims: ["sub": "user"],
            without: ["iss"])
        #expect(try desk.ask("GET", "/v1/apps").status == 200)
    }

    private static let headers: [(Knobs.MinuteHeader, [String])] = [
        (.alone, ["user-minute-lim:1;user-minute-rem:0;"]),
        (.sameLine, ["user-hour-lim:3600;user-hour-rem:3599;user-minute-lim:1;user-minute-rem:0;"]),
        (.secondLine, ["user-hour-lim:3600;user-hour-rem:3599;", "user-minute-lim:1;user-minute-rem:0;"]),
    ]

    @Test(arguments: headers)
    func minuteBudgetAppliesOnlyToWrites(_ form: Knobs.MinuteHeader, _ lines: [String]) throws {
        let desk = try Desk()
        desk.turn {
            $0.minuteLimit = 1
            $0.minuteHeader = form
            $0.tellsRetryAfter = true
        }
        #expect(try desk.reserve(1).headers("X-Rate-Limit") == lines)
        let refused = try desk.reserve(1)
        #expect(refused.status == 429)
        #expect(refused.headers("Retry-After") == ["60"])
        #expect(try desk.ask("GET", "/v1/apps").status == 200)
        desk.pass(60)
        #expect(try desk.reserve(1).status == 201)
    }

    @Test(arguments: [true, false])
    func uploadsCountOnlyIfConfigured(_ counts: Bool) throws {
        let desk = try Desk()
        desk.turn { $0.countsUploads = counts }
        _ = try desk.image()
        // Reservation, commit and this.
        let response = try desk.ask("GET", "/v1/apps")
        #expect(
            response.headers("X-Rate-Limit") == [
                "user-hour-lim:3600;user-hour-rem:\(counts ? 3_596 : 3_597);"
            ])
    }

    // MARK: Faults

    @Test func responseFaultPreventsProcessing() throws {
        let desk = try Desk()
        let image = try desk.completeImage()
        desk.simulation.faults = [
            Fault(
                .response(status: 503, code: "SERVICE_UNAVAILABLE", retryAfter: 7), times: 1, method: "POST")
        ]
        #expect(try desk.ask("GET", "/v1/apps").status == 200)
        let response = try desk.create(image: image)
        #expect(response.status == 503)
        #expect(response.headers("Retry-After") == ["7"])
        #expect(desk.simulation.counters.creations.isEmpty)
        #expect(desk.simulation.faults.isEmpty)
        #expect(try desk.create(image: image).status == 201)
    }

    @Test func loseReplyFaultDropsResponseAfterCommit() throws {
        let desk = try Desk()
        let image = try desk.completeImage()
        let body = Desk.creation(image: image).serialized()
        desk.simulation.faults = [Fault(.cut, times: 1), Fault(.loseReply, times: 1)]
        #expect(desk.send("POST", Desk.experiences, body) == nil)
        #expect(desk.simulation.counters.creations.isEmpty)
        #expect(desk.send("POST", Desk.experiences, body) == nil)
        #expect(desk.simulation.counters.creations == ["https://example.com/1": 1])
        #expect(try desk.create(image: image).codes == ["ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE"])
        #expect(desk.simulation.counters.attempts == ["https://example.com/1": 2])
    }

    @Test func listingFaultsRepeatOmitAndTruncateRows() throws {
        let desk = try Desk()
        let image = try desk.completeImage()
        for number in 0..<2 { _ = try desk.create("https://example.com/\(number)", image: image) }
        desk.simulation.faults = [
            Fault(.repeatRow, times: 1, path: Desk.listing), Fault(.omitRow, times: 1),
            Fault(.truncate, times: 1),
        ]
        let rows = try desk.ask("GET", Desk.listing).rows
        #expect(rows.count == 3)
        #expect(rows[0] == rows[1])
        #expect(try desk.ask("GET", Desk.listing).rows == [rows[2]])
        let half = try desk.ask("GET", Desk.listing)
        #expect(half.status == 200)
        #expect(half.json == .null)
        #expect(try desk.ask("GET", Desk.listing).rows.count == 2)
    }

    @Test func passFaultDelaysUploads() throws {
        let desk = try Desk()
        let reservation = try desk.reserve(10)
        var slow = Fault(.pass, path: "/upload/")
        slow.delay = .seconds(5)
        desk.simulation.faults = [slow]
        let part = StoreSimulation.Request(
            method: "PUT", uri: try #require(Desk.parts(reservation).first).uri,
            headers: [(name: "Content-Type", value: "application/octet-stream")],
            body: Array(repeating: 1, count: 10))
        let late = desk.simulation.respond(to: part, at: desk.now)
        #expect(late.delay == .seconds(5))
        #expect(late.response?.status == 200)
        let other = desk.simulation.respond(
            to: StoreSimulation.Request(method: "GET", uri: "/v1/apps"), at: desk.now)
        #expect(other.delay == .zero)
    }

    @Test func faultChoicesDependOnSeed() throws {
        func statuses(seed: Int) throws -> [Int] {
            let desk = try Desk()
            var fault = Fault(.response(status: 500, code: "UNEXPECTED_ERROR", retryAfter: nil))
            fault.probability = 0.5
            fault.seed = seed
            desk.simulation.faults = [fault]
            return try (0..<64).map { _ in try desk.ask("GET", "/v1/apps").status }
        }
        let first = try statuses(seed: 1)
        #expect(try statuses(seed: 1) == first)
        #expect(try statuses(seed: 2) != first)
        #expect((16...48).contains(first.count { $0 == 500 }))
    }

    private static let faultTexts = [
        #"{"effect":"pass","path":"","delayMilliseconds":5}"#, #"{"effect":"cut","path":"/v1","times":2}"#,
        #"{"effect":"response","path":"","status":429,"code":"RATE_LIMIT_EXCEEDED","retryAfter":3}"#,
        #"{"effect":"lose-reply","path":"","method":"POST","probability":0.25,"seed":9}"#,
        #"{"effect":"truncate","path":""}"#, #"{"effect":"repeat-row","path":""}"#,
        #"{"effect":"omit-row","path":""}"#,
    ]

    @Test(arguments: faultTexts)
    func faultRoundTripsThroughJSON(_ text: String) throws {
        let json = try JSONValue(parsing: Array(text.utf8))
        #expect(JSONValue.object(try Fault(json: json).json) == json)
    }

    @Test(arguments: [
        #"{"status":200}"#, #"{"effect":"response"}"#, #"{"effect":"explode"}"#, #"{"times":0}"#,
        #"{"probability":2}"#, #"{"colour":1}"#, "[]",
    ])
    func invalidFaultIsRejected(_ text: String) throws {
        let json = try JSONValue(parsing: Array(text.utf8))
        #expect(throws: JSONFieldError.self) { try Fault(json: json) }
    }

    // MARK: Knobs

    @Test func everyKnobIsSetByName() throws {
        var knobs = Knobs()
        #expect(Set(Mirror(reflecting: knobs).children.compactMap(\.label)) == Set(knobs.json.map(\.key)))
        var changed: JSONObject = [:]
        for (name, value) in knobs.json {
            switch value {
            case .bool(let flag): changed[name] = .bool(!flag)
            case .number(let number): changed[name] = JSONValue((number.int ?? 0) + 1)
            case .array: changed[name] = ["x"]
            case .string: changed[name] = name == "versionState" ? "IN_REVIEW" : "second_line"
            default: changed[name] = 7
            }
        }
        try knobs.apply(changed)
        #expect(knobs.json == changed)
        try knobs.apply(["minuteLimit": .null])
        #expect(knobs.minuteLimit == nil)
        try knobs.apply(["versionState": .null])
        #expect(knobs.versionState == nil && knobs.json["versionState"] == .null)
        for wrong: JSONObject in [
            ["none": 1], ["revives": 1], ["partSize": 0], ["processing": -1], ["minuteLimit": "x"],
            ["versionState": "SOLD"],
        ] {
            #expect(throws: JSONFieldError.self) { try knobs.apply(wrong) }
        }
    }
}
