import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Logging
import NIOCore
import NIOPosix
import PropertyTesting
import ServiceLifecycle
import Synchronization
import Tenancy
import Testing

@testable import HTTPAPI

/// Compares whole connections byte by byte: of the real server, and of a server that responds to every request from a task.
@Suite struct PipelineTests {
    /// One request in bytes.
    struct Exchange: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let text: String
        var isHEAD: Bool { text.hasPrefix("HEAD") }
    }

    static let api = TestAPI()

    static func exchange(
        _ name: String, _ line: String, key: APIKey? = api.secret, _ fields: [String] = [], body: String = ""
    ) -> Exchange {
        var fields = ["Host: example.com", "X-Request-ID: \(name)"] + fields
        if let key { fields.append("Authorization: Bearer \(key.text)") }
        if !body.isEmpty, !fields.contains(where: { $0.hasPrefix("Transfer-Encoding") }) {
            fields.append("Content-Length: \(body.utf8.count)")
        }
        return Exchange(
            testDescription: name,
            text: "\(line) HTTP/1.1\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n" + body
        )
    }

    static let found = "/v1/lookup?url=https://example.com/restaurants/restaurant_a"
    static let json = "Content-Type: application/json"
    static let confirmation = """
        {"url":"https://example.com/restaurants/restaurant_a","source":"nfc","locationAccess":"allowed",\
        "coordinate":{"latitude":37.33475,"longitude":-122.0089}}
        """

    static let fromMemory: [Exchange] = [
        exchange("found", "GET \(found)"),
        exchange("not-modified", "GET \(found)", ["If-None-Match: *"]),
        exchange("does-not-match", "GET /v1/lookup?url=https://other.example"),
        exchange("no-parameter", "GET /v1/lookup?"),
        exchange("questions", "GET /v1/lookup?url=https://example.com/restaurants?a?b=/:@"),
        exchange("no-key", "GET \(found)", key: nil),
        exchange("suspended", "GET \(found)", key: api.suspended),
        exchange("no-scope", "POST /v1/payloads", key: api.publishable, [json], body: "{}"),
        exchange("confirmed", "POST /v1/confirmations", [json], body: confirmation),
        exchange("no-body", "POST /v1/confirmations", [json]),
        exchange("no-media-type", "POST /v1/confirmations", body: "{}"),
        exchange("refused", "POST /v1/payloads", [json], body: #"{"url":"https://other.example","aps":{}}"#),
        exchange("invalid-id", "GET /v1/lookup?url=%zz", ["A:  b\t"]),
    ]
    static let fromTasks: [Exchange] = [
        exchange("livez", "GET /livez"),
        exchange("head", "HEAD \(found)"),
        exchange("method", "DELETE /v1/lookup"),
        exchange("path", "GET /v1/nothing"),
        exchange("slashes", "GET //v1//lookup?url=https://example.com/restaurants/restaurant_a"),
        exchange("slash-at-the-end", "GET /v1/lookup/?url=https://example.com/restaurants/restaurant_a"),
        exchange("body-of-get", "GET \(found)", body: "abc"),
        exchange("two-keys", "GET \(found)", ["Authorization: Bearer \(api.secret.text)"]),
        exchange("too-large", "POST /v1/confirmations", [json], body: String(repeating: " ", count: 65_537)),
    ]
    static let unusual: [Exchange] = [
        exchange(
            "chunked", "POST /v1/confirmations", [json, "Transfer-Encoding: chunked"],
            body: "2\r\n{}\r\n0\r\n\r\n"),
        exchange("absolute", "GET http://example.com\(found)"),
        exchange("folded", "GET \(found)", ["A: b", " c"]),
        exchange("two-lengths", "GET \(found)", ["Content-Length: 0", "Content-Length: 0"]),
        exchange("close", "GET \(found)", ["Connection: close"]),
        exchange("proxy-close", "GET \(found)", ["Proxy-Connection: close"]),
        exchange("connect", "CONNECT /v1/lookup"),
        exchange("unknown-method", "BREW /livez"),
        exchange("long-url", "GET /v1/lookup?url=\(String(repeating: "a", count: 17_000))"),
        Exchange(testDescription: "1.0", text: "GET /livez HTTP/1.0\r\n\r\n"),
        Exchange(testDescription: "no-host", text: "GET /livez HTTP/1.1\r\n\r\n"),
        Exchange(testDescription: "line-feeds", text: "GET /livez HTTP/1.1\nHost: a\n\n"),
        Exchange(testDescription: "nonsense", text: "\u{1}"),
        Exchange(testDescription: "half-a-head", text: "GET /v1/loc"),
        Exchange(
            testDescription: "half-a-body",
            text: String(
                exchange("half", "POST /v1/confirmations", [json], body: confirmation).text.dropLast(9))),
    ]

    @Test func requestsFromMemoryMatchThoseOfTasks() async throws {
        for exchange in Self.fromMemory + Self.fromTasks + Self.unusual {
            let responses = try await Self.responses(to: [exchange])
            #expect(responses.memory == responses.tasks, "\(exchange.testDescription)")
            #expect(!responses.memory.isEmpty, "\(exchange.testDescription)")
        }
    }

    @Test(arguments: 0..<4)
    func pipelinesFromMemoryMatchThoseOfTasks(seed: Int) async throws {
        var generator = SplitMix64(seed: UInt64(seed))
        for _ in 0..<12 {
            var pipeline = (0..<generator.below(12)).map { _ in
                generator.pick(generator.oneIn(2) ? Self.fromMemory : Self.fromTasks)
            }
            // If the server refuses a request early, the client may or may not send the rest of its body. So this case is left out.
            pipeline.removeAll { $0.testDescription == "too-large" }
            pipeline.append(generator.pick(Self.fromMemory + Self.unusual))
            let responses = try await Self.responses(to: pipeline)
            #expect(responses.memory == responses.tasks, "\(pipeline.map(\.testDescription))")
            #expect(responses.memory.count >= pipeline.count - 1, "\(pipeline.map(\.testDescription))")
        }
    }

    @Test func unavailableResponseMatchesThatOfTasksWithoutLookupIndex() async throws {
        let responses = try await Self.responses(to: Self.fromMemory, api: TestAPI(hasTable: false))
        #expect(responses.memory == responses.tasks)
        #expect(responses.memory.map(\.status) == Self.fromMemory.map { _ in 503 })
    }

    @Test func logFromMemoryMatchesThatOfTasks() async throws {
        func lines(fromMemory isFromMemory: Bool) async throws -> [String] {
            let log = LogCapture()
            let logger = Logger(label: "test") { _ in log }
            try await Self.serve(Self.api, fromMemory: isFromMemory, logger: logger) { port in
                _ = try await Self.send([Self.fromMemory.map(\.text).joined()], to: port)
            }
            return log.lines.withLock { $0 }.filter { $0.contains(" answered ") }.map { line in
                line.components(separatedBy: CharacterSet(charactersIn: "[], ")).filter { !$0.isEmpty }
                    .joined(separator: " ").replacing(/"duration_us": \d+/, with: "").split(separator: " ")
                    .sorted().joined(separator: " ")
            }
        }
        let memory = try await lines(fromMemory: true)
        #expect(memory.count == Self.fromMemory.count)
        #expect(try await memory == lines(fromMemory: false))
    }

    @Test(arguments: [true, false]) func logNamesTraceThatCallerNamed(fromMemory: Bool) async throws {
        let id = "4bf92f3577b34da6a3ce929d0e0e4736"
        let valid = "traceparent: 00-\(id)-00f067aa0ba902b7-01"
        for (fields, isNamed) in [
            ([valid], true), (["Traceparent: 00-\(id)-00f067aa0ba902b7-00"], true), ([], false),
            (["traceparent: 00-\(id)-0000000000000000-01"], false), ([valid, valid], false),
        ] {
            let log = LogCapture()
            let logger = Logger(label: "test") { _ in log }
            try await Self.serve(Self.api, fromMemory: fromMemory, logger: logger) { port in
                for target in [Self.found, "/v1/nothing"] {
                    _ = try await Self.send([Self.exchange("id", "GET \(target)", fields).text], to: port)
                }
            }
            let lines = log.lines.withLock { $0 }.filter { $0.contains(" answered ") }
            #expect(lines.count == 2)
            for line in lines { #expect(line.contains("\"trace_id\": \(id)") == isNamed, "\(line)") }
        }
    }

    /// Stores read the trace context from the task.
    @Test func handlerRunsInTraceThatCallerNamed() async throws {
        let api = TestAPI()
        let traces = Mutex<[TraceContext?]>([])
        let base = api.responder
        let endpoint = Endpoint(
            .get, "/v1/probe",
            .stored(.read) { _ in
                traces.withLock { $0.append(TraceContext.current) }
                return APIResponse(.noContent)
            })
        let responder = APIResponder(
            [endpoint], base.access, base.observer, api.settings, logger: base.logger)
        let field = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        for fields in [["traceparent": field], ["traceparent": "00-x"], [:]] {
            var header: HTTPFields = [.authorization: "Bearer \(api.reader.text)"]
            for (name, value) in fields { header[try #require(HTTPField.Name(name))] = value }
            let response = await responder.respond(
                to: ServerRequest(.get, "/v1/probe", fields: header), body: ServerRequestBody())
            #expect(response.status == .noContent)
        }
        #expect(traces.withLock { $0 } == [TraceContext(traceparent: field), nil, nil])
    }

    /// The network may join the pieces again. `HTTP1ConnectionTests` controls the pieces.
    @Test func responsesAreTheSameWhereverBytesAreSplit() async throws {
        let pipeline = [
            Self.exchange("1", "GET \(Self.found)", ["If-None-Match: *"]),
            Self.exchange("2", "HEAD /livez", key: nil),
            Self.exchange("3", "POST /v1/payloads", [Self.json], body: "{}"),
            Exchange(testDescription: "4", text: "GET /a\u{1}"),
        ]
        let text = pipeline.map(\.text).joined()
        let bytes = Array(text.utf8)
        try await Self.serve(Self.api, fromMemory: true) { port in
            let whole = Self.parse(try await Self.send([text], to: port), pipeline)
            #expect(whole.map(\.status) == [304, 200, 400, 400])
            for index in 1..<bytes.count {
                let parts = [bytes[..<index], bytes[index...]].map { String(decoding: $0, as: UTF8.self) }
                let split = Self.parse(try await Self.send(parts, to: port), pipeline)
                #expect(split == whole, "at \(index)")
            }
            let single = bytes.map { String(UnicodeScalar($0)) }
            let joined = Self.parse(try await Self.send(single, to: port), pipeline)
            #expect(joined == whole)
        }
    }

    @Test func longPipelineIsAnsweredInOrderAfterClientStopsSending() async throws {
        let pipeline = (0..<3_000).map {
            Self.exchange("\($0)", "GET \($0 % 50 == 7 ? "/livez" : Self.found)")
        }
        try await Self.serve(Self.api, fromMemory: true) { port in
            let text = try await Self.send([pipeline.map(\.text).joined()], to: port)
            let ids = Self.parse(text, pipeline).map { $0.fields["x-request-id"] }
            #expect(ids == (0..<3_000).map { "\($0)" })
        }
    }

    @Test(arguments: ["", "GET", "GET \(found) HTTP/1.1\r\n", "POST /v1/payloads HTTP/1.1\r\n", "\r\n"])
    func silentConnectionIsClosed(start: String) async throws {
        try await Self.serve(Self.api, fromMemory: true, idleTimeout: .milliseconds(50)) { port in
            let response = try await Self.send([start], to: port, thenClosing: false)
            #expect(response.isEmpty)
        }
    }

    /// Tests responses from the event loop and from tasks.
    @Test(.timeLimit(.minutes(30)), arguments: [found, "/openapi.json"])
    func clientThatNeverReadsIsCutOff(target: String) async throws {
        try await Self.serve(Self.api, fromMemory: true, responseTimeout: .milliseconds(50)) { port in
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.autoRead, value: false)
                // With the default buffers, the connection would hold megabytes of responses before the server notices.
                .channelOption(.socketOption(.so_rcvbuf), value: 4_096)
                .connect(host: "127.0.0.1", port: port).get()
            let request = ByteBuffer(
                string: String(repeating: Self.exchange("a", "GET \(target)").text, count: 100))
            // Until the server closes. The responses fill the buffers long before.
            await #expect(throws: (any Error).self) {
                while true { try await channel.writeAndFlush(request) }
            }
            try? await channel.close()
        }
    }

    @Test func shutdownClosesConnectionsServedFromMemory() async throws {
        let shutdown = Mutex<Task<String, any Error>?>(nil)
        try await Self.serve(Self.api, fromMemory: true) { port in
            let answered = AsyncStream<Void>.makeStream()
            let client = Task {
                try await Self.send([Self.fromMemory[0].text], to: port, thenClosing: false) {
                    answered.continuation.finish()
                }
            }
            for await _ in answered.stream {}
            shutdown.withLock { $0 = client }
        }
        let text = try await shutdown.withLock { $0 }?.value
        #expect(text?.hasPrefix("HTTP/1.1 200 OK\r\n") == true)
    }

    // MARK: Servers and clients

    struct Message: Equatable {
        let status: Int?
        /// By lower-case name, without `date`.
        let fields: [String: String]
        let body: String
    }

    static func responses(
        to pipeline: [Exchange], api: TestAPI = api
    ) async throws -> (memory: [Message], tasks: [Message]) {
        let text = pipeline.map(\.text).joined()
        let found = Mutex<[Bool: [Message]]>([:])
        for isFromMemory in [true, false] {
            try await serve(api, fromMemory: isFromMemory) { port in
                let messages = parse(try await send([text], to: port), pipeline)
                found.withLock { $0[isFromMemory] = messages }
            }
        }
        return found.withLock { ($0[true] ?? [], $0[false] ?? []) }
    }

    static func serve(
        _ api: TestAPI, fromMemory: Bool, idleTimeout: Duration? = nil, responseTimeout: Duration? = nil,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        var settings = APIServer.Settings.forBusyMachines
        settings.port = 0
        if let idleTimeout { settings.idleTimeout = idleTimeout }
        if let responseTimeout { settings.responseTimeout = responseTimeout }
        settings.limits = RequestLimits()
        let listening = AsyncStream<Int>.makeStream()
        let onListening: @Sendable (Int) async -> Void = { listening.continuation.yield($0) }
        let service: any Service
        if fromMemory {
            service = APIServer(
                settings, api.dependencies, logger: logger, onListening: { await onListening($1) })
        } else {
            let responder = APIResponder(settings, api.dependencies, RequestObserver(), logger: logger)
            service = TaskServer(
                settings: ServerSettings(settings), responder: TaskResponder(base: responder),
                onListening: onListening)
        }
        try await run(service) {
            var ports = listening.stream.makeAsyncIterator()
            let port = try #require(await ports.next())
            do {
                try await body(port)
            } catch {
                Issue.record(error)
            }
        }
    }

    /// Responds to everything from tasks.
    private struct TaskResponder: ServerResponder {
        let base: APIResponder

        func reply(to request: ServerRequest, on connection: ConnectionMemory) -> ServerReply { .later }

        func respond(to request: ServerRequest, body: ServerRequestBody) async -> ServerResponse {
            await base.respond(to: request, body: body)
        }

        func refusal(of defect: RequestDefect) -> ServerResponse { base.refusal(of: defect) }
    }

    private struct TaskServer: Service {
        let settings: ServerSettings
        let responder: TaskResponder
        let onListening: @Sendable (Int) async -> Void

        func run() async throws {
            let server = try await RunningServer.start(settings, responder)
            await onListening(server.port)
            try? await gracefulShutdown()
            _ = await server.drain(within: .seconds(600))
        }
    }

    /// Runs a service until the closure has returned.
    static func run(_ service: any Service, until body: () async throws -> Void) async throws {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [service], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await body()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    /// Sends each part separately, and returns all bytes until the server closes the connection.
    static func send(
        _ parts: [String], then last: (@Sendable () async -> String)? = nil, to port: Int,
        thenClosing: Bool = true, onResponse: @escaping @Sendable () -> Void = {}
    ) async throws -> String {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let whole = loop.makePromise(of: ByteBuffer.self)
        let channel = try await ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(whole, onResponse))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        // A write fails if the server has already closed the connection. Its responses were sent before.
        for part in parts { try? await channel.writeAndFlush(ByteBuffer(string: part)) }
        if let last { try? await channel.writeAndFlush(ByteBuffer(string: await last())) }
        if thenClosing { try? await channel.close(mode: .output) }
        return String(buffer: try await whole.futureResult.get())
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let whole: EventLoopPromise<ByteBuffer>
        private let onResponse: @Sendable () -> Void
        private var collected = ByteBuffer()

        init(_ whole: EventLoopPromise<ByteBuffer>, _ onResponse: @escaping @Sendable () -> Void) {
            self.whole = whole
            self.onResponse = onResponse
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            collected.writeImmutableBuffer(unwrapInboundIn(data))
            onResponse()
        }

        func channelInactive(context: ChannelHandlerContext) { whole.succeed(collected) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    static func parse(_ text: String, _ pipeline: [Exchange]) -> [Message] {
        var rest = Array(text.utf8)[...]
        var messages: [Message] = []
        while let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) {
            let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self).components(
                separatedBy: "\r\n")
            var fields: [String: String] = [:]
            for line in lines.dropFirst() {
                let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
                fields[parts[0].lowercased(), default: ""] += parts.count > 1 ? parts[1] : ""
            }
            fields["date"] = fields["date"].map { _ in "" }
            let hasNoBody =
                lines[0].contains(" 304 ")
                || (messages.count < pipeline.count && pipeline[messages.count].isHEAD)
            let length = hasNoBody ? 0 : Int(fields["content-length"] ?? "0") ?? 0
            rest = rest[end.upperBound...]
            var body = String(decoding: rest.prefix(length), as: UTF8.self)
            // The ID is generated by the server.
            for id in [fields["x-request-id"]].compactMap(\.self) where id.count == 32 {
                body = body.replacing(id, with: "")
                fields["x-request-id"] = ""
            }
            messages.append(Message(status: Int(lines[0].dropFirst(9).prefix(3)), fields: fields, body: body))
            rest = rest.dropFirst(length)
        }
        if !rest.isEmpty {
            messages.append(Message(status: nil, fields: [:], body: String(decoding: rest, as: UTF8.self)))
        }
        return messages
    }
}
