import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import Synchronization
import Testing

@testable import HTTPServer

@Suite struct HTTP2ConnectionTests {
    /// The server's and the client's ends of a connection. The test moves the bytes.
    private final class Connection {
        let server = EmbeddedChannel()
        let client = EmbeddedChannel()
        let responder = ScriptedResponder()
        private var nextStream = 1
        /// The frames that the client has received.
        private(set) var frames: [HTTP2Frame] = []

        init(window: Int = 65_535) throws {
            let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
            server.remoteAddress = address
            var settings = ConnectionSettings()
            settings.server = "Test"
            try RunningServer.configureHTTP2(server, responder, settings)
            try client.pipeline.syncOperations.addHandler(
                NIOHTTP2Handler(
                    mode: .client,
                    initialSettings: [HTTP2Setting(parameter: .initialWindowSize, value: window)]))
            try client.connect(to: address).wait()
            try server.connect(to: address).wait()
            try pump()
        }

        deinit {
            _ = try? client.finish(acceptAlreadyClosed: true)
            _ = try? server.finish(acceptAlreadyClosed: true)
        }

        /// Moves bytes in both directions until none are left.
        func pump() throws {
            var hasMoved = true
            while hasMoved {
                hasMoved = false
                server.embeddedEventLoop.run()
                while let bytes = try? client.readOutbound(as: IOData.self) {
                    guard case .byteBuffer(let bytes) = bytes, server.isActive else { continue }
                    hasMoved = true
                    _ = try? server.writeInbound(bytes)
                }
                while let bytes = try? server.readOutbound(as: IOData.self) {
                    guard case .byteBuffer(let bytes) = bytes else { continue }
                    hasMoved = true
                    _ = try? client.writeInbound(bytes)
                }
                while let frame = try? client.readInbound(as: HTTP2Frame.self) { frames.append(frame) }
            }
        }

        @discardableResult
        func request(
            _ path: String, method: String = "GET", authority: String? = "a", endStream: Bool = true,
            _ fields: (String, String)...
        ) throws -> HTTP2StreamID {
            let id = HTTP2StreamID(nextStream)
            nextStream += 2
            let headers = HPACKHeaders(
                [(":method", method), (":scheme", "https"), (":path", path)]
                    + (authority.map { [(":authority", $0)] } ?? []) + fields)
            write(id, .headers(.init(headers: headers, endStream: endStream)))
            return id
        }

        func write(_ id: HTTP2StreamID, _ payload: HTTP2Frame.FramePayload) {
            client.writeAndFlush(HTTP2Frame(streamID: id, payload: payload), promise: nil)
        }

        /// Sends bytes without the client's own checks.
        func send(raw bytes: [UInt8]) throws {
            _ = try? server.writeInbound(ByteBuffer(bytes: bytes))
            try pump()
        }

        func advance(by time: TimeAmount) throws {
            server.embeddedEventLoop.advanceTime(by: time)
            try pump()
        }

        var statuses: [String] {
            frames.compactMap { frame in
                guard case .headers(let headers) = frame.payload else { return nil }
                return headers.headers.first(name: ":status")
            }
        }

        /// The number of bytes of bodies that have arrived.
        var bodyLength: Int {
            frames.reduce(0) { length, frame in
                guard case .data(let data) = frame.payload else { return length }
                return length + data.data.readableBytes
            }
        }

        var goAways: [NIOHTTP2.HTTP2ErrorCode] {
            frames.compactMap { frame in
                guard case .goAway(_, let code, _) = frame.payload else { return nil }
                return code
            }
        }

        var resets: [NIOHTTP2.HTTP2ErrorCode] {
            frames.compactMap { frame in
                guard case .rstStream(let code) = frame.payload else { return nil }
                return code
            }
        }
    }

    // MARK: Requests

    @Test func requestsAreAnsweredOnTheEventLoop() throws {
        let connection = try Connection()
        for number in 0..<100 { try connection.request("/now?\(number)", ("x-request-id", "\(number)")) }
        try connection.pump()
        #expect(connection.statuses == Array(repeating: "200", count: 100))
        #expect(connection.responder.tasks.load(ordering: .relaxed) == 0)
        guard
            case .headers(let headers)? = connection.frames.last(where: {
                if case .headers = $0.payload { true } else { false }
            })?.payload
        else { return }
        #expect(headers.headers.first(name: "content-length") == "0")
        #expect(headers.headers.first(name: "server") == "Test")
        #expect(headers.headers.first(name: "date") != nil)
        #expect(headers.headers.first(name: "x-request-id") == "99")
        #expect(headers.endStream)
    }

    @Test func bodyIsGivenToTheResponder() throws {
        let connection = try Connection()
        let id = try connection.request("/now", method: "POST", endStream: false)
        connection.write(id, .data(.init(data: .byteBuffer(ByteBuffer(string: "abc")), endStream: true)))
        // For the server, all arrive in one read.
        var bytes = ByteBuffer()
        while case .byteBuffer(var piece)? = try connection.client.readOutbound(as: IOData.self) {
            bytes.writeBuffer(&piece)
        }
        _ = try connection.server.writeInbound(bytes)
        try connection.pump()
        #expect(connection.statuses == ["200"])
        let data = connection.frames.compactMap { frame -> String? in
            guard case .data(let data) = frame.payload, case .byteBuffer(let bytes) = data.data else {
                return nil
            }
            return String(buffer: bytes)
        }
        #expect(data == ["abc"])
    }

    @Test func contradictingHostIsRefused() throws {
        let connection = try Connection()
        try connection.request("/now", ("host", "b"))
        try connection.request("/now", ("host", "A:443"))
        try connection.pump()
        #expect(connection.statuses == ["400", "200"])
    }

    @Test func requestWithoutAnyHostIsRefused() throws {
        let connection = try Connection()
        try connection.request("/now", authority: nil)
        try connection.request("/now", authority: nil, ("host", "a"))
        try connection.pump()
        #expect(connection.statuses == ["400", "200"])
    }

    @Test func notModifiedHasNoBody() throws {
        let connection = try Connection()
        try connection.request("/not-modified")
        try connection.pump()
        #expect(connection.statuses == ["304"])
        #expect(!connection.frames.contains { if case .data = $0.payload { true } else { false } })
    }

    @Test func delayedResponseDelaysItsStreamAlone() throws {
        let connection = try Connection()
        try connection.request("/delayed")
        try connection.request("/now")
        try connection.pump()
        #expect(connection.statuses == ["200"])
        try connection.advance(by: .seconds(1))
        #expect(connection.statuses == ["200", "429"])
    }

    @Test func unreadBodyIsHeldBackByItsWindow() throws {
        let connection = try Connection()
        let server = try connection.server.pipeline.syncOperations.handler(type: HTTP2Connection.self)
        var bodies: [ServerRequestBody] = []
        server.start = { _, body, _ in bodies.append(body) }
        let counter = DataCounter()
        try connection.server.pipeline.syncOperations.addHandler(counter, position: .before(server))
        let id = try connection.request("/later", method: "POST", endStream: false)
        try connection.pump()
        #expect(bodies.count == 1)
        for _ in 0..<64 {
            connection.write(id, .data(.init(data: .byteBuffer(ByteBuffer(repeating: 1, count: 16_384)))))
        }
        try connection.pump()
        // Eight pieces wait for the reader, and one window is in transit.
        #expect(counter.bytes > 65_535 && counter.bytes <= 8 * 16_384 + 65_535)
        #expect(connection.server.isActive)
        // The reader is slow, not the client.
        try connection.advance(by: .minutes(5))
        #expect(connection.resets.isEmpty)
    }

    @Test func bodyThatPausesIsReset() throws {
        let connection = try Connection()
        let server = try connection.server.pipeline.syncOperations.handler(type: HTTP2Connection.self)
        server.start = { _, _, _ in }
        let id = try connection.request("/later", method: "POST", endStream: false)
        connection.write(id, .data(.init(data: .byteBuffer(ByteBuffer(repeating: 1, count: 100)))))
        try connection.pump()
        try connection.advance(by: .seconds(59))
        #expect(connection.resets.isEmpty)
        try connection.advance(by: .seconds(16))
        #expect(connection.resets == [.cancel])
    }

    @Test func restOfAnsweredBodyIsReadForAWhile() throws {
        let connection = try Connection()
        let server = try connection.server.pipeline.syncOperations.handler(type: HTTP2Connection.self)
        server.start = { _, _, _ in }
        let id = try connection.request("/later", method: "POST", endStream: false)
        try connection.pump()
        server.respond(with: ServerResponse(.forbidden), id)
        try connection.pump()
        #expect(connection.statuses == ["403"] && connection.resets.isEmpty)
        try connection.advance(by: .seconds(2))
        #expect(connection.resets == [.noError])
    }

    private final class DataCounter: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame
        var bytes = 0
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .data(let piece) = unwrapInboundIn(data).payload { bytes += piece.data.readableBytes }
            context.fireChannelRead(data)
        }
    }

    // MARK: Abuse

    /// CVE-2023-44487.
    @Test func rapidResetsEndTheConnection() throws {
        let connection = try Connection()
        for _ in 0..<1_000 {
            let id = try connection.request("/delayed")
            connection.write(id, .rstStream(.cancel))
            try connection.pump()
        }
        #expect(!connection.server.isActive)
        #expect(connection.goAways.first == .enhanceYourCalm)
        #expect(connection.responder.replies.load(ordering: .relaxed) <= 201)
    }

    @Test(
        arguments: [[0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 0, 0, 4, 0, 0, 0, 0, 0]]
            as [[UInt8]])
    func controlFrameFloodEndsTheConnection(frame: [UInt8]) throws {
        let connection = try Connection()
        var count = 0
        while connection.server.isActive, count < 1_000 {
            try connection.send(raw: frame)
            count += 1
        }
        #expect(!connection.server.isActive)
        #expect(count <= 201)
        #expect(connection.goAways.first == .enhanceYourCalm)
    }

    /// CVE-2024-27316.
    @Test func continuationFloodEndsTheConnection() throws {
        let connection = try Connection()
        // HEADERS on stream 1 without END_HEADERS.
        try connection.send(raw: [0, 0, 1, 1, 1, 0, 0, 0, 1, 0x82])
        var count = 0
        while connection.server.isActive, count < 100 {
            try connection.send(raw: [0, 0, 1, 9, 0, 0, 0, 0, 1, 0x84])
            count += 1
        }
        #expect(!connection.server.isActive)
        #expect(count <= 6)
    }

    @Test func emptyDataFloodEndsTheConnection() throws {
        let connection = try Connection()
        let id = try connection.request("/now", method: "POST", endStream: false)
        // A task would respond to the head alone, so the first piece comes with it.
        var count = 0
        connection.write(id, .data(.init(data: .byteBuffer(ByteBuffer(string: "a")))))
        while connection.server.isActive, count < 100 {
            connection.write(id, .data(.init(data: .byteBuffer(ByteBuffer()))))
            count += 1
            if count == 10 { try pumpAtOnce(connection) }
        }
        #expect(!connection.server.isActive)
        #expect(count <= 10)
    }

    private func pumpAtOnce(_ connection: Connection) throws {
        var bytes = ByteBuffer()
        while case .byteBuffer(var piece)? = try connection.client.readOutbound(as: IOData.self) {
            bytes.writeBuffer(&piece)
        }
        _ = try? connection.server.writeInbound(bytes)
    }

    /// The client never opens its windows.
    @Test func streamWithoutWindowIsReset() throws {
        let connection = try Connection(window: 0)
        for number in 0..<100 {
            let id = try connection.request(
                "/now", method: "POST", endStream: false, ("x-request-id", "\(number)"))
            connection.write(id, .data(.init(data: .byteBuffer(ByteBuffer(string: "abc")), endStream: true)))
        }
        try pumpAtOnce(connection)
        try connection.pump()
        #expect(connection.statuses.count == 100)
        #expect(connection.resets.isEmpty)
        try connection.advance(by: .seconds(22))
        #expect(connection.resets.isEmpty)
        try connection.advance(by: .seconds(16))
        #expect(connection.resets == Array(repeating: .cancel, count: 100))
        // Other requests can use the connection.
        try connection.request("/now")
        try connection.pump()
        #expect(connection.statuses.count == 101)
    }

    /// The memory for responses that a client does not read is limited, for any number of streams.
    @Test func requestsWaitWhileResponsesAreHeld() throws {
        let connection = try Connection(window: 0)
        for _ in 0..<50 { try connection.request("/big") }
        try connection.pump()
        #expect(connection.statuses.count == HTTP2Connection.heldLength / 65_536)
        // Room appears when streams with closed windows end.
        try connection.advance(by: .seconds(38))
        #expect(connection.resets.count == 16 && connection.statuses.count == 32)
        // Room also appears when the client opens its windows.
        connection.write(.rootStream, .windowUpdate(windowSizeIncrement: 1 << 24))
        for number in 0..<50 {
            connection.write(
                HTTP2StreamID(1 + 2 * number), .windowUpdate(windowSizeIncrement: 1 << 17))
            try connection.pump()
        }
        #expect(connection.statuses.count == 50 && connection.bodyLength == 34 * 65_536)
    }

    @Test func heldResponsesOfTasksAreLimited() throws {
        let connection = try Connection(window: 0)
        let server = try connection.server.pipeline.syncOperations.handler(type: HTTP2Connection.self)
        var ids: [HTTP2StreamID] = []
        server.start = { _, _, id in ids.append(id) }
        for _ in 0..<20 { try connection.request("/later") }
        try connection.pump()
        for id in ids {
            server.respond(
                with: ServerResponse(.ok, body: .buffer(ByteBuffer(repeating: 1, count: 1 << 20))), id)
        }
        try connection.pump()
        #expect(connection.statuses.count == HTTP2Connection.maximumHeldLength >> 20)
        #expect(connection.resets == Array(repeating: .enhanceYourCalm, count: 4))
        // A later request waits for room.
        try connection.request("/later")
        try connection.pump()
        #expect(ids.count == 20)
        try connection.advance(by: .seconds(38))
        #expect(ids.count == 21)
    }

    @Test func slowlyStreamedResponseIsNotReset() throws {
        let connection = try Connection()
        let server = try connection.server.pipeline.syncOperations.handler(type: HTTP2Connection.self)
        server.start = { _, _, _ in }
        let id = try connection.request("/later")
        try connection.pump()
        server.respond(
            with: ServerResponse(.ok, body: .stream(length: nil) { _ in }), id)
        try connection.advance(by: .minutes(5))
        #expect(connection.statuses == ["200"] && connection.resets.isEmpty)
        // A response that the client does not read is reset.
        let promise = connection.server.eventLoop.makePromise(of: Void.self)
        server.write(ByteBuffer(repeating: 1, count: 70_000), promise, id)
        try connection.pump()
        try connection.advance(by: .seconds(38))
        #expect(connection.resets == [.cancel])
    }

    @Test func clientThatTakesNoBytesIsCut() throws {
        let connection = try Connection()
        connection.server.isWritable = false
        connection.server.pipeline.fireChannelWritabilityChanged()
        try connection.advance(by: .seconds(29))
        #expect(connection.server.isActive)
        try connection.advance(by: .seconds(9))
        #expect(!connection.server.isActive)
    }

    @Test func invalidFrameEndsTheConnection() throws {
        let connection = try Connection()
        // DATA on stream 0.
        try connection.send(raw: [0, 0, 1, 0, 0, 0, 0, 0, 0, 1])
        #expect(!connection.server.isActive)
        #expect(connection.goAways.first == .protocolError)
    }

    // MARK: Ends

    @Test func idleConnectionIsClosedWithGoAway() throws {
        let connection = try Connection()
        try connection.advance(by: .seconds(30))
        try connection.request("/now")
        try connection.pump()
        try connection.advance(by: .seconds(59))
        #expect(connection.server.isActive)
        try connection.advance(by: .seconds(1))
        #expect(!connection.server.isActive)
        #expect(connection.goAways == [.noError])
    }

    @Test func drainAnswersRequestsUnderWayAndNoOthers() throws {
        let connection = try Connection()
        try connection.request("/delayed")
        try connection.pump()
        connection.server.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        // The client does not know of the end yet, and may repeat its request on another connection.
        try connection.request("/now")
        try connection.pump()
        #expect(connection.statuses.isEmpty)
        #expect(connection.goAways == [.noError])
        #expect(connection.server.isActive)
        try connection.advance(by: .seconds(1))
        #expect(connection.statuses == ["429"])
        #expect(!connection.server.isActive)
    }

    @Test func lastResponseOfADrainIsWhole() throws {
        let connection = try Connection()
        let server = try connection.server.pipeline.syncOperations.handler(type: HTTP2Connection.self)
        var ids: [HTTP2StreamID] = []
        server.start = { _, _, id in ids.append(id) }
        try connection.request("/later")
        try connection.pump()
        connection.server.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        server.respond(
            with: ServerResponse(.ok, body: .buffer(ByteBuffer(repeating: 1, count: 20_000))),
            try #require(ids.first))
        try connection.pump()
        #expect(connection.bodyLength == 20_000 && connection.resets.isEmpty)
        #expect(!connection.server.isActive)
    }

    @Test func idleConnectionEndsAtOnceForRoom() throws {
        let connection = try Connection()
        connection.server.pipeline.fireUserInboundEventTriggered(RoomIsWanted())
        try connection.pump()
        #expect(!connection.server.isActive)
        #expect(connection.goAways == [.noError])
    }

    @Test(arguments: [nil, 100] as [Int?])
    func connectionThatDiscardsTheRestOfBodiesMakesRoom(length: Int?) throws {
        let connection = try Connection()
        let server = try connection.server.pipeline.syncOperations.handler(type: HTTP2Connection.self)
        server.start = { _, _, _ in }
        func wantRoom() throws {
            connection.server.pipeline.fireUserInboundEventTriggered(RoomIsWanted())
            try connection.pump()
        }
        let ids = try (0..<2).map { _ in
            try connection.request("/later", method: "POST", endStream: false)
        }
        try connection.pump()
        for id in ids {
            try wantRoom()
            #expect(connection.server.isActive && connection.goAways.isEmpty)
            let body = length.map { ServerResponse.Body.buffer(ByteBuffer(repeating: 1, count: $0)) }
            server.respond(with: ServerResponse(.forbidden, body: body ?? .empty), id)
            try connection.pump()
        }
        #expect(connection.statuses == ["403", "403"] && connection.server.isActive)
        try wantRoom()
        #expect(!connection.server.isActive)
        #expect(connection.goAways == [.noError])
    }

    @Test func unreadResponseBeforeTheRestOfABodyIsKept() throws {
        let connection = try Connection(window: 10)
        let server = try connection.server.pipeline.syncOperations.handler(type: HTTP2Connection.self)
        server.start = { _, _, _ in }
        let id = try connection.request("/later", method: "POST", endStream: false)
        try connection.pump()
        server.respond(
            with: ServerResponse(.forbidden, body: .buffer(ByteBuffer(repeating: 1, count: 20))), id)
        try connection.pump()
        #expect(connection.bodyLength == 10)
        connection.server.pipeline.fireUserInboundEventTriggered(RoomIsWanted())
        try connection.pump()
        #expect(connection.server.isActive && connection.goAways.isEmpty)
        connection.write(id, .windowUpdate(windowSizeIncrement: 10))
        try connection.pump()
        #expect(connection.bodyLength == 20)
        connection.server.pipeline.fireUserInboundEventTriggered(RoomIsWanted())
        try connection.pump()
        #expect(!connection.server.isActive)
    }

    /// A request may be in transit, so the client must be able to read the GOAWAY.
    @Test func idleConnectionLingersAfterItsGoodbyeOnDrain() throws {
        let connection = try Connection()
        let closes = CloseRecorder()
        try connection.server.pipeline.syncOperations.addHandler(closes, position: .first)
        connection.server.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        try connection.pump()
        #expect(connection.goAways == [.noError])
        #expect(closes.modes == [.output] && connection.server.isActive)
        connection.server.embeddedEventLoop.advanceTime(by: HTTP1Connection.discardingTime)
        #expect(closes.modes == [.output, .all] && !connection.server.isActive)
    }
}
