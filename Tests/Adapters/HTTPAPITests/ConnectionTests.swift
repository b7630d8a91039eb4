import HTTPTypes
import HummingbirdCore
import IPAddresses
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Synchronization
import Testing

@testable import HTTPAPI

/// How many connections there may be, and how long they may do nothing.
@Suite struct ConnectionTests {
    // MARK: Answers that nobody reads

    /// A stream whose client takes what is flushed and nothing else.
    private static func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(
            handler: HTTP2ExchangeHandler(TestAPI().responder, responseTimeout: .seconds(30)))
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        try channel.connect(to: address).wait()
        channel.remoteAddress = address
        return channel
    }

    /// Asks for what the router answers.
    private static func ask(on channel: EmbeddedChannel) throws {
        try channel.writeInbound(
            HTTPRequestPart.head(
                HTTPRequest(method: .get, scheme: "https", authority: "a", path: "/openapi.json")))
        try channel.writeInbound(HTTPRequestPart.end(nil))
    }

    private static func response(_ length: Int, on channel: EmbeddedChannel) throws {
        try ask(on: channel)
        channel.pipeline.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
        channel.pipeline.write(
            HTTPResponsePart.body(ByteBuffer(repeating: 0, count: length)), promise: nil)
        channel.pipeline.write(HTTPResponsePart.end(nil), promise: nil)
    }

    @Test func unreadResponseTimesOut() throws {
        let channel = try Self.channel()
        try Self.response(100_000, on: channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func connectionWithReadResponsesStaysOpen() throws {
        let channel = try Self.channel()
        for _ in 0..<3 {
            try Self.response(100_000, on: channel)
            channel.flush()
            channel.embeddedEventLoop.advanceTime(by: .seconds(20))
        }
        channel.embeddedEventLoop.advanceTime(by: .minutes(5))
        #expect(channel.isActive)
        // The time begins with the answer, not with the last one.
        try Self.response(1, on: channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    /// What is taken of a body gives time for the rest.
    @Test func slowReaderIsNotCutOff() throws {
        let channel = try Self.channel()
        try Self.ask(on: channel)
        for _ in 0..<5 {
            channel.pipeline.write(
                HTTPResponsePart.body(ByteBuffer(repeating: 0, count: 10)), promise: nil)
            channel.embeddedEventLoop.advanceTime(by: .seconds(20))
            channel.flush()
        }
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    @Test func longBodyIsWrittenInPieces() throws {
        let channel = try Self.channel()
        try Self.ask(on: channel)
        let body = ByteBuffer(bytes: (0..<50_000).map { UInt8(truncatingIfNeeded: $0) })
        let written = channel.eventLoop.makePromise(of: Void.self)
        channel.pipeline.writeAndFlush(HTTPResponsePart.body(body), promise: written)
        try written.futureResult.wait()
        var pieces: [ByteBuffer] = []
        while case .body(let piece)? = try channel.readOutbound(as: HTTPResponsePart.self) {
            pieces.append(piece)
        }
        #expect(pieces.count == 4)
        #expect(pieces.flatMap { Array($0.readableBytesView) } == Array(body.readableBytesView))
        _ = try channel.finish()
    }

    // MARK: How many there may be

    @Test func connectionsBeyondLimitAreNotAcceptedAndLoggedOnce() throws {
        let log = LogCapture()
        let clock = Mutex(ContinuousClock.now)
        let connections = OpenConnections(
            maximum: 2, proxies: TrustedProxies([]), logger: Logger(label: "test") { _ in log }
        ) { clock.withLock { $0 } }
        func warnings() -> Int {
            log.lines.withLock { $0.count { $0.hasPrefix("warning") && $0.contains("--max-connections") } }
        }
        #expect(connections.isAcceptingNewConnections())
        connections.connectionOpened()
        #expect(connections.isAcceptingNewConnections() && warnings() == 0)
        connections.connectionOpened()
        for _ in 0..<1_000 {
            #expect(!connections.isAcceptingNewConnections())
            // One goes, another comes.
            connections.connectionClosed()
            #expect(connections.isAcceptingNewConnections())
            connections.connectionOpened()
        }
        #expect(warnings() == 1)
        clock.withLock { $0 += .seconds(60) }
        #expect(!connections.isAcceptingNewConnections())
        #expect(warnings() == 2)
    }

    /// A proxy's connections are many clients'.
    @Test(arguments: [false, true]) func clientMayHoldATenthOfAllConnections(isProxy: Bool) throws {
        let log = LogCapture()
        let proxies = isProxy ? ["127.0.0.1/32"].compactMap { AddressRange($0) } : []
        let connections = OpenConnections(
            maximum: 20, proxies: TrustedProxies(proxies), logger: Logger(label: "test") { _ in log })
        let channels = try (0..<4).map { _ in try Self.channel() }
        #expect(channels.map { connections.add($0) != nil } == [true, true, isProxy, isProxy])
        #expect(log.lines.withLock { $0.count { $0.contains("its share") } } == (isProxy ? 0 : 1))
        for channel in channels.prefix(3) {
            channel.close(promise: nil)
            channel.embeddedEventLoop.run()
        }
        #expect(connections.add(try Self.channel()) != nil)
        #expect(try (connections.add(Self.channel()) != nil) == isProxy)
    }

    private static func connections(maximum: Int, share: Int? = nil) -> OpenConnections {
        OpenConnections(
            maximum: maximum, share: share, proxies: TrustedProxies([]),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func channel(of address: String) throws -> EmbeddedChannel {
        let channel = try channel()
        channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
        return channel
    }

    /// Two clients hold nearly all connections, and each newcomer gets one.
    @Test func newConnectionClosesLongestIdleOnesOfLargestClient() throws {
        let connections = Self.connections(maximum: 10, share: 6)
        let (most, fewer) = (
            try (0..<5).map { _ in try Self.channel(of: "127.0.0.1") },
            try (0..<4).map { _ in try Self.channel(of: "127.0.0.2") }
        )
        let known = try most.map { try #require(connections.add($0)) }
        for channel in fewer { #expect(connections.add(channel) != nil) }
        // The first two have read since.
        for connection in known.prefix(2) { connection.hasRead() }
        let newcomer = try Self.channel(of: "127.0.0.3")
        #expect(connections.add(newcomer) != nil)
        for channel in most + fewer + [newcomer] { channel.embeddedEventLoop.run() }
        #expect(most.map(\.isActive) == [true, true, false, false, true])
        #expect(fewer.allSatisfy(\.isActive) && newcomer.isActive)
    }

    @Test func connectionWithActiveRequestStaysOpen() throws {
        let connections = Self.connections(maximum: 1)
        let busy = try Self.channel(of: "127.0.0.1")
        #expect(connections.add(busy) != nil)
        try Self.ask(on: busy)
        for number in 2..<5 { #expect(try connections.add(Self.channel(of: "127.0.0.\(number)")) != nil) }
        busy.embeddedEventLoop.run()
        #expect(busy.isActive)
        _ = try? busy.finish()
    }

    /// Nobody asks again while the server is full, so that two busy connections must not be the only ones that are asked.
    @Test func fullServerClosesTheIdleConnectionAmongBusyOnes() throws {
        let connections = Self.connections(maximum: 10, share: 8)
        let channels = try (0..<10).map { try Self.channel(of: "127.0.0.\($0 < 8 ? 1 : $0)") }
        for channel in channels {
            connections.connectionOpened()
            #expect(connections.add(channel) != nil)
        }
        for channel in channels.dropLast() { try Self.ask(on: channel) }
        #expect(!connections.isAcceptingNewConnections())
        for channel in channels { channel.embeddedEventLoop.run() }
        #expect(channels.map(\.isActive) == (0..<10).map { $0 < 9 })
        for channel in channels { _ = try? channel.finish(acceptAlreadyClosed: true) }
    }

    @Test func fullServerClosesIdleConnectionsForWaitingOnes() throws {
        let connections = Self.connections(maximum: 2, share: 2)
        let channels = try (0..<2).map { _ in try Self.channel(of: "127.0.0.1") }
        for channel in channels {
            connections.connectionOpened()
            _ = connections.add(channel)
        }
        #expect(!connections.isAcceptingNewConnections())
        for channel in channels { channel.embeddedEventLoop.run() }
        #expect(channels.allSatisfy { !$0.isActive })
    }

    @Test func idleTimeShrinksWithOccupancy() {
        let connections = Self.connections(maximum: 10)
        var seconds: [Int64] = []
        for _ in 0...10 {
            seconds.append(connections.idleTime(of: .seconds(60)).nanoseconds / 1_000_000_000)
            connections.connectionOpened()
        }
        #expect(seconds == [60, 60, 60, 60, 60, 60, 49, 38, 27, 16, 6])
    }

    /// As a client that sends a request every 40 seconds.
    @Test func idleConnectionUsesTheCurrentIdleTime() throws {
        let time = Mutex(TimeAmount.seconds(60))
        let loop = EmbeddedEventLoop()
        let timeout = ReadTimeout(.seconds(60))
        var reached = 0
        timeout.begin(on: loop, now: { time.withLock { $0 } }) { reached += 1 }
        loop.advanceTime(by: .seconds(59))
        timeout.hasRead(at: loop.now)
        #expect(reached == 0)
        time.withLock { $0 = .seconds(6) }
        loop.advanceTime(by: .seconds(5))
        #expect(reached == 0)
        loop.advanceTime(by: .seconds(7))
        #expect(reached > 0)
        timeout.end()
    }

    // MARK: HTTP/2 without streams

    @Test func connectionWithoutStreamsIsClosed() throws {
        let handler = StreamDeadlineHandler(.seconds(70))
        let channel = EmbeddedChannel(handler: handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let loop = channel.embeddedEventLoop
        loop.advanceTime(by: .seconds(60))
        handler.change(by: 1)
        handler.change(by: 1)
        loop.advanceTime(by: .hours(1))
        handler.change(by: -1)
        loop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        handler.change(by: -1)
        // Whatever comes meanwhile.
        for _ in 0..<69 {
            channel.pipeline.fireChannelRead(ByteBuffer())
            loop.advanceTime(by: .seconds(1))
        }
        #expect(channel.isActive)
        loop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func connectionWithoutStreamsIsClosedSoonerIfManyAreOpen() throws {
        let handler = StreamDeadlineHandler(.seconds(70), now: { .seconds(6) })
        let channel = EmbeddedChannel(handler: handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        handler.change(by: 1)
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        handler.change(by: -1)
        channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(8))
        #expect(!channel.isActive)
    }

    // MARK: TLS on which nothing moves

    @Test func silentConnectionIsClosed() throws {
        let channel = EmbeddedChannel(handler: SilenceHandler(.seconds(80)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let loop = channel.embeddedEventLoop
        // Either direction is enough.
        for number in 0..<20 {
            loop.advanceTime(by: .seconds(79))
            if number % 2 == 0 {
                channel.pipeline.fireChannelRead(ByteBuffer())
            } else {
                channel.write(ByteBuffer(), promise: nil)
            }
        }
        loop.advanceTime(by: .seconds(79))
        #expect(channel.isActive)
        // A quarter more at most.
        loop.advanceTime(by: .seconds(21))
        #expect(!channel.isActive)
    }

    @Test func openConnectionsAreClosedAtShutdown() throws {
        let connections = OpenConnections(
            maximum: 40, proxies: TrustedProxies([]),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let channels = try (0..<2).map { _ in try Self.channel() }
        for channel in channels { #expect(connections.add(channel) != nil) }
        channels[0].close(promise: nil)
        channels[0].embeddedEventLoop.run()
        #expect(connections.cutAll() == 1)
        channels[1].embeddedEventLoop.run()
        #expect(!channels[1].isActive)
        #expect(connections.cutAll() == 0)
    }
}
