import Foundation
import HTTPTypes
import IPAddresses
import Logging
import Lookups
import LookupsSupport
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import RateLimiting
import Tenancy
import Testing

@testable import HTTPAPI

/// The handler that stands before the router, behind the library's decoder: what it answers, what it passes on, what it
/// waits for.
@Suite struct ExchangeHandlerTests {
    /// A connection whose router answers when the test says so.
    private final class Connection {
        let channel = EmbeddedChannel()
        let handler: HTTP1ExchangeHandler
        let reads = ReadCounter()
        let decoded = PartCounter()
        let api: TestAPI

        init(
            limits: RequestLimits = RequestLimits(), trusting proxies: [AddressRange] = [],
            idleTimeoutNow: (@Sendable () -> TimeAmount)? = nil
        ) throws {
            api = TestAPI(limits: limits)
            handler = HTTP1ExchangeHandler(
                ExchangeHandlerTests.responder(api, trusting: proxies), responseTimeout: .seconds(30),
                idleTimeout: .seconds(60), idleTimeoutNow: idleTimeoutNow)
            // Known of a connection before its handlers are.
            channel.remoteAddress = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
            try channel.pipeline.syncOperations.addHandlers([
                reads, ReadThrottle(of: handler.exchanges), ByteToMessageHandler(HTTPRequestDecoder()),
                decoded,
                handler,
            ])
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        var hot: String {
            ExchangeHandlerTests.request(
                "GET /v1/lookup?url=https://example.com/restaurants/restaurant_a", api)
        }

        /// - Returns: The statuses that were answered.
        func send(_ text: String) throws -> [String] {
            try channel.writeInbound(ByteBuffer(string: text))
            return try responses()
        }

        func responses() throws -> [String] { try response().map { String($0.prefix(3)) } }

        func response() throws -> [String] {
            var text = ""
            while let part = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
            return Array(text.components(separatedBy: "HTTP/1.1 ").dropFirst())
        }

        /// What the router got: targets, bodies, and `.` for an end.
        func passedOn() throws -> [String] {
            var parts: [String] = []
            while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
                switch part {
                case .head(let head): parts.append(head.uri)
                case .body(let bytes): parts.append(String(buffer: bytes))
                case .end: parts.append(".")
                }
            }
            return parts
        }

        func routerResponses() throws {
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "0"])
            try channel.writeOutbound(HTTPServerResponsePart.head(head))
            try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        }

        func fire(_ event: any Sendable) { channel.pipeline.fireUserInboundEventTriggered(event) }

        func set(isWritable: Bool) {
            channel.isWritable = isWritable
            channel.pipeline.fireChannelWritabilityChanged()
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

    private final class PartCounter: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        var count = 0
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            count += 1
            context.fireChannelRead(data)
        }
    }

    private static func responder(_ api: TestAPI, trusting proxies: [AddressRange] = []) -> APIResponder {
        let start = ContinuousClock.now
        var settings = api.settings
        settings.trustedProxies = proxies
        // Of the embedded loop's own clock.
        settings.bodyTimeout = .seconds(5)
        return APIResponder(
            settings, api.dependencies, RequestObserver(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: { start })
    }

    private static func request(_ line: String, _ api: TestAPI, _ fields: String = "") -> String {
        "\(line) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(api.secret.text)\r\nX-Request-ID: a\r\n\(fields)\r\n"
    }

    static let livez = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
    static let quiesce: any Sendable = ChannelShouldQuiesceEvent()

    // MARK: Order

    @Test func inMemoryRequestsAreAnsweredAndOthersPassedOnInOrder() throws {
        let connection = try Connection()
        #expect(try connection.send(connection.hot + connection.hot) == ["200", "200"])
        #expect(try connection.send(connection.hot + Self.livez) == ["200"])
        #expect(try connection.passedOn() == ["/livez", "."])
        // All that comes now waits until the router has answered.
        #expect(try connection.send(connection.hot + Self.livez + connection.hot).isEmpty)
        #expect(try connection.passedOn().isEmpty)
        try connection.routerResponses()
        #expect(try connection.responses() == ["200", "200"])
        #expect(try connection.passedOn() == ["/livez", "."])
        try connection.routerResponses()
        #expect(try connection.responses() == ["200", "200"])
    }

    /// Each is answered before the next is looked at: else the stack would be as deep as the client likes.
    @Test func manyWaitingRequestsAreHandledWithoutRecursion() throws {
        let connection = try Connection()
        let count = 20_000
        #expect(
            try connection.send(
                Self.livez + String(repeating: Self.request("GET /v1/lookup", connection.api), count: count)
            )
            .isEmpty)
        try connection.routerResponses()
        #expect(try connection.responses().count == 1 + count)
    }

    @Test func requestIsHandledWhereverItIsSplit() throws {
        let connection = try Connection()
        let bytes = Array(connection.hot.utf8)
        for index in 1..<bytes.count {
            try connection.channel.writeInbound(ByteBuffer(bytes: bytes[..<index]))
            #expect(try connection.responses().isEmpty)
            try connection.channel.writeInbound(ByteBuffer(bytes: bytes[index...]))
            #expect(try connection.responses() == ["200"])
        }
        #expect(try connection.passedOn().isEmpty)
        for byte in bytes.dropLast() { #expect(try connection.send(String(UnicodeScalar(byte))).isEmpty) }
        #expect(try connection.send("\n") == ["200"])
    }

    @Test func requestWithIncompleteBodyIsPassedToRouter() throws {
        let connection = try Connection()
        let json = "Content-Type: application/json\r\n"
        let head = Self.request("POST /v1/payloads", connection.api, "Content-Length: 4\r\n" + json)
        #expect(try connection.send(head + "{ ").isEmpty)
        #expect(try connection.passedOn() == ["/v1/payloads", "{ "])
        #expect(try connection.send(" }" + connection.hot).isEmpty)
        #expect(try connection.passedOn() == [" }", "."])
        try connection.routerResponses()
        #expect(try connection.responses() == ["200", "200"])
        // There whole it is answered, in pieces too.
        let chunked = Self.request(
            "POST /v1/payloads", connection.api, "Transfer-Encoding: chunked\r\n" + json)
        #expect(try connection.send(chunked + "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n") == ["400"])
        #expect(try connection.passedOn() == [])
    }

    /// To read a long one would hold up the other connections of the event loop.
    @Test(arguments: [0, 1]) func longBodyIsTheRouters(excess: Int) throws {
        let connection = try Connection()
        let length = Endpoint.maximumBodyLengthAtOnce + excess
        let head = Self.request(
            "POST /v1/payloads", connection.api,
            "Content-Type: application/json\r\nContent-Length: \(length)\r\n")
        let responses = try connection.send(head + String(repeating: " ", count: length))
        #expect(responses == (excess == 0 ? ["400"] : []))
        #expect(try connection.passedOn().isEmpty == (excess == 0))
    }

    // MARK: Keys

    @Test func revokedKeyIsRejectedOnOpenConnection() throws {
        let connection = try Connection()
        #expect(try connection.send(connection.hot + connection.hot) == ["200", "200"])
        var table = try #require(connection.api.table.current).table
        table.remove(.keys, of: TenantID(number: 1), key: ["\(KeyID(UUID(number: 2)))"])
        connection.api.table.replace(by: table, from: .database, asOf: Date())
        #expect(try connection.send(connection.hot + connection.hot) == ["401", "401"])
    }

    /// Whatever came before it: clients of one proxy share a connection.
    @Test func keyIsCheckedPerRequest() throws {
        let connection = try Connection()
        let api = connection.api
        let unknown = String(api.secret.text.dropLast()) + (api.secret.text.hasSuffix("a") ? "b" : "a")
        let keys = [
            (api.secret.text, "200"), (unknown, "401"), (api.secret.text, "200"), (api.suspended.text, "403"),
            (api.publishable.text, "200"), (nil, "401"), ("", "401"), (api.publishable.text, "200"),
        ]
        for (key, status) in keys {
            let field = key.map { "Authorization: Bearer \($0)\r\n" } ?? ""
            let line = "GET /v1/lookup?url=https://example.com/restaurants/restaurant_a HTTP/1.1\r\n"
            #expect(try connection.send("\(line)Host: a\r\n\(field)\r\n") == [status], "\(field)")
        }
    }

    // MARK: Clients that send more than they read

    @Test func unreadResponsesPauseFurtherRequests() throws {
        let connection = try Connection()
        connection.set(isWritable: false)
        #expect(try connection.send(connection.hot + Self.livez).isEmpty)
        #expect(try connection.passedOn().isEmpty)
        let reads = connection.reads.count
        connection.channel.read()
        #expect(connection.reads.count == reads)
        connection.set(isWritable: true)
        #expect(try connection.responses() == ["200"])
        #expect(try connection.passedOn() == ["/livez", "."])
        // Now the router is waited for.
        #expect(connection.reads.count == reads)
        try connection.routerResponses()
        #expect(connection.reads.count == reads + 1)
    }

    @Test func readingPausesWhileRouterHandlesRequest() throws {
        let connection = try Connection()
        #expect(try connection.send(Self.livez + connection.hot).isEmpty)
        let reads = connection.reads.count
        connection.channel.read()
        #expect(connection.reads.count == reads)
        try connection.routerResponses()
        #expect(try connection.responses() == ["200", "200"])
        #expect(connection.reads.count == reads + 1)
    }

    /// Once a client ends its side the library reads all that it has sent.
    @Test(arguments: [true, false])
    func bytesBehindRoutedRequestAreNotDecodedYet(isInMemory: Bool) throws {
        let connection = try Connection()
        #expect(try connection.send(Self.livez).isEmpty)
        let next = isInMemory ? connection.hot : Self.livez
        for _ in 0..<10 { #expect(try connection.send(next + next).isEmpty) }
        connection.fire(ChannelEvent.inputClosed)
        #expect(connection.decoded.count == 2)
        try connection.routerResponses()
        if !isInMemory {
            for number in 0..<20 {
                #expect(connection.channel.isActive)
                // One piece is of two requests.
                #expect(connection.decoded.count == 2 + 4 * (number / 2 + 1))
                try connection.routerResponses()
            }
        }
        #expect(connection.decoded.count == 42)
        #expect(try connection.responses() == Array(repeating: "200", count: 21))
        #expect(!connection.channel.isActive)
    }

    @Test func responsesToBufferedRequestsAreSentPieceByPiece() throws {
        let connection = try Connection()
        #expect(try connection.send(Self.livez).isEmpty)
        for _ in 0..<10 { #expect(try connection.send(connection.hot + connection.hot).isEmpty) }
        connection.fire(ChannelEvent.inputClosed)
        try connection.routerResponses()
        var counts: [Int] = []
        while let part = try connection.channel.readOutbound(as: ByteBuffer.self) {
            counts.append(String(buffer: part).components(separatedBy: "HTTP/1.1 200").count - 1)
        }
        #expect(counts.reduce(0, +) == 21)
        // Of one piece, and of the router's answer before the first.
        #expect(counts.allSatisfy { $0 <= 3 })
        #expect(!connection.channel.isActive)
    }

    @Test func malformedInputDoesNotDropEarlierResponses() throws {
        let connection = try Connection()
        #expect(try connection.send(Self.livez).isEmpty)
        for text in ["GET /a\u{1}b HTTP/1.1\r\n", "Host: a\r\n\r\n", Self.livez] {
            #expect(try connection.send(text).isEmpty)
        }
        try connection.routerResponses()
        #expect(try connection.responses() == ["200", "400"])
        #expect(try connection.send(Self.livez).isEmpty)
        try connection.channel.throwIfErrorCaught()
        #expect(try connection.passedOn() == ["/livez", "."])
    }

    // MARK: Time

    @Test(arguments: [
        ("GET /v1/loc", "a"), ("GET / HTTP/1.1\r\nHost: a\r\n", "A"), ("\r\n", "\r\n"),
        ("GET / HTTP/1.0\r\n", "A"),
    ])
    func tricklingHeadTimesOut(start: String, more: String) throws {
        let connection = try Connection()
        #expect(try connection.send(start) == [])
        for _ in 0..<5 {
            connection.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(try connection.send(more).isEmpty)
            #expect(connection.channel.isActive)
        }
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        _ = try? connection.send(more)
        #expect(!connection.channel.isActive)
    }

    @Test func headTimeoutRestartsForEachRequest() throws {
        let connection = try Connection()
        let hot = Array(connection.hot)
        for _ in 0..<4 {
            #expect(try connection.send(String(hot[..<40])).isEmpty)
            connection.channel.embeddedEventLoop.advanceTime(by: .seconds(4))
            #expect(try connection.send(String(hot[40...])) == ["200"])
        }
    }

    @Test func idleConnectionIsClosed() throws {
        let connection = try Connection()
        let loop = connection.channel.embeddedEventLoop
        // A part of a request counts, and so does one that is answered.
        for part in [connection.hot.prefix(4), connection.hot.dropFirst(4)] {
            loop.advanceTime(by: .seconds(8))
            _ = try connection.send(String(part))
        }
        loop.advanceTime(by: .seconds(59))
        #expect(connection.channel.isActive)
        loop.advanceTime(by: .seconds(1))
        #expect(!connection.channel.isActive)

        let waiting = try Connection()
        _ = try waiting.send(Self.livez)
        waiting.channel.embeddedEventLoop.advanceTime(by: .minutes(5))
        #expect(waiting.channel.isActive)
        try waiting.routerResponses()
        waiting.channel.embeddedEventLoop.advanceTime(by: .minutes(1))
        #expect(!waiting.channel.isActive)
    }

    @Test func silentClientIsClosedUnlessWaitingForRouter() throws {
        let idle = IdleStateHandler.IdleStateEvent.read
        let silent = try Connection()
        silent.fire(idle)
        #expect(!silent.channel.isActive)

        let waiting = try Connection()
        _ = try waiting.send(Self.livez)
        waiting.fire(idle)
        #expect(waiting.channel.isActive)
        try waiting.routerResponses()
        waiting.fire(idle)
        #expect(!waiting.channel.isActive)

        let sending = try Connection()
        _ = try sending.send("POST /v1/instances/a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
        #expect(try sending.passedOn() == ["/v1/instances/a"])
        sending.fire(idle)
        #expect(!sending.channel.isActive)
    }

    /// Many connections are open, so that idle ones are closed after 6 of 60 seconds.
    @Test func pausedBodyKeepsUsualTimeoutIfIdleTimeIsShortened() throws {
        let idle = try Connection(idleTimeoutNow: { .seconds(6) })
        idle.channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(idle.channel.isActive)
        idle.channel.embeddedEventLoop.advanceTime(by: .seconds(7))
        #expect(!idle.channel.isActive)

        let sending = try Connection(idleTimeoutNow: { .seconds(6) })
        _ = try sending.send("POST /v1/instances/a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123")
        sending.channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        #expect(sending.channel.isActive)
        _ = try sending.send("456789")
        sending.channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        // The client was not idle while it waited for the response.
        try sending.routerResponses()
        sending.channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(sending.channel.isActive)
        sending.channel.embeddedEventLoop.advanceTime(by: .seconds(7))
        #expect(!sending.channel.isActive)

        let silent = try Connection(idleTimeoutNow: { .seconds(6) })
        _ = try silent.send("POST /v1/instances/a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123")
        silent.channel.embeddedEventLoop.advanceTime(by: .seconds(67))
        #expect(!silent.channel.isActive)
    }

    /// The answer has a deadline of its own: ``ConnectionTests``.
    @Test func clientWithUnreadResponseIsNotIdle() throws {
        let connection = try Connection()
        _ = try connection.send(Self.livez)
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "0"])
        connection.channel.write(HTTPServerResponsePart.head(head), promise: nil)
        connection.channel.write(HTTPServerResponsePart.end(nil), promise: nil)
        connection.fire(IdleStateHandler.IdleStateEvent.read)
        #expect(connection.channel.isActive)
        connection.channel.flush()
        connection.fire(IdleStateHandler.IdleStateEvent.read)
        #expect(!connection.channel.isActive)
    }

    // MARK: Ends

    @Test(arguments: [true, false])
    func connectionClosesAfterPendingRequests(isQuiescing: Bool) throws {
        let connection = try Connection()
        _ = try connection.send(Self.livez + Self.livez + connection.hot)
        connection.fire(isQuiescing ? Self.quiesce : ChannelEvent.inputClosed)
        try connection.routerResponses()
        #expect(connection.channel.isActive)
        try connection.routerResponses()
        #expect(try connection.responses() == ["200", "200", "200"])
        #expect(!connection.channel.isActive)
    }

    /// What is written is lost if it is not sent before the connection is closed.
    @Test func connectionClosesAfterLastResponseIsFlushed() throws {
        let connection = try Connection()
        _ = try connection.send(Self.livez)
        connection.fire(ChannelEvent.inputClosed)
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "0"])
        connection.channel.write(HTTPServerResponsePart.head(head), promise: nil)
        connection.channel.write(HTTPServerResponsePart.end(nil), promise: nil)
        #expect(connection.channel.isActive)
        connection.channel.flush()
        #expect(!connection.channel.isActive)
    }

    @Test func requestBegunBeforeShutdownIsAnsweredAsTheLast() throws {
        let connection = try Connection()
        _ = try connection.send("POST /v1/instances/a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n")
        connection.fire(Self.quiesce)
        #expect(connection.channel.isActive)
        _ = try connection.send("{}" + connection.hot)
        #expect(try connection.passedOn() == ["/v1/instances/a", "{}", "."])
        try connection.routerResponses()
        let responses = try connection.response()
        #expect(responses.count == 1 && responses[0].contains("Connection: close\r\n"))
        #expect(!connection.channel.isActive)
    }

    @Test func incompleteRequestAtEndOfInputIsRejected() throws {
        let connection = try Connection()
        #expect(try connection.send(connection.hot + "GET /v1") == ["200"])
        connection.fire(ChannelEvent.inputClosed)
        let response = try #require(try connection.response().first)
        #expect(response.hasPrefix("400 "))
        // It has the header of every answer, and the ID in its body too.
        let id = try #require(response.firstMatch(of: /\r\nX-Request-ID: ([0-9a-f]{32})\r\n/)).output.1
        #expect(response.contains("\"requestID\":\"\(id)\""))
        for field in [
            "Cache-Control: no-store", "Content-Type: application/problem+json", "Date: ", "Server: ",
        ] {
            #expect(response.contains("\r\n\(field)"), "\(field)")
        }
        #expect(try connection.passedOn().isEmpty)
    }

    /// Else what has come would be all of it for those behind.
    @Test func truncatedBodyIsReportedAsError() throws {
        let connection = try Connection()
        let head = Self.request("PUT /v1/locations", connection.api, "Content-Length: 9\r\n")
        #expect(try connection.send(head + "a,b\n").isEmpty)
        connection.channel.pipeline.fireChannelInactive()
        #expect(throws: ChannelError.inputClosed) { try connection.channel.throwIfErrorCaught() }
    }

    @Test func idleConnectionClosesAtShutdown() throws {
        let connection = try Connection()
        #expect(try connection.send(connection.hot) == ["200"])
        connection.fire(Self.quiesce)
        #expect(!connection.channel.isActive)
    }

    // MARK: Answers that are held back

    @Test func rateLimitedResponseDelaysItsConnection() throws {
        let once = RequestLimits(key: RateLimit(perSecond: 2, burst: 1))
        let connection = try Connection(limits: once)
        #expect(try connection.send(connection.hot + connection.hot + Self.livez) == ["200"])
        let reads = connection.reads.count
        connection.channel.read()
        #expect(connection.reads.count == reads)
        // Neither the end of the server nor of what is sent comes before the answer; nor is the client idle.
        connection.fire(Self.quiesce)
        connection.fire(IdleStateHandler.IdleStateEvent.read)
        connection.channel.embeddedEventLoop.advanceTime(by: .milliseconds(999))
        #expect(try connection.responses() == [])
        #expect(try connection.passedOn() == [])
        #expect(connection.channel.isActive)
        connection.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(try connection.responses() == ["429"])
        #expect(try connection.passedOn() == ["/livez", "."])
        try connection.routerResponses()
        #expect(try connection.responses() == ["200"])
        #expect(!connection.channel.isActive)
    }

    @Test func rateLimitedResponseThroughProxyIsDelayed() throws {
        let once = RequestLimits(key: RateLimit(perSecond: 1, burst: 1))
        let connection = try Connection(limits: once, trusting: [try #require(AddressRange("127.0.0.1"))])
        #expect(try connection.send(connection.hot + connection.hot) == ["200"])
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(try connection.responses() == ["429"])
    }

    // MARK: HTTP/2

    @Test func http2StreamIsHandledAsHTTP1() throws {
        let once = RequestLimits(key: RateLimit(perSecond: 1, burst: 1))
        let api = TestAPI(limits: once)
        let responder = Self.responder(api)
        var head = HTTPRequest(
            method: .get, scheme: "https", authority: "a",
            path: "/v1/lookup?url=https://example.com/restaurants/restaurant_a",
            headerFields: [.authorization: "Bearer \(api.secret.text)"])
        for status in [200, 429] {
            let stream = EmbeddedChannel(
                handler: HTTP2ExchangeHandler(responder, responseTimeout: .seconds(30)))
            try stream.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            stream.pipeline.syncOperations.fireChannelRead(NIOAny(HTTPRequestPart.head(head)))
            stream.pipeline.syncOperations.fireChannelRead(NIOAny(HTTPRequestPart.end(nil)))
            stream.pipeline.fireChannelReadComplete()
            if status == 429 {
                stream.embeddedEventLoop.advanceTime(by: .milliseconds(999))
                #expect(try stream.readOutbound(as: HTTPResponsePart.self) == nil)
                stream.embeddedEventLoop.advanceTime(by: .milliseconds(1))
            }
            guard case .head(let response)? = try stream.readOutbound(as: HTTPResponsePart.self),
                case .body(let body)? = try stream.readOutbound(as: HTTPResponsePart.self),
                case .end? = try stream.readOutbound(as: HTTPResponsePart.self)
            else {
                Issue.record("no answer")
                return
            }
            #expect(response.status.code == status)
            #expect(response.headerFields[.contentLength] == "\(body.readableBytes)")
            #expect(try stream.readInbound(as: HTTPRequestPart.self) == nil)
        }
        head.path = "/livez"
        let stream = EmbeddedChannel(
            handler: HTTP2ExchangeHandler(responder, responseTimeout: .seconds(30)))
        try stream.writeInbound(HTTPRequestPart.head(head))
        #expect(try stream.readInbound(as: HTTPRequestPart.self) == .head(head))
    }

    // MARK: Odds and ends

    /// The example of RFC 9110 §5.6.7.
    @Test func dateHeaderIsInHTTPFormat() {
        #expect(
            HTTPDate.text(at: Date(timeIntervalSince1970: 784_111_777.9)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(
            HTTPDate.text(at: Date(timeIntervalSince1970: 784_111_778)) == "Sun, 06 Nov 1994 08:49:38 GMT")
    }

    @Test(arguments: ["a b", "", "é", "a\"b", String(repeating: "a", count: 129)])
    func unsafeRequestIDIsReplaced(id: String) throws {
        let connection = try Connection()
        try connection.channel.writeInbound(
            ByteBuffer(string: "GET /v1/lookup HTTP/1.1\r\nHost: a\r\nX-Request-ID: \(id)\r\n\r\n"))
        let response = try #require(try connection.response().first)
        #expect(
            response.hasPrefix("401 ") && response.firstMatch(of: /X-Request-ID: [0-9a-f]{32}\r\n/) != nil)
    }

    @Test func closedConnectionReleasesItsHandler() throws {
        weak var handler: HTTP1ExchangeHandler?
        do {
            let connection = try Connection()
            handler = connection.handler
            _ = try connection.send(connection.hot + "GET")
            _ = try? connection.channel.finish(acceptAlreadyClosed: true)
        }
        #expect(handler == nil)
    }
}
