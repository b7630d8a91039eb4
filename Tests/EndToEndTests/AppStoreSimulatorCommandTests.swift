import AppStoreConnect
import AsyncHTTPClient
import Formats
import Foundation
import NIOCore
import OutboundHTTP
import ProcessSupport
import Testing

@Suite struct AppStoreSimulatorCommandTests {
    @Test func simulatorStartsWithOneCommand() async throws {
        let directory = try TemporaryDirectory()
        let keyFile = directory.path("AuthKey.p8")
        let process = Process()
        process.executableURL = try DoorstepBinary.executable()
        process.arguments = [
            "appstore-simulator", "--port", "0", "--control-port", "0", "--format", "json",
            "--private-key", keyFile, "--fault", #"{"status":503,"times":1}"#, "--knobs",
            #"{"hourlyLimit":10}"#,
        ]
        let pipe = Pipe.makePrivate()
        process.standardOutput = pipe
        let log = ServerLog()
        pipe.fileHandleForReading.readabilityHandler = { log.append($0.availableData) }
        let (ended, continuation) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = {
            log.end()
            continuation.yield($0.terminationStatus)
            continuation.finish()
        }
        try process.start()
        defer { process.terminate() }
        try await log.line(saying: "}")
        let ready = try #require(try JSONValue(parsing: Array(log.text.utf8)).objectValue)
        func text(_ name: String) throws -> String { try #require(ready[name]?.stringValue) }
        let mode = try FileManager.default.attributesOfItem(atPath: keyFile)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        let key = try AppStoreConnectKey(
            id: try text("keyID"), issuer: nil, pem: try String(contentsOfFile: keyFile, encoding: .utf8))
        var settings = AppStoreConnectClient.Settings()
        settings.server = try text("server")
        let bundleID = try text("bundleID")
        let appID = try text("appID")
        let local = OutboundClient.Settings(allowed: ["127.0.0.0/8"].compactMap { AddressRange($0) })
        try await OutboundClient.withClient(local) { [settings] http in
            let client = AppStoreConnectClient(key, http, settings)
            await #expect(throws: AppStoreConnectError.self) { try await client.app(bundleID: bundleID) }
            let app = try await client.app(bundleID: bundleID)
            #expect(app?.id == appID)
            let clip = try await client.clipID(bundleID: bundleID + ".Clip", ofApp: appID)
            #expect(clip == ready["clipID"]?.stringValue)
            #expect(client.budget?.hourRemaining == 7)
        }

        let controlPort = try #require(ready["controlPort"]?.numberValue?.int)
        let response = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: "http://127.0.0.1:\(controlPort)/counters"), timeout: .seconds(60))
        let body = try await response.body.collect(upTo: 65_536)
        let counters = try #require(try JSONValue(parsing: body.readableBytesView).objectValue)
        #expect(counters["statuses"] == ["200": 2, "503": 1])

        process.terminate()
        for await status in ended { #expect(status == 0) }
    }

    @Test(arguments: [
        ["--fault", #"{"effect":"dance"}"#], ["--knobs", #"{"colour":1}"#], ["--knobs", "[]"],
        ["--private-key", "/dev/null"],
    ])
    func invalidOptionIsReported(_ arguments: [String]) async throws {
        let directory = try TemporaryDirectory()
        let all =
            ["appstore-simulator", "--port", "0", "--control-port", "0"] + arguments
            + (arguments.contains("--private-key") ? [] : ["--private-key", directory.path("key.p8")])
        let outcome = try await DoorstepBinary(databaseURL: "").run(all)
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains(arguments[0]))
    }
}
