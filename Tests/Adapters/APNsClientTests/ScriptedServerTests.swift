import APNsPayload
import Foundation
import Logging
import NIOCore
import NIOHPACK
import NIOHTTP2
import Notifications
import Testing

@testable import APNsClient

/// What must come of answers that no simulator of APNs would give.
@Suite struct ScriptedServerTests {
    /// Lends a client of a server with that script.
    private func lend(
        settings: HTTP2Settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: 10_000)],
        script: @escaping ScriptedServer.Script,
        _ body: (APNsClient, ScriptedServer) async throws -> Void
    ) async throws {
        try await ScriptedServer.lend(settings: settings, script: script) { server in
            let authorities = FileManager.default.temporaryDirectory
                .appending(path: "apns-\(UUID().uuidString).pem").path
            try server.authority.write(toFile: authorities, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: authorities) }
            var settings = APNsClient.Settings()
            settings.sandbox = APNsClient.Service(APNsClient.Address(host: "localhost", port: server.port))
            settings.authorities = authorities
            settings.connections = 1
            settings.streams = 10_000
            settings.requestTimeout = .seconds(600)
            settings.pingTimeout = .seconds(600)
            settings.firstPause = .milliseconds(10)
            let client = try APNsClient(
                settings, keys: [try SimulatedService.clientKey()], logger: RecordedLog().logger)
            do {
                try await body(client, server)
                await client.shutDown()
            } catch {
                await client.shutDown()
                throw error
            }
        }
    }

    enum Ending: CaseIterable {
        case cut, reset

        func steps(on stream: HTTP2StreamID) -> [ScriptedServer.Step] {
            switch self {
            case .cut: [.cut]
            case .reset: [.write(.rstStream(.internalError), stream)]
            }
        }

        var failure: PushFailure {
            switch self {
            case .cut: .connectionClosed
            case .reset: .streamReset
            }
        }
    }

    @Test(.timeLimit(.minutes(30)), arguments: Ending.allCases)
    func whatIsNotWrittenToItsEndIsNotSent(_ ending: Ending) async throws {
        // No window: of a request, only the head can be written.
        let settings: HTTP2Settings = [HTTP2Setting(parameter: .initialWindowSize, value: 0)]
        try await lend(settings: settings) { frame, _ in
            frame.beginsRequest ? ending.steps(on: frame.streamID) : []
        } _: { client, _ in
            let outcome = await client.send(try SimulatedService.request())
            #expect(outcome == .notSent(ending.failure))
        }
    }

    @Test(.timeLimit(.minutes(30)), arguments: Ending.allCases)
    func whatIsWrittenToItsEndIsUnanswered(_ ending: Ending) async throws {
        try await lend { frame, _ in
            frame.endsRequest ? ending.steps(on: frame.streamID) : []
        } _: { client, _ in
            let outcome = await client.send(try SimulatedService.request())
            #expect(outcome == .unanswered(ending.failure))
        }
    }

    @Test(.timeLimit(.minutes(30)), arguments: Ending.allCases)
    func whatAPNsSaysThatItTookIsTakenWhateverFollows(_ ending: Ending) async throws {
        try await lend { frame, _ in
            frame.endsRequest
                ? [.head("200", on: frame.streamID, goesOn: true)] + ending.steps(on: frame.streamID) : []
        } _: { client, _ in
            let outcome = await client.send(try SimulatedService.request())
            #expect(outcome == .answered(APNsAnswer(status: 200)))
        }
    }

    @Test(
        .timeLimit(.minutes(30)), arguments: ["", "0", "99", "abc", "1000", "99999999999999999999", "-200"])
    func whatIsNoStatusIsNoAnswer(_ status: String) async throws {
        try await lend { frame, _ in
            frame.endsRequest ? [.head(status, on: frame.streamID)] : []
        } _: { client, _ in
            let outcome = await client.send(try SimulatedService.request())
            guard case .unanswered = outcome else {
                Issue.record("\(outcome)")
                return
            }
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func longAnswersDoNotUseUpTheWindow() async throws {
        // Sixteen times the window in all.
        try await lend { frame, _ in
            frame.endsRequest
                ? [.head("200", on: frame.streamID, goesOn: true), .data(16_384, on: frame.streamID)] : []
        } _: { client, _ in
            for _ in 0..<64 {
                let outcome = await client.send(try SimulatedService.request())
                #expect(outcome.isAccepted)
            }
        }
    }
}

/// What APNs says, as it is kept: never anything that cannot be stored.
@Suite struct ResponseTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func answer(
        _ body: String, status: Int = 410, uniqueID: String? = nil
    ) -> APNsAnswer {
        var headers = HPACKHeaders()
        if let uniqueID { headers.add(name: "apns-unique-id", value: uniqueID) }
        return Response(status: status, headers: headers, body: Array(body.utf8), connection: 1)
            .answer(now: now)
    }

    @Test(arguments: [
        (#""Unregistered""#, "Unregistered"), (#""MoonInPhase7""#, "MoonInPhase7"),
        (#""""#, nil), (#""a\u0000b""#, nil), (#""two words""#, nil), (#""Grün""#, nil), ("7", nil),
        ("null", nil), ("\"\(String(repeating: "a", count: 64))\"", String(repeating: "a", count: 64)),
        ("\"\(String(repeating: "a", count: 65))\"", nil),
    ])
    func aReasonIsAWord(_ text: String, _ reason: String?) {
        let answer = answer(#"{"reason":\#(text)}"#)
        #expect(answer.status == 410)
        #expect(answer.reason?.rawValue == reason)
    }

    @Test(
        arguments: [
            ("0", 0), ("1700000000125", 1_700_000_000.125), ("1800086400000", 1_800_086_400), ("-1", nil),
            ("1800086400001", nil), ("1e300", nil), ("-1e300", nil), (#""1700000000125""#, nil),
            ("null", nil),
        ] as [(String, Double?)])
    func aTimestampIsATime(_ text: String, _ seconds: Double?) {
        let answer = answer(#"{"reason":"Unregistered","timestamp":\#(text)}"#)
        #expect(answer.reason == .unregistered)
        #expect(answer.invalidSince?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [("0A-b9", "0A-b9"), ("a\u{0}b", nil), ("", nil)])
    func aUniqueIDIsAWord(_ text: String, _ id: String?) {
        #expect(answer("", status: 200, uniqueID: text).uniqueID == id)
    }
}
