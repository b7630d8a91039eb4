import APNsClient
import APNsPayload
import AsyncHTTPClient
import Formats
import Foundation
import Logging
import NIOCore
import Notifications
import ProcessSupport
import Tenancy
import Testing

@Suite struct APNsSimulatorCommandTests {
    @Test func simulatorStartsWithOneCommand() async throws {
        let directory = try TemporaryDirectory()
        let keyFile = directory.path("AuthKey.p8")
        let process = Process()
        process.executableURL = try DoorstepBinary.executable()
        process.arguments = [
            "apns-simulator", "--port", "0", "--control-port", "0", "--format", "json",
            "--ca-file", directory.path("ca.pem"), "--private-key", keyFile,
            "--rule", #"{"reason":"TooManyRequests","times":1}"#,
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
        let port = try #require(ready["port"]?.numberValue?.int)
        let controlPort = try #require(ready["controlPort"]?.numberValue?.int)
        let mode = try FileManager.default.attributesOfItem(atPath: keyFile)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        var settings = APNsClient.Settings()
        settings.sandbox = APNsClient.Service(APNsClient.Address(host: "127.0.0.1", port: port))
        settings.authorities = ready["caFile"]?.stringValue
        let team = try TeamID(try #require(ready["team"]?.stringValue))
        let keyID = try #require(ready["keyIDs"]?.arrayValue?.first?.stringValue)
        let key = try APNsKey(
            team: team, id: keyID, pem: try String(contentsOfFile: keyFile, encoding: .utf8))
        let client = try APNsClient(settings, keys: [key], logger: Logger(label: "test"))
        let request = PushRequest(
            tenant: TenantID(UUID()), team: team, environment: .sandbox,
            destination: .device(PushToken(hex: String(repeating: "0f", count: 32))!),
            headers: try NotificationHeaders(pushType: .alert, bundleID: "com.example.Coffee.Clip"),
            payload: Array(#"{"aps":{"alert":"Ready"}}"#.utf8))
        let refused = await client.send(request)
        let taken = await client.send(request)
        await client.shutDown()
        #expect(refused == .answered(APNsResponse(status: 429, reason: .tooManyRequests)))
        guard case .answered(let response) = taken else {
            Issue.record("\(taken)")
            return
        }
        #expect(response.status == 200)

        let counted = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: "http://127.0.0.1:\(controlPort)/counters"), timeout: .seconds(60))
        let body = try await counted.body.collect(upTo: 65_536)
        let counters = try #require(try JSONValue(parsing: body.readableBytesView).objectValue)
        #expect(counters["accepted"]?.numberValue?.int == 1)

        process.terminate()
        for await status in ended { #expect(status == 0) }
    }

    @Test(arguments: [
        ["--rule", #"{"effect":"dance"}"#], ["--public-key", "/dev/null", "--key-id", "KEY1234567"],
        ["--private-key", "/dev/null"], ["--ca-file", "/nowhere/ca.pem"], ["--team", "short"],
    ])
    func invalidOptionIsReported(_ arguments: [String]) async throws {
        let directory = try TemporaryDirectory()
        let all =
            ["apns-simulator", "--port", "0", "--control-port", "0"] + arguments
            + (arguments.contains("--private-key") ? [] : ["--private-key", directory.path("key.p8")])
            + (arguments.contains("--ca-file") ? [] : ["--ca-file", directory.path("ca.pem")])
        let outcome = try await DoorstepBinary(databaseURL: "").run(all)
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains(arguments[0]) || outcome.errors.contains(arguments[1]))
    }
}
