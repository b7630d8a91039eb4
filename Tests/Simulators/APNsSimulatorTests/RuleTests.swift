import APNsPayload
import APNsSimulator
import AsyncHTTPClient
import Formats
import Foundation
import NIOCore
import NIOHTTP1
import Notifications
import Testing

@Suite struct RuleTests {
    @Test func ruleAppliesToItsDeviceForLimitedTimes() async throws {
        let other = String(repeating: "ab", count: 32)
        try await Provider.lend(rules: [Rule(.response(.unregistered), times: 2, device: other)]) {
            provider in
            var reasons: [String?] = []
            for device in [other, Provider.device, other.uppercased(), other] {
                reasons.append(try await provider.send { $0.path = "/3/device/" + device }.reason)
            }
            #expect(reasons == ["Unregistered", nil, "Unregistered", nil])
            #expect(provider.simulator.rules.isEmpty)
        }
    }

    @Test func equalSeedsMakeEqualChoices() async throws {
        func refused(seed: UInt64) async throws -> [Bool] {
            let rule = Rule(.response(.tooManyRequests), probability: 0.5, seed: seed)
            return try await Provider.lend(rules: [rule]) { provider in
                var refused: [Bool] = []
                for _ in 0..<64 { refused.append(try await provider.send().reason != nil) }
                return refused
            }
        }
        let first = try await refused(seed: 1)
        let again = try await refused(seed: 1)
        let other = try await refused(seed: 2)
        #expect(first == again)
        #expect(first != other)
        #expect((10...54).contains(first.count { $0 }))
    }

    @Test(arguments: [
        #"{"reason":"TooManyRequests","times":5}"#,
        #"{"effect":"response","reason":"Unregistered","timestamp":1700000000125}"#,
        #"{"effect":"pass","delayMilliseconds":50,"probability":0.25,"seed":9}"#,
        #"{"effect":"never","device":"abcd"}"#, #"{"effect":"reset","code":7}"#, #"{"effect":"cut"}"#,
        #"{"effect":"goaway","reason":"Shutdown","accepting":true}"#,
        #"{"effect":"streams","count":1}"#, #"{"effect":"refuse-tls","times":1}"#,
        #"{"effect":"slow-start","delayMilliseconds":10}"#,
    ])
    func ruleRoundTripsThroughJSON(_ text: String) throws {
        let rule = try Rule(json: try JSONValue(parsing: Array(text.utf8)))
        #expect(try Rule(json: .object(rule.json)) == rule)
        let read = try #require(try JSONValue(parsing: Array(text.utf8)).objectValue)
        for (key, value) in read { #expect(rule.json[key] == value) }
    }

    @Test(arguments: [
        (#"{"effect":"dance"}"#, "effect"), (#"{"effect":"response"}"#, "reason"),
        (#"{"effect":"streams"}"#, "count"), (#"{"times":0}"#, "times"),
        (#"{"probability":1.5}"#, "probability"), (#"{"colour":1}"#, "colour"),
        (#"{"effect":"reset","code":-1}"#, "code"), (#"{"delayMilliseconds":-1}"#, "delayMilliseconds"),
    ])
    func invalidRuleErrorNamesField(_ text: String, _ path: String) throws {
        let value = try JSONValue(parsing: Array(text.utf8))
        let error = try #require(throws: JSONFieldError.self) { try Rule(json: value) }
        #expect(error.path.hasSuffix(path))
    }

    @Test func controlPortManagesRulesAndCounters() async throws {
        try await Provider.lend(options: { $0.controlPort = 0 }) { provider in
            let port = try #require(provider.simulator.controlPort)
            func control(
                _ method: HTTPMethod, _ path: String, _ body: String? = nil
            ) async throws -> (
                Int, String
            ) {
                var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
                request.method = method
                if let body { request.body = .bytes(ByteBuffer(string: body)) }
                let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
                let bytes = try await response.body.collect(upTo: 1 << 20)
                return (Int(response.status.code), String(buffer: bytes))
            }
            let set = try await control(.PUT, "/rules", #"[{"reason":"Unregistered","times":1}]"#)
            #expect(set.0 == 204)
            let added = try await control(.POST, "/rules", #"{"effect":"pass","times":3}"#)
            #expect(added.0 == 204)
            let wrong = try await control(.POST, "/rules", #"{"effect":"dance"}"#)
            #expect(wrong.0 == 400)
            #expect(wrong.1.contains("effect"))
            let listed = try await control(.GET, "/rules")
            #expect(
                listed.1
                    == #"[{"effect":"response","reason":"Unregistered","times":1},{"effect":"pass","times":3}]"#
            )
            let refused = try await provider.send()
            #expect(refused.reason == "Unregistered")
            let requests = try await control(.GET, "/requests")
            #expect(requests.1.contains(Provider.device))
            let counters = try await control(.GET, "/counters")
            #expect(counters.1.contains(#""Unregistered":1"#))
            let cleared = try await control(.DELETE, "/rules")
            #expect(cleared.0 == 204)
            #expect(provider.simulator.rules.isEmpty)
            let gone = try await control(.POST, "/goaway?reason=IdleTimeout")
            #expect(gone.0 == 204)
            await provider.simulator.wait { $0.openConnections == 0 }
            let nothing = try await control(.GET, "/")
            #expect(nothing.0 == 404)
        }
    }
}
