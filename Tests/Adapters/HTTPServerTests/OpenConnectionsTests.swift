import Formats
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import Testing

@testable import HTTPServer

/// The limits of the number of connections, and of their idle time.
@Suite struct OpenConnectionsTests {
    private static func channel() throws -> EmbeddedChannel { try channel(of: "127.0.0.1") }

    private static func channel(of address: String) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        let connection = HTTP1Connection(ScriptedResponder(), ConnectionSettings())
        connection.start = { _, _, _ in }
        try channel.pipeline.syncOperations.addHandlers(
            ReadThrottle(of: connection), ByteToMessageHandler(HTTPRequestDecoder()), connection)
        let address = try SocketAddress(ipAddress: address, port: 1)
        try channel.connect(to: address).wait()
        channel.remoteAddress = address
        return channel
    }

    /// Sends a request that a task responds to.
    private static func begin(on channel: EmbeddedChannel) throws {
        try channel.writeInbound(ByteBuffer(string: "GET /later HTTP/1.1\r\nHost: a\r\n\r\n"))
    }

    /// Stores every log line.
    private final class LogCapture: LogHandler {
        let lines = Mutex<[String]>([])
        var metadata: Logger.Metadata {
            get { [:] }
            set {}
        }
        var logLevel: Logger.Level {
            get { .trace }
            set {}
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { nil }
            set {}
        }

        func log(event: LogEvent) { lines.withLock { $0.append("\(event.level) \(event.message)") } }
    }

    @Test func connectionsBeyondLimitAreNotAcceptedAndLoggedOnce() throws {
        let log = LogCapture()
        let clock = Mutex(ContinuousClock.now)
        let connections = OpenConnections(
            maximum: 2, logger: Logger(label: "test") { _ in log }, now: { clock.withLock { $0 } })
        func warnings() -> Int {
            log.lines.withLock { $0.count { $0.hasPrefix("warning") && $0.contains("--max-connections") } }
        }
        #expect(connections.isAcceptingNewConnections())
        connections.connectionOpened()
        #expect(connections.isAcceptingNewConnections() && warnings() == 0)
        connections.connectionOpened()
        for _ in 0..<1_000 {
            #expect(!connections.isAcceptingNewConnections())
            // A connection closes, and another one is accepted.
            connections.connectionClosed()
            #expect(connections.isAcceptingNewConnections())
            connections.connectionOpened()
        }
        #expect(warnings() == 1)
        clock.withLock { $0 += .seconds(60) }
        #expect(!connections.isAcceptingNewConnections())
        #expect(warnings() == 2)
    }

    /// A proxy's connections belong to many clients.
    @Test(arguments: [false, true]) func clientMayHoldATenthOfAllConnections(isProxy: Bool) throws {
        let log = LogCapture()
        let connections = OpenConnections(
            maximum: 20, isProxy: { _ in isProxy }, logger: Logger(label: "test") { _ in log })
        let channels = try (0..<4).map { _ in try Self.channel() }
        #expect(channels.map { connections.add($0) != nil } == [true, true, isProxy, isProxy])
        #expect(log.lines.withLock { $0.count { $0.contains("its maximum share") } } == (isProxy ? 0 : 1))
        for channel in channels.prefix(3) {
            channel.close(promise: nil)
            channel.embeddedEventLoop.run()
        }
        #expect(connections.add(try Self.channel()) != nil)
        #expect(try (connections.add(Self.channel()) != nil) == isProxy)
    }

    private static func connections(maximum: Int, share: Int? = nil) -> OpenConnections {
        OpenConnections(
            maximum: maximum, share: share,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Two clients have nearly all connections. Each new connection is accepted.
    @Test func newConnectionClosesLongestIdleOnesOfLargestClient() throws {
        let connections = Self.connections(maximum: 10, share: 6)
        let (most, fewer) = (
            try (0..<5).map { _ in try Self.channel(of: "127.0.0.1") },
            try (0..<4).map { _ in try Self.channel(of: "127.0.0.2") }
        )
        let known = try most.map { try #require(connections.add($0)) }
        for channel in fewer { #expect(connections.add(channel) != nil) }
        // The first two connections have been used meanwhile.
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
        try Self.begin(on: busy)
        for number in 2..<5 { #expect(try connections.add(Self.channel(of: "127.0.0.\(number)")) != nil) }
        busy.embeddedEventLoop.run()
        #expect(busy.isActive)
        _ = try? busy.finish()
    }

    /// A full server searches only once, so it must ask more than two busy connections.
    @Test func fullServerClosesTheIdleConnectionAmongBusyOnes() throws {
        let connections = Self.connections(maximum: 10, share: 8)
        let channels = try (0..<10).map { try Self.channel(of: "127.0.0.\($0 < 8 ? 1 : $0)") }
        for channel in channels {
            connections.connectionOpened()
            #expect(connections.add(channel) != nil)
        }
        for channel in channels.dropLast() { try Self.begin(on: channel) }
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

    /// A client that sends a request every 40 seconds.
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

    @Test func openConnectionsAreClosedAtShutdown() throws {
        let connections = Self.connections(maximum: 40)
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
