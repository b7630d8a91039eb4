import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import RateLimiting
import Tenancy
import Testing

@testable import HTTPAPI

/// The handler that stands before the library, alone: what it answers, what it passes on, what it waits for.
@Suite struct FrontHandlerTests {
    /// A connection whose library answers when the test says so.
    private final class Connection {
        let front: EmbeddedChannel
        let handler: FrontHandler
        let reads = ReadCounter()
        let api: TestAPI
        private let exchanges = ExchangeHandler()
        private let library: EmbeddedChannel

        init(limits: RequestLimits = RequestLimits(), trusting proxies: [AddressRange] = []) throws {
            api = TestAPI(limits: limits)
            let start = ContinuousClock.now
            let factory = FrontHandler.Factory(
                service: AnswerService(api.settings, api.dependencies, now: { start }),
                proxies: TrustedProxies(proxies), observer: RequestObserver(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, headTimeout: .seconds(5))
            library = EmbeddedChannel(handler: exchanges)
            handler = FrontHandler(factory, exchanges: exchanges)
            front = EmbeddedChannel()
            // Known of a connection before its handlers are.
            front.remoteAddress = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
            try front.pipeline.syncOperations.addHandlers([reads, handler, EventCapture()])
            try front.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        var hot: String {
            FrontHandlerTests.request(
                "GET /v1/locations?url=https://example.com/restaurants/restaurant_a", api)
        }

        /// - Returns: The statuses that were answered.
        func send(_ text: String) throws -> [String] {
            try front.writeInbound(ByteBuffer(string: text))
            return try answers()
        }

        func answers() throws -> [String] {
            var text = ""
            while let part = try front.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
            return text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { String($0.prefix(3)) }
        }

        func passedOn() throws -> String {
            var text = ""
            while let part = try front.readInbound(as: ByteBuffer.self) { text += String(buffer: part) }
            return text
        }

        func libraryReceives(whole: Bool = true) throws {
            let head = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/livez")
            try library.writeInbound(HTTPRequestPart.head(head))
            if whole { try library.writeInbound(HTTPRequestPart.end(nil)) }
        }

        func libraryAnswers() throws {
            try library.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
            try library.writeOutbound(HTTPResponsePart.end(nil))
        }

        func fire(_ event: any Sendable) { front.pipeline.fireUserInboundEventTriggered(event) }
        func events() throws -> [String] {
            try front.pipeline.syncOperations.handler(type: EventCapture.self).events
        }

        func set(isWritable: Bool) {
            front.isWritable = isWritable
            front.pipeline.fireChannelWritabilityChanged()
        }
    }

    private final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var count = 0
        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }

    private final class EventCapture: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        var events: [String] = []
        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            events.append("\(event)")
        }
    }

    static func request(_ line: String, _ api: TestAPI, _ fields: String = "") -> String {
        "\(line) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(api.secret.text)\r\nX-Request-ID: a\r\n\(fields)\r\n"
    }

    static let livez = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
    static let quiesce: any Sendable = ChannelShouldQuiesceEvent()

    @Test func whatItUnderstandsIsAnsweredAtOnceAndTheRestPassedOnInOrder() throws {
        let connection = try Connection()
        #expect(try connection.send(connection.hot + connection.hot) == ["200", "200"])
        #expect(try connection.send(connection.hot + Self.livez) == ["200"])
        #expect(try connection.passedOn() == Self.livez)
        try connection.libraryReceives()
        // All that comes now waits until the library has answered.
        #expect(try connection.send(connection.hot + Self.livez + connection.hot).isEmpty)
        #expect(try connection.passedOn().isEmpty)
        try connection.libraryAnswers()
        // Here the library has not received the next that is passed on, and so is not busy with it.
        #expect(try connection.answers() == ["200", "200"])
        #expect(try connection.passedOn() == Self.livez)
    }

    @Test func aRequestIsAnsweredWhereverItIsSplit() throws {
        let connection = try Connection()
        let bytes = Array(connection.hot.utf8)
        for index in 1..<bytes.count {
            try connection.front.writeInbound(ByteBuffer(bytes: bytes[..<index]))
            #expect(try connection.answers().isEmpty)
            try connection.front.writeInbound(ByteBuffer(bytes: bytes[index...]))
            #expect(try connection.answers() == ["200"])
        }
        #expect(try connection.passedOn().isEmpty)
    }

    @Test func aBodyThatIsNotThereYetIsTheLibrarys() throws {
        let connection = try Connection()
        let head = Self.request("POST /v1/payloads", connection.api, "Content-Length: 4\r\n")
        #expect(try connection.send(head + "{ ").isEmpty)
        #expect(try connection.passedOn() == head + "{ ")
        try connection.libraryReceives(whole: false)
        #expect(try connection.send(" }" + connection.hot).isEmpty)
        #expect(try connection.passedOn() == " }")
    }

    @Test func whatIsUnusualHandsTheConnectionOver() throws {
        let connection = try Connection()
        let bytes = connection.hot + "GET /livez HTTP/1.0\r\n\r\n" + connection.hot
        #expect(try connection.send(bytes) == ["200"])
        #expect(try connection.passedOn() == "GET /livez HTTP/1.0\r\n\r\n" + connection.hot)
        #expect(try connection.send(connection.hot).isEmpty)
        #expect(try connection.passedOn() == connection.hot)
    }

    /// Each look at it begins anew.
    @Test func aHeadInManyPiecesIsTheLibrarys() throws {
        let connection = try Connection()
        var passedOn = ""
        for byte in connection.hot.utf8 {
            #expect(try connection.send(String(UnicodeScalar(byte))).isEmpty)
            passedOn += try connection.passedOn()
        }
        #expect(passedOn == connection.hot)
    }

    @Test func whatWasReadIsNotKept() throws {
        let connection = try Connection()
        let hot = Array(connection.hot.utf8)
        let half = hot.count / 2
        try connection.front.writeInbound(ByteBuffer(bytes: hot[..<half]))
        for _ in 0..<2_000 {
            try connection.front.writeInbound(ByteBuffer(bytes: hot[half...] + hot[..<half]))
            #expect(try connection.answers() == ["200"])
        }
        // What is passed on shows what it is a part of.
        try connection.front.writeInbound(ByteBuffer(bytes: hot[half...] + Array("GET".utf8)))
        try connection.front.writeInbound(ByteBuffer(string: " /livez HTTP/1.1\r\nHost: a\r\n\r\n"))
        let part = try #require(try connection.front.readInbound(as: ByteBuffer.self))
        #expect(String(buffer: part) == Self.livez)
        #expect(part.storageCapacity <= 4_096)
    }

    @Test func aClientThatDoesNotReadIsNotAnsweredFurther() throws {
        let connection = try Connection()
        connection.set(isWritable: false)
        #expect(try connection.send(connection.hot + connection.hot).isEmpty)
        let reads = connection.reads.count
        connection.front.read()
        #expect(connection.reads.count == reads)
        connection.set(isWritable: true)
        #expect(try connection.answers() == ["200", "200"])
        #expect(connection.reads.count == reads + 1)
    }

    @Test func muchBehindALibrarysRequestIsNotRead() throws {
        let connection = try Connection()
        #expect(try connection.send(Self.livez).isEmpty)
        try connection.libraryReceives()
        let flood = String(repeating: connection.hot, count: 131_072 / connection.hot.utf8.count + 1)
        #expect(try connection.send(flood).isEmpty)
        let reads = connection.reads.count
        connection.front.read()
        #expect(connection.reads.count == reads)
        try connection.libraryAnswers()
        #expect(try connection.answers().count == 131_072 / connection.hot.utf8.count + 1)
        #expect(connection.reads.count == reads + 1)
    }

    @Test func readingGoesOnWhenTheLibraryTakesOver() throws {
        let connection = try Connection()
        connection.set(isWritable: false)
        #expect(try connection.send("GET / HTTP/1.0\r\n\r\n").isEmpty)
        connection.front.read()
        let reads = connection.reads.count
        connection.set(isWritable: true)
        #expect(try connection.passedOn() == "GET / HTTP/1.0\r\n\r\n")
        #expect(connection.reads.count == reads + 1)
    }

    // MARK: Time

    @Test(arguments: ["GET /v1/locations HTTP/1.1\r\nHost: a\r\n", "\r\n", "get /", "GET / HTTP/1.0\r\n"])
    func aHeadThatTricklesIsNotWaitedForLong(start: String) throws {
        let connection = try Connection()
        #expect(try connection.send(start).isEmpty)
        for _ in 0..<5 {
            connection.front.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(try connection.send("A").isEmpty)
            #expect(connection.front.isActive)
        }
        connection.front.embeddedEventLoop.advanceTime(by: .seconds(1))
        _ = try? connection.send("A")
        #expect(!connection.front.isActive)
    }

    @Test func eachHeadHasItsOwnTime() throws {
        let connection = try Connection()
        let hot = Array(connection.hot)
        for _ in 0..<4 {
            #expect(try connection.send(String(hot[..<40])).isEmpty)
            connection.front.embeddedEventLoop.advanceTime(by: .seconds(4))
            #expect(try connection.send(String(hot[40...])) == ["200"])
        }
    }

    @Test func aSilentClientIsCutOffUnlessItWaitsForTheLibrary() throws {
        let idle = IdleStateHandler.IdleStateEvent.all
        let silent = try Connection()
        silent.fire(idle)
        #expect(!silent.front.isActive)

        let waiting = try Connection()
        _ = try waiting.send(Self.livez)
        try waiting.libraryReceives()
        waiting.fire(idle)
        #expect(waiting.front.isActive)
        waiting.set(isWritable: false)
        waiting.fire(idle)
        #expect(!waiting.front.isActive, "it does not read what it waits for")

        let sending = try Connection()
        _ = try sending.send(Self.livez)
        try sending.libraryReceives(whole: false)
        sending.fire(idle)
        #expect(!sending.front.isActive)
    }

    // MARK: Ends

    @Test(arguments: [true, false])
    func theLibraryLearnsOfAnEndAfterTheRequestsBeforeIt(isQuiescing: Bool) throws {
        let connection = try Connection()
        _ = try connection.send(Self.livez)
        #expect(try connection.passedOn() == Self.livez)
        try connection.libraryReceives()
        _ = try connection.send(Self.livez + connection.hot)
        connection.fire(isQuiescing ? Self.quiesce : ChannelEvent.inputClosed)
        #expect(try connection.events().isEmpty)
        try connection.libraryAnswers()
        #expect(try connection.passedOn() == Self.livez)
        #expect(try connection.answers() == ["200"])
        #expect(try connection.events().count == 1)
    }

    @Test func halfARequestAtTheEndIsTheLibrarysToRefuse() throws {
        let connection = try Connection()
        #expect(try connection.send(connection.hot + "GET /v1") == ["200"])
        #expect(try connection.passedOn().isEmpty)
        connection.fire(ChannelEvent.inputClosed)
        #expect(try connection.passedOn() == "GET /v1")
        #expect(try connection.events().count == 1)
    }

    @Test func anIdleConnectionLearnsOfTheEndAtOnce() throws {
        let connection = try Connection()
        connection.fire(Self.quiesce)
        #expect(try connection.events().count == 1)
    }

    /// The example of RFC 9110 §5.6.7.
    @Test func whoAsksTooMuchWaitsAndSoDoesWhatIsBehind() throws {
        let once = RequestLimits(key: RateLimit(perSecond: 2, burst: 1))
        let connection = try Connection(limits: once)
        #expect(try connection.send(connection.hot + connection.hot + Self.livez) == ["200"])
        let reads = connection.reads.count
        connection.front.pipeline.read()
        #expect(connection.reads.count == reads)
        // Neither the end of the server nor of what is sent comes before the answer; nor is the client idle.
        connection.fire(Self.quiesce)
        connection.fire(IdleStateHandler.IdleStateEvent.all)
        connection.front.embeddedEventLoop.advanceTime(by: .milliseconds(999))
        #expect(try connection.answers() == [])
        #expect(try connection.passedOn() == "")
        #expect(try connection.events() == [])
        connection.front.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(try connection.answers() == ["429"])
        #expect(try connection.passedOn() == Self.livez)
        try connection.libraryReceives()
        try connection.libraryAnswers()
        #expect(try connection.events().count == 1)
        #expect(connection.reads.count == reads + 1)
    }

    @Test func whoAsksTooMuchThroughAProxyWaitsToo() throws {
        let once = RequestLimits(key: RateLimit(perSecond: 1, burst: 1))
        let connection = try Connection(limits: once, trusting: [try #require(AddressRange("127.0.0.1"))])
        #expect(try connection.send(connection.hot + connection.hot) == ["200"])
        connection.front.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(try connection.answers() == ["429"])
    }

    @Test func theDateIsWrittenAsHTTPDoes() {
        var date = HTTPDate()
        #expect(date.text(at: Date(timeIntervalSince1970: 784_111_777.9)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(date.text(at: Date(timeIntervalSince1970: 784_111_778)) == "Sun, 06 Nov 1994 08:49:38 GMT")
    }

    @Test func nothingKeepsAConnectionThatIsOver() throws {
        weak var handler: FrontHandler?
        do {
            let connection = try Connection()
            handler = connection.handler
            _ = try connection.send(connection.hot + "GET")
            _ = try connection.front.finish()
        }
        #expect(handler == nil)
    }
}
