import APNsPayload
import Foundation
import Logging
import NIOCore
import NIOHPACK
import NIOHTTP2
import Notifications
import Synchronization
import Testing

@testable import APNsClient

/// The required results of responses that the simulator of APNs never sends.
@Suite struct ScriptedServerTests {
    /// Runs the closure with a client of a server with this script.
    private func lend(
        settings: HTTP2Settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: 10_000)],
        script: @escaping ScriptedServer.Script,
        clientUptime: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
        client changeSettings: (inout APNsClient.Settings) -> Void = { _ in },
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
            changeSettings(&settings)
            let client = try APNsClient(
                settings, keys: [try SimulatedService.clientKey()], logger: RecordedLog().logger,
                uptime: clientUptime)
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
    func partlyWrittenRequestIsNotSent(_ ending: Ending) async throws {
        // The window is zero, so that only the head of a request can be sent.
        let settings: HTTP2Settings = [HTTP2Setting(parameter: .initialWindowSize, value: 0)]
        try await lend(settings: settings) { frame, _ in
            frame.beginsRequest ? ending.steps(on: frame.streamID) : []
        } _: { client, _ in
            let outcome = await client.send(try SimulatedService.request())
            #expect(outcome == .notSent(ending.failure))
        }
    }

    @Test(.timeLimit(.minutes(30)), arguments: Ending.allCases)
    func fullyWrittenRequestIsUnanswered(_ ending: Ending) async throws {
        try await lend { frame, _ in
            frame.endsRequest ? ending.steps(on: frame.streamID) : []
        } _: { client, _ in
            let outcome = await client.send(try SimulatedService.request())
            #expect(outcome == .unanswered(ending.failure))
        }
    }

    @Test(.timeLimit(.minutes(30)), arguments: Ending.allCases)
    func acceptedStatusStandsWhateverFollows(_ ending: Ending) async throws {
        try await lend { frame, _ in
            frame.endsRequest
                ? [.head("200", on: frame.streamID, goesOn: true)] + ending.steps(on: frame.streamID) : []
        } _: { client, _ in
            let outcome = await client.send(try SimulatedService.request())
            #expect(outcome == .answered(APNsResponse(status: 200)))
        }
    }

    @Test(
        .timeLimit(.minutes(30)), arguments: ["", "0", "99", "abc", "1000", "99999999999999999999", "-200"])
    func invalidStatusLeavesRequestUnanswered(_ status: String) async throws {
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

    /// Responds to the first request on each connection at once, and to the others when a test says so.
    private final class Reluctance: Sendable {
        private let state = Mutex(
            (known: Set<Int>(), kept: [(connection: Int, stream: HTTP2StreamID)](), pings: 0))
        private let offset = Mutex(Duration.zero)
        private let start = ContinuousClock.now

        var uptime: ContinuousClock.Instant { start + offset.withLock { $0 } }
        var pings: Int { state.withLock { $0.pings } }
        var connections: Int { state.withLock { $0.known.count } }

        func advance(seconds: Double) { offset.withLock { $0 += .seconds(seconds) } }

        func response(_ frame: HTTP2Frame, on connection: Int) -> [ScriptedServer.Step] {
            state.withLock { state in
                if case .ping(_, ack: false) = frame.payload { state.pings += 1 }
                guard frame.endsRequest else { return [] }
                if state.known.insert(connection).inserted { return [.head("200", on: frame.streamID)] }
                state.kept.append((connection, frame.streamID))
                return []
            }
        }

        func waitUntilKept(_ count: Int) async {
            while state.withLock({ $0.kept.count < count }) { await Task.yield() }
        }

        func answerKept(at server: ScriptedServer) {
            let kept = state.withLock { state in
                defer { state.kept = [] }
                return state.kept
            }
            for (connection, stream) in kept { server.act([.head("200", on: stream)], on: connection) }
        }

        /// Makes the client open this number of idle connections. A connection may have one request at a time.
        func open(_ count: Int, by client: APNsClient, at server: ScriptedServer) async throws {
            try await withThrowingTaskGroup(of: PushOutcome.self) { group in
                for number in 1...count {
                    let outcome = await client.send(try SimulatedService.request())
                    #expect(outcome.isAccepted)
                    if number == count { break }
                    let request = try SimulatedService.request()
                    group.addTask { await client.send(request) }
                    await waitUntilKept(number)
                }
                answerKept(at: server)
                for try await outcome in group { #expect(outcome.isAccepted) }
            }
            #expect(connections == count)
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func silentlyDroppedConnectionsAreNotReused() async throws {
        let reluctance = Reluctance()
        try await lend(script: reluctance.response, clientUptime: { reluctance.uptime }) {
            $0.connections = 4
            $0.streams = 1
            $0.requestTimeout = .seconds(60)
            // The network drops the PINGs. With a limit of zero, every response would be too late anyway.
            $0.pingTimeout = .zero
        } _: { client, server in
            try await reluctance.open(3, by: client, at: server)
            reluctance.advance(seconds: 61)
            for connection in 1...3 { server.act([.stopReading], on: connection) }
            let outcome = await client.send(try SimulatedService.request())
            #expect(outcome.isAccepted)
            #expect(reluctance.connections == 4)
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func silentConnectionAnsweringPingIsReused() async throws {
        let reluctance = Reluctance()
        try await lend(script: reluctance.response, clientUptime: { reluctance.uptime }) {
            $0.connections = 4
        } _: { client, server in
            try await reluctance.open(1, by: client, at: server)
            reluctance.advance(seconds: 59)
            async let early = client.send(try SimulatedService.request())
            await reluctance.waitUntilKept(1)
            #expect(reluctance.pings == 0)
            reluctance.answerKept(at: server)
            #expect(try await early.isAccepted)
            reluctance.advance(seconds: 61)
            async let late = client.send(try SimulatedService.request())
            await reluctance.waitUntilKept(1)
            #expect(reluctance.pings == 1)
            #expect(reluctance.connections == 1)
            reluctance.answerKept(at: server)
            #expect(try await late.isAccepted)
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func timeoutTriggersTestOfOtherConnections() async throws {
        let reluctance = Reluctance()
        try await lend(script: reluctance.response, clientUptime: { reluctance.uptime }) {
            $0.connections = 2
            $0.streams = 1
            $0.requestTimeout = .seconds(60)
            $0.pingTimeout = .zero
        } _: { client, server in
            try await reluctance.open(2, by: client, at: server)
            async let lost = client.send(try SimulatedService.request())
            await reluctance.waitUntilKept(1)
            await client.expire(after: .seconds(61))
            #expect(try await lost == .unanswered(.timedOut))
            // The second connection would leave this request without a response.
            let outcome = await client.send(try SimulatedService.request())
            #expect(outcome.isAccepted)
            #expect(reluctance.connections == 3)
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func requestAlwaysMeetingGOAWAYDoesNotBlockOthers() async throws {
        let device = SimulatedService.randomHex(32)
        try await lend { frame, _ in
            if case .headers(let headers) = frame.payload,
                headers.headers.first(name: ":path")?.hasSuffix(device) == true
            {
                return [
                    .write(
                        .goAway(lastStreamID: .rootStream, errorCode: .noError, opaqueData: nil), .rootStream)
                ]
            }
            return frame.endsRequest ? [.head("200", on: frame.streamID)] : []
        } client: {
            $0.requestTimeout = .seconds(60)
        } _: { client, _ in
            let first = await client.send(try SimulatedService.request())
            #expect(first.isAccepted)
            async let unlucky = client.send(try SimulatedService.request(device: device))
            let others = try await withThrowingTaskGroup(of: PushOutcome.self) { group in
                for _ in 0..<9 {
                    let request = try SimulatedService.request()
                    group.addTask { await client.send(request) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(others.count { $0.isAccepted } == 9)
            #expect(try await unlucky == .notSent(.connectionClosed))
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func longResponsesDoNotExhaustTheWindow() async throws {
        // Sixteen times the window in total.
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

/// The stored form of APNs' responses: values that cannot be stored are removed.
@Suite struct ResponseTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let token = ProviderToken(
        keyID: "KEY1234567", authorization: "", issuedAt: Date(), issuedUptime: .now, renewalAge: 0)

    private func response(
        _ body: String, status: Int = 410, uniqueID: String? = nil
    ) -> APNsResponse {
        var headers = HPACKHeaders()
        if let uniqueID { headers.add(name: "apns-unique-id", value: uniqueID) }
        return Response(
            status: status, headers: headers, body: Array(body.utf8), connection: 1, token: Self.token
        )
        .response(now: now)
    }

    @Test(arguments: [
        (#""Unregistered""#, "Unregistered"), (#""MoonInPhase7""#, "MoonInPhase7"),
        (#""""#, nil), (#""a\u0000b""#, nil), (#""two words""#, nil), (#""Grün""#, nil), ("7", nil),
        ("null", nil), (#""PayloadTooLarge ""#, "PayloadTooLarge"), (#"" \tShutdown""#, "Shutdown"),
        ("\"\(String(repeating: "a", count: 64))\"", String(repeating: "a", count: 64)),
        ("\"\(String(repeating: "a", count: 65))\"", nil),
    ])
    func reasonMustBeAShortWord(_ text: String, _ reason: String?) {
        let response = response(#"{"reason":\#(text)}"#)
        #expect(response.status == 410)
        #expect(response.reason?.rawValue == reason)
    }

    @Test(
        arguments: [
            ("0", 0), ("1700000000125", 1_700_000_000.125), ("1800086400000", 1_800_086_400), ("-1", nil),
            ("1800086400001", nil), ("1e300", nil), ("-1e300", nil), (#""1700000000125""#, nil),
            ("null", nil),
        ] as [(String, Double?)])
    func timestampMustBeInRange(_ text: String, _ seconds: Double?) {
        let response = response(#"{"reason":"Unregistered","timestamp":\#(text)}"#)
        #expect(response.reason == .unregistered)
        #expect(response.invalidSince?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [("0A-b9", "0A-b9"), ("a\u{0}b", nil), ("", nil)])
    func uniqueIDMustBeAWord(_ text: String, _ id: String?) {
        #expect(response("", status: 200, uniqueID: text).uniqueID == id)
    }
}
