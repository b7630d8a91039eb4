import AppStoreConnectSimulator
import AsyncHTTPClient
import Formats
import Foundation
import NIOCore
import NIOHTTP1
import StoreSupport
import Testing

/// The simulator as a server, on the loopback address.
@Suite(.timeLimit(.minutes(30))) struct ServerTests {
    private func ask(
        _ method: HTTPMethod, _ url: String, _ body: String? = nil, authorization: String? = nil
    ) async throws -> (status: Int, json: JSONValue) {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers.add(name: "Content-Type", value: "application/json")
        if let authorization { request.headers.add(name: "Authorization", value: authorization) }
        if let body { request.body = .bytes(Array(body.utf8)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        return (Int(response.status.code), (try? JSONValue(parsing: Array(bytes.readableBytesView))) ?? .null)
    }

    @Test func simulatorRespondsOverHTTP() async throws {
        var options = StoreFixture.options
        options.controlPort = 0
        try await AppStoreConnectSimulator.withSimulator(options) { simulator in
            let token = Desk.token(at: Date())
            let apps = try await ask(.GET, "\(simulator.host)/v1/apps", authorization: token)
            #expect(apps.status == 200)
            #expect(apps.json.objectValue?["data"]?.arrayValue?.count == 2)
            #expect(try await ask(.GET, "\(simulator.host)/v1/apps").status == 401)
            simulator.faults = [Fault(.loseReply, times: 1)]
            await #expect(throws: (any Error).self) {
                try await ask(
                    .POST, "\(simulator.host)\(Desk.images)",
                    #"{"data":{"type":"appClipAdvancedExperienceImages","attributes":{"fileName":"a","fileSize":1}}}"#,
                    authorization: token)
            }
            #expect(simulator.counters.requests["POST \(Desk.images)"] == 1)
            #expect(simulator.counters.statuses[201] == 1)
        }
    }

    @Test func simulatorIsControlledOverHTTP() async throws {
        var options = StoreFixture.options
        options.controlPort = 0
        options.knobs.hourlyLimit = 1
        try await AppStoreConnectSimulator.withSimulator(options) { simulator in
            let control = "http://127.0.0.1:\(try #require(simulator.controlPort))"
            let token = Desk.token(at: Date())
            func status() async throws -> Int {
                try await ask(.GET, "\(simulator.host)/v1/apps", authorization: token).status
            }
            #expect(try await status() == 200)
            #expect(try await status() == 429)
            #expect(try await ask(.POST, "\(control)/advance?seconds=3600").status == 204)
            #expect(try await status() == 200, "time went on, but not for the token")
            #expect(try await ask(.PATCH, "\(control)/knobs", #"{"hourlyLimit":9}"#).status == 204)
            let knobs = try await ask(.GET, "\(control)/knobs").json.objectValue
            #expect(knobs?["hourlyLimit"] == 9)
            #expect(try await ask(.PUT, "\(control)/faults", #"[{"status":500}]"#).status == 204)
            #expect(try await status() == 500)
            #expect(try await ask(.POST, "\(control)/faults", #"{"effect":"cut"}"#).status == 204)
            #expect(try await ask(.GET, "\(control)/faults").json.arrayValue?.count == 2)
            #expect(try await ask(.DELETE, "\(control)/faults").status == 204)
            #expect(try await status() == 200)
            let counters = try await ask(.GET, "\(control)/counters").json.objectValue
            #expect(counters?["overruns"] == 1)
            #expect(try await ask(.GET, "\(control)/experiences").json == [])
            #expect(try await ask(.PATCH, "\(control)/experiences/none", #"{"frozen":true}"#).status == 404)
            #expect(try await ask(.PATCH, "\(control)/knobs", #"{"none":9}"#).status == 400)
            #expect(try await ask(.POST, "\(control)/advance?seconds=-1").status == 400)
            #expect(try await ask(.GET, "\(control)/none").status == 404)
        }
    }
}
