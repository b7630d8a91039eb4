import Foundation
import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

@Suite struct HTTP1ConnectionTests {
    static let now = "GET /now HTTP/1.1\r\nHost: a\r\n\r\n"
    static let later = "GET /later HTTP/1.1\r\nHost: a\r\n\r\n"
    static let quiesce: any Sendable = ChannelShouldQuiesceEvent()

    // MARK: Order

    @Test func responsesKeepTheOrderOfRequests() throws {
        let client = try EmbeddedHTTP1()
        #expect(try client.send(Self.now + Self.now) == ["200", "200"])
        #expect(try client.send(Self.now + Self.later) == ["200"])
        #expect(client.tasks() == ["/later"])
        #expect(try client.send(Self.now + Self.later + Self.now).isEmpty)
        #expect(client.tasks().isEmpty)
        client.taskResponds()
        #expect(try client.statuses() == ["200", "200"])
        #expect(client.tasks() == ["/later"])
        client.taskResponds()
        #expect(try client.statuses() == ["200", "200"])
    }

    /// Each request gets its response before the next one is handled. Otherwise a client could make the stack arbitrarily deep.
    @Test func manyWaitingRequestsAreHandledWithoutRecursion() throws {
        let client = try EmbeddedHTTP1()
        let count = 20_000
        #expect(try client.send(Self.later + String(repeating: Self.now, count: count)).isEmpty)
        client.taskResponds()
        #expect(try client.statuses().count == 1 + count)
    }

    @Test func requestIsHandledWhereverItIsSplit() throws {
        let client = try EmbeddedHTTP1()
        let bytes = Array(Self.now.utf8)
        for index in 1..<bytes.count {
            try client.channel.writeInbound(ByteBuffer(bytes: bytes[..<index]))
            #expect(try client.statuses().isEmpty)
            try client.channel.writeInbound(ByteBuffer(bytes: bytes[index...]))
            #expect(try client.statuses() == ["200"])
        }
        #expect(client.tasks().isEmpty)
    }

    @Test func bodyThatArrivesLaterIsLeftToATask() throws {
        let client = try EmbeddedHTTP1()
        let head = "POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"
        #expect(try client.send(head + "{ ").isEmpty)
        #expect(client.tasks() == ["/now"])
        #expect(try client.send(" }" + Self.now).isEmpty)
        client.taskResponds()
        #expect(try client.statuses() == ["200", "200"])
        #expect(try client.send(head + "{  }") == ["200"])
        #expect(client.tasks().isEmpty)
    }

    @Test(arguments: [0, 1]) func bodyBeyondTheLimitIsLeftToATask(excess: Int) throws {
        let client = try EmbeddedHTTP1()
        let length = ScriptedResponder.maximumBodyLength + excess
        let head = "POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n"
        let statuses = try client.send(head + String(repeating: " ", count: length))
        #expect(statuses == (excess == 0 ? ["200"] : []))
        #expect(client.tasks().isEmpty == (excess == 0))
    }

    @Test func everyResponseHasDateServerAndLength() throws {
        let client = try EmbeddedHTTP1()
        for text in [Self.now, "GARBAGE\r\n\r\n"] {
            _ = try client.channel.writeInbound(ByteBuffer(string: text))
            let response = try #require(try client.responses().first)
            #expect(response.contains("\r\nDate: ") && response.contains("\r\nServer: Test\r\n"))
            #expect(response.contains("\r\nContent-Length: 0\r\n"))
        }
    }

    @Test func headResponseHasLengthAndNoBody() throws {
        let client = try EmbeddedHTTP1()
        _ = try client.channel.writeInbound(
            ByteBuffer(string: "HEAD /now HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"))
        let response = try #require(try client.responses().first)
        #expect(response.contains("Content-Length: 3\r\n") && response.hasSuffix("\r\n\r\n"))
    }

    @Test func notModifiedHasNoLength() throws {
        let client = try EmbeddedHTTP1()
        _ = try client.channel.writeInbound(
            ByteBuffer(string: "GET /not-modified HTTP/1.1\r\nHost: a\r\n\r\n"))
        #expect(try client.responses().first?.contains("Content-Length") == false)
    }

    @Test func continueIsSentOnlyIfTheBodyIsWanted() throws {
        let head = "POST /later HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        let refused = try EmbeddedHTTP1()
        #expect(try refused.send(head).isEmpty)
        refused.taskResponds()
        let response = try #require(try refused.responses().first)
        // The client does not send the body, so no other request can follow.
        #expect(response.hasPrefix("200 ") && response.contains("Connection: close\r\n"))
    }

    // MARK: Clients that send more than they read

    @Test func unreadResponsesPauseFurtherRequests() throws {
        let client = try EmbeddedHTTP1()
        client.set(isWritable: false)
        #expect(try client.send(Self.now + Self.later).isEmpty)
        let reads = client.reads.count
        client.channel.read()
        #expect(client.reads.count == reads)
        client.set(isWritable: true)
        #expect(try client.statuses() == ["200"])
        #expect(client.tasks() == ["/later"])
        #expect(client.reads.count == reads)
        client.taskResponds()
        #expect(client.reads.count == reads + 1)
    }

    /// After a client ends its side, NIO's decoder reads everything that the client has sent.
    @Test func bytesBehindATaskAreNotDecodedYet() throws {
        let client = try EmbeddedHTTP1()
        #expect(try client.send(Self.later).isEmpty)
        for _ in 0..<10 { #expect(try client.send(Self.later + Self.later).isEmpty) }
        client.fire(ChannelEvent.inputClosed)
        #expect(client.decoded.count == 2)
        client.taskResponds()
        for number in 0..<20 {
            #expect(client.channel.isActive)
            // One piece contains two requests.
            #expect(client.decoded.count == 2 + 4 * (number / 2 + 1))
            client.taskResponds()
        }
        #expect(try client.statuses() == Array(repeating: "200", count: 21))
        #expect(!client.channel.isActive)
    }

    @Test func responsesToBufferedRequestsAreSentPieceByPiece() throws {
        let client = try EmbeddedHTTP1()
        #expect(try client.send(Self.later).isEmpty)
        for _ in 0..<10 { #expect(try client.send(Self.now + Self.now).isEmpty) }
        client.fire(ChannelEvent.inputClosed)
        client.taskResponds()
        var counts: [Int] = []
        while let part = try client.channel.readOutbound(as: ByteBuffer.self) {
            counts.append(String(buffer: part).components(separatedBy: "HTTP/1.1 200").count - 1)
        }
        #expect(counts.reduce(0, +) == 21)
        // The two requests of one piece, and the response of the task before them.
        #expect(counts.allSatisfy { $0 <= 3 })
        #expect(!client.channel.isActive)
    }

    @Test func responsesOfAPipelineAreSeveralWrites() throws {
        let client = try EmbeddedHTTP1()
        try client.channel.writeInbound(ByteBuffer(string: String(repeating: Self.now, count: 1_000)))
        var writes: [ByteBuffer] = []
        while let bytes = try client.channel.readOutbound(as: ByteBuffer.self) { writes.append(bytes) }
        #expect(writes.count > 2 && writes.allSatisfy { $0.readableBytes <= ByteBuffer.pieceLength })
        let text = writes.map { String(buffer: $0) }.joined()
        #expect(text.components(separatedBy: "HTTP/1.1 200 OK\r\n").count == 1_001)
    }

    /// The example in RFC 9110 §5.6.7.
    @Test func dateIsInTheFormatOfHTTP() {
        for (second, digits) in [(784_111_777.9, "37"), (784_111_778, "38")] {
            let date = Date(timeIntervalSince1970: second)
            #expect(HTTPDate.text(at: date) == "Sun, 06 Nov 1994 08:49:\(digits) GMT")
        }
    }

    @Test func malformedInputDoesNotDropEarlierResponses() throws {
        let client = try EmbeddedHTTP1()
        #expect(try client.send(Self.later).isEmpty)
        for text in ["GET /a\u{1}b HTTP/1.1\r\n", "Host: a\r\n\r\n", Self.later] {
            #expect(try client.send(text).isEmpty)
        }
        client.taskResponds()
        #expect(try client.statuses() == ["200", "400"])
        #expect(try client.send(Self.later).isEmpty)
        #expect(client.tasks() == ["/later"])
    }

    // MARK: Time

    @Test(arguments: [
        ("GET /v1/loc", "a"), ("GET / HTTP/1.1\r\nHost: a\r\n", "A"), ("\r\n", "\r\n"),
        ("GET / HTTP/1.0\r\n", "A"),
    ])
    func tricklingHeadTimesOut(start: String, more: String) throws {
        let client = try EmbeddedHTTP1()
        #expect(try client.send(start) == [])
        for _ in 0..<5 {
            client.advance(by: .seconds(1))
            #expect(try client.send(more).isEmpty)
            #expect(client.channel.isActive)
        }
        client.advance(by: .seconds(1))
        _ = try? client.send(more)
        #expect(!client.channel.isActive)
    }

    @Test func headTimeoutRestartsForEachRequest() throws {
        let client = try EmbeddedHTTP1()
        for _ in 0..<4 {
            #expect(try client.send(String(Self.now.prefix(20))).isEmpty)
            client.advance(by: .seconds(4))
            #expect(try client.send(String(Self.now.dropFirst(20))) == ["200"])
        }
    }

    @Test func idleConnectionIsClosed() throws {
        let idle = try EmbeddedHTTP1()
        idle.advance(by: .seconds(8))
        _ = try idle.send(Self.now)
        idle.advance(by: .seconds(59))
        #expect(idle.channel.isActive)
        idle.advance(by: .seconds(1))
        #expect(!idle.channel.isActive)

        let waiting = try EmbeddedHTTP1()
        _ = try waiting.send(Self.later)
        waiting.advance(by: .minutes(5))
        #expect(waiting.channel.isActive)
        waiting.taskResponds()
        waiting.advance(by: .minutes(1))
        #expect(!waiting.channel.isActive)
    }

    @Test func pausedBodyKeepsUsualTimeoutIfIdleTimeIsShortened() throws {
        let idle = try EmbeddedHTTP1(idleTimeoutNow: { .seconds(6) })
        idle.advance(by: .seconds(5))
        #expect(idle.channel.isActive)
        idle.advance(by: .seconds(7))
        #expect(!idle.channel.isActive)

        let sending = try EmbeddedHTTP1(idleTimeoutNow: { .seconds(6) })
        _ = try sending.send("POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123")
        sending.advance(by: .seconds(59))
        #expect(sending.channel.isActive)
        sending.advance(by: .seconds(8))
        #expect(!sending.channel.isActive)
    }

    /// The server is slow, not the client.
    @Test func connectionWhoseBodyIsReadSlowlyStaysOpen() throws {
        let client = try EmbeddedHTTP1()
        _ = try client.send("POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n")
        for _ in 0..<8 { _ = try client.send("a") }
        #expect(client.connection.isHeldBack)
        client.advance(by: .minutes(5))
        #expect(client.channel.isActive)
    }

    @Test func refusalResumesReadingThatWasDelayed() throws {
        let client = try EmbeddedHTTP1()
        _ = try client.send("POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n")
        for _ in 0..<8 { _ = try client.send("a") }
        let reads = client.reads.count
        client.channel.read()
        #expect(client.reads.count == reads)
        client.fire(ChannelEvent.inputClosed)
        #expect(try client.statuses() == ["400"])
        #expect(client.reads.count == reads + 1)
    }

    @Test func unreadResponseIsGivenUp() throws {
        let client = try EmbeddedHTTP1()
        let gate = WriteGate()
        try client.channel.pipeline.syncOperations.addHandler(gate, position: .first)
        #expect(try client.send(Self.now).isEmpty)
        client.advance(by: .seconds(29))
        #expect(client.channel.isActive)
        client.advance(by: .seconds(1))
        #expect(!client.channel.isActive)
        gate.promise?.fail(ChannelError.ioOnClosedChannel)
    }

    /// Delays all writes.
    private final class WriteGate: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var promise: EventLoopPromise<Void>?
        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            self.promise = promise
        }
    }

    // MARK: Ends

    @Test(arguments: [true, false])
    func connectionClosesAfterPendingRequests(isQuiescing: Bool) throws {
        let client = try EmbeddedHTTP1()
        _ = try client.send(Self.later + Self.later + Self.now)
        client.fire(isQuiescing ? Self.quiesce : ChannelEvent.inputClosed)
        client.taskResponds()
        #expect(client.channel.isActive)
        client.taskResponds()
        #expect(try client.statuses() == ["200", "200", "200"])
        #expect(!client.channel.isActive)
    }

    @Test func idleConnectionClosesAtShutdown() throws {
        let client = try EmbeddedHTTP1()
        #expect(try client.send(Self.now) == ["200"])
        client.fire(Self.quiesce)
        #expect(!client.channel.isActive)
    }

    @Test func roomIsMadeOnlyByIdleConnections() throws {
        let busy = try EmbeddedHTTP1()
        _ = try busy.send(Self.later)
        busy.fire(RoomIsWanted())
        #expect(busy.channel.isActive)
        let idle = try EmbeddedHTTP1()
        idle.fire(RoomIsWanted())
        #expect(!idle.channel.isActive)
    }

    @Test func connectionThatDiscardsTheRestOfABodyMakesRoom() throws {
        let client = try EmbeddedHTTP1()
        _ = try client.send("POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1")
        client.fire(RoomIsWanted())
        #expect(client.channel.isActive)
        client.taskResponds()
        #expect(try client.statuses() == ["200"] && client.channel.isActive)
        client.fire(RoomIsWanted())
        #expect(!client.channel.isActive)

        let refused = try EmbeddedHTTP1()
        let closes = CloseRecorder()
        try refused.channel.pipeline.syncOperations.addHandler(closes, position: .first)
        #expect(try refused.send("GARBAGE\r\n\r\n") == ["400"])
        #expect(closes.modes == [.output])
        refused.fire(RoomIsWanted())
        #expect(closes.modes == [.output, .all])
    }

    @Test func unreadResponseBeforeTheRestOfABodyIsKept() throws {
        let client = try EmbeddedHTTP1()
        let gate = WriteGate()
        try client.channel.pipeline.syncOperations.addHandler(gate, position: .first)
        _ = try client.send("POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1")
        client.taskResponds()
        client.fire(RoomIsWanted())
        #expect(client.channel.isActive)
        gate.promise?.succeed()
        client.fire(RoomIsWanted())
        #expect(!client.channel.isActive)
    }

    @Test func requestBegunBeforeShutdownIsAnsweredAsTheLast() throws {
        let client = try EmbeddedHTTP1()
        _ = try client.send("POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n")
        client.fire(Self.quiesce)
        #expect(client.channel.isActive)
        _ = try client.send("{}" + Self.now)
        client.taskResponds()
        let responses = try client.responses()
        #expect(responses.count == 1 && responses[0].contains("Connection: close\r\n"))
        #expect(!client.channel.isActive)
    }

    @Test func incompleteRequestAtEndOfInputIsRefused() throws {
        let client = try EmbeddedHTTP1()
        #expect(try client.send(Self.now + "GET /v1") == ["200"])
        client.fire(ChannelEvent.inputClosed)
        #expect(try client.statuses() == ["400"])
    }

    @Test func restOfAnsweredBodyIsReadForAWhile() throws {
        let client = try EmbeddedHTTP1()
        _ = try client.send("POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 90000000\r\n\r\n1")
        client.taskResponds()
        #expect(
            try client.send(String(repeating: "a", count: HTTP1Connection.discardedLength - 1)) == ["200"])
        #expect(client.channel.isActive)
        _ = try? client.send("aa")
        #expect(!client.channel.isActive)

        let slow = try EmbeddedHTTP1()
        _ = try slow.send("POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1")
        slow.taskResponds()
        slow.advance(by: .seconds(2))
        #expect(!slow.channel.isActive)
    }

    @Test func delayedResponseDelaysItsConnection() throws {
        let client = try EmbeddedHTTP1()
        let delayed = "GET /delayed HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(try client.send(Self.now + delayed + Self.later) == ["200"])
        client.fire(Self.quiesce)
        client.advance(by: .milliseconds(999))
        #expect(try client.statuses().isEmpty)
        client.advance(by: .milliseconds(1))
        #expect(try client.statuses() == ["429"])
        #expect(client.tasks() == ["/later"])
        client.taskResponds()
        #expect(!client.channel.isActive)
    }

    @Test func closedConnectionReleasesItsHandler() throws {
        weak var connection: HTTP1Connection?
        do {
            let client = try EmbeddedHTTP1()
            connection = client.connection
            _ = try client.send(Self.now + "GET")
            _ = try? client.channel.finish(acceptAlreadyClosed: true)
        }
        #expect(connection == nil)
    }
}
