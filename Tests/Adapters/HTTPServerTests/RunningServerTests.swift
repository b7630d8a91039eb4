import Foundation
import Logging
import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import Testing

@testable import HTTPServer

@Suite(.timeLimit(.minutes(10))) struct RunningServerTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs the closure with a server, and stops it.
    private func withServer(
        _ change: (inout ServerSettings) -> Void = { _ in },
        _ body: (RunningServer, ScriptedResponder) async throws -> Void
    ) async throws {
        var settings = ServerSettings()
        change(&settings)
        let responder = ScriptedResponder()
        let server = try await RunningServer.start(settings, responder, logger: Self.logger)
        do {
            try await body(server, responder)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    /// Sends bytes.
    /// - Returns: Everything that arrives until the server ends the connection.
    private func send(_ text: String, to server: RunningServer) async throws -> String {
        let client = try await Client(server.port)
        client.send(text)
        return try await client.received()
    }

    /// A connection without TLS.
    private struct Client {
        let channel: any Channel
        private let collected: EventLoopFuture<String>

        init(_ port: Int) async throws {
            let promise = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: String.self)
            collected = promise.futureResult
            do {
                channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(Collector(promise))
                        }
                    }
                    .connect(host: "127.0.0.1", port: port).get()
            } catch {
                promise.fail(error)
                throw error
            }
        }

        func send(_ text: String) { channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }
        func received() async throws -> String { try await collected.get() }
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private var bytes = ByteBuffer()
        private let promise: EventLoopPromise<String>

        init(_ promise: EventLoopPromise<String>) {
            self.promise = promise
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes.writeImmutableBuffer(unwrapInboundIn(data))
        }

        func channelInactive(context: ChannelHandlerContext) { promise.succeed(String(buffer: bytes)) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    private static func post(_ path: String, _ body: String, _ lines: String = "") -> String {
        "POST \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\(lines)\r\n\(body)"
    }

    @Test func usedPortIsNamed() async throws {
        try await withServer { server, responder in
            var settings = ServerSettings()
            settings.port = server.port
            let error = await #expect(throws: ListenFailure.self) {
                _ = try await RunningServer.start(settings, responder)
            }
            #expect(
                error?.description == "cannot listen on 127.0.0.1 port \(server.port): Address already in use"
            )
        }
    }

    @Test func longBodyIsReadByATask() async throws {
        try await withServer { server, responder in
            let body = String(repeating: "abcdefgh", count: 50_000)
            let response = try await send(Self.post("/echo", body), to: server)
            #expect(response.hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n"))
            #expect(response.hasSuffix(body))
            #expect(responder.tasks.load(ordering: .relaxed) == 1)
        }
    }

    @Test func streamedResponseIsCutAfterItsTimeLimit() async throws {
        try await withServer { server, responder in
            let response = try await send(
                "GET /endless HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", to: server)
            #expect(response.contains("\r\nTransfer-Encoding: chunked\r\n"))
            #expect(!response.hasSuffix("\r\n0\r\n\r\n"))
            while responder.worked.load(ordering: .relaxed) == 0 { await Task.yield() }
        }
    }

    /// The writer waits for the client, which reads nothing.
    @Test func unreadStreamedResponseIsCutAfterItsTimeLimit() async throws {
        try await withServer { server, responder in
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.autoRead, value: false)
                .channelOption(.socketOption(.so_rcvbuf), value: 4_096)
                .connect(host: "127.0.0.1", port: server.port).get()
            try await channel.writeAndFlush(
                ByteBuffer(string: "GET /endless HTTP/1.1\r\nHost: a\r\n\r\n"))
            while responder.worked.load(ordering: .relaxed) == 0 { await Task.yield() }
            try? await channel.close()
        }
    }

    @Test func streamedResponseIsChunked() async throws {
        try await withServer { server, _ in
            let response = try await send(
                "GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", to: server)
            #expect(response.contains("\r\nTransfer-Encoding: chunked\r\n"))
            #expect(response.components(separatedBy: "\r\n3e8\r\n").count == 9)
            #expect(response.hasSuffix("\r\n0\r\n\r\n"))
        }
    }

    @Test func responseThatFailsHalfwayHasNoEnd() async throws {
        try await withServer { server, _ in
            let response = try await send("GET /cut HTTP/1.1\r\nHost: a\r\n\r\n", to: server)
            #expect(response.contains("\r\n3e8\r\n") && !response.hasSuffix("0\r\n\r\n"))
        }
    }

    @Test func bodyOfAnotherLengthThanAnnouncedIsCut() async throws {
        try await withServer { server, _ in
            for path in ["/short", "/long"] {
                // The connection would stay open after a complete response.
                let response = try await send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n", to: server)
                let body = response.components(separatedBy: "\r\n\r\n").dropFirst().joined()
                #expect(
                    response.hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 1") && body.utf8.count == 1_000)
            }
        }
    }

    @Test func streamedBodyIsLeftOutWhereThereCanBeNone() async throws {
        try await withServer { server, _ in
            let response = try await send(
                "GET /streamed-304 HTTP/1.1\r\nHost: a\r\n\r\nGET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                to: server)
            let parts = response.components(separatedBy: "\r\n\r\n")
            #expect(
                parts.count == 3 && parts[0].hasPrefix("HTTP/1.1 304") && parts[1].hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func taskOfClosedConnectionRunsToItsEndBeforeTheDrainIsOver() async throws {
        try await withServer { server, responder in
            let client = try await Client(server.port)
            client.send("GET /work HTTP/1.1\r\nHost: a\r\n\r\n")
            while responder.tasks.load(ordering: .relaxed) == 0 { await Task.yield() }
            async let cut = server.drain(within: .zero)
            // The connection is cut.
            _ = try await client.received()
            responder.openGate()
            #expect(await cut == 1)
            #expect(responder.worked.load(ordering: .relaxed) == 1)
        }
    }

    @Test func cutResponseIsNone() async throws {
        try await withServer { server, _ in
            let response = try await send("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", to: server)
            #expect(response == "")
        }
    }

    @Test func continueIsSentWhenTheBodyIsRead() async throws {
        try await withServer { server, _ in
            let client = try await Client(server.port)
            client.send(
                "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
            )
            client.send("{}")
            let response = try await client.received()
            #expect(response.hasSuffix("{}") && response.contains("HTTP/1.1 200 OK"))
        }
    }

    @Test func drainWaitsForRequestsUnderWay() async throws {
        try await withServer { server, responder in
            async let response = send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n", to: server)
            while responder.tasks.load(ordering: .relaxed) == 0 { await Task.yield() }
            let client = try await Client(server.port)
            async let cut = server.drain(within: .seconds(600))
            // This connection has no request.
            #expect(try await client.received() == "")
            responder.openGate()
            let text = try await response
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            let count = await cut
            #expect(count == 0)
            await #expect(throws: (any Error).self) { _ = try await Client(server.port) }
        }
    }

    /// The connection may have been accepted, and not set up, when the listener closed.
    @Test func connectionThatIsSetUpDuringTheDrainIsClosed() throws {
        let connections = OpenConnections(maximum: 10, logger: Self.logger)
        let (first, second) = (EmbeddedChannel(), EmbeddedChannel())
        #expect(connections.add(first) != nil)
        connections.drainAll()
        #expect(connections.add(second) == nil)
        for channel in [first, second] { _ = try channel.finish(acceptAlreadyClosed: true) }
    }

    @Test func drainCutsWhatLastsTooLong() async throws {
        try await withServer { server, responder in
            async let response = send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n", to: server)
            while responder.tasks.load(ordering: .relaxed) == 0 { await Task.yield() }
            #expect(await server.drain(within: .zero) == 1)
            let text = try await response
            #expect(text == "")
            responder.openGate()
        }
    }

    @Test func clientHasAShareOfAllConnections() async throws {
        try await withServer({ $0.maximumConnections = 20 }) { server, responder in
            var clients: [Client] = []
            for _ in 0..<2 { clients.append(try await Client(server.port)) }
            // The server knows both connections after their requests have tasks.
            for client in clients { client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n") }
            while responder.tasks.load(ordering: .relaxed) < 2 { await Task.yield() }
            let third = try await send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n", to: server)
            #expect(third == "")
            for client in clients { #expect(client.channel.isActive) }
            responder.openGate()
        }
    }
}
