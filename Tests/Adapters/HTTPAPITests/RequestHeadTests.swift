import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOEmbedded
import NIOHTTP1
import PropertyTesting
import Testing

@testable import HTTPAPI

/// What is answered before the library, and that the library would read it the same way.
@Suite struct RequestHeadTests {
    static let lookUp = """
        GET /v1/locations?url=https://example.com/a HTTP/1.1\r\nHost: example.com\r\n\
        Authorization: Bearer dpk_x\r\nIf-None-Match: "a", "b"\r\nX-Request-ID: a-1\r\n\r\n
        """
    static let confirm = """
        POST /v1/confirmations HTTP/1.1\r\nhost:example.com\r\ncontent-type: application/json \r\n\
        content-length: 4\r\nConnection: Keep-Alive\r\n\r\n{  }
        """
    static let compose = "POST /v1/payloads HTTP/1.1\r\nHost: a\r\nContent-Length: 002\r\n\r\n{}"
    static let other = "HEAD /v1/locations?url=x HTTP/1.1\r\nHost: a\r\nX-A:\t\r\n\r\n"
    static let valid = [lookUp, confirm, compose, other]

    enum Kind: Equatable {
        case incomplete, unusual
        case answerable(AnswerRoute, body: Int)
        case other(length: Int)

        init(_ head: RequestHead) {
            self =
                switch head {
                case .incomplete: .incomplete
                case .unusual: .unusual
                case .answerable(let head): .answerable(head.route, body: head.bodyLength)
                case .other(let length): .other(length: length)
                }
        }
    }

    /// A GET of the first route, with lines of its own after `Host`.
    static func get(_ lines: String, target: String = "/v1/locations") -> String {
        "GET \(target) HTTP/1.1\r\nHost: a\r\n\(lines)\r\n"
    }

    static let table: [(String, Kind)] = [
        (lookUp, .answerable(.lookUp, body: 0)),
        (confirm, .answerable(.confirm, body: 4)),
        (compose, .answerable(.compose, body: 2)),
        (other, .other(length: other.utf8.count)),
        (get(""), .answerable(.lookUp, body: 0)),
        (get("Content-Length: 0\r\n"), .answerable(.lookUp, body: 0)),
        // For the library, and what comes after them is not.
        (get("Content-Length: 3\r\n") + "abc", .other(length: get("Content-Length: 3\r\n").utf8.count + 3)),
        (get("", target: "/v1/locations/"), .other(length: get("").utf8.count + 1)),
        (get("", target: "//v1//locations"), .other(length: get("").utf8.count + 2)),
        (get("", target: "/v1/location%73"), .other(length: get("").utf8.count + 2)),
        (get("Content-Type: a\r\nContent-Type: a\r\n"), .other(length: get("").utf8.count + 34)),
        (get("If-None-Match: *\r\nIf-None-Match: *\r\n"), .other(length: get("").utf8.count + 36)),
        ("POST /v1/locations HTTP/1.1\r\nHost: a\r\n\r\n", .other(length: 40)),
        ("POST /v1/payloads HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", .other(length: 65_599)),
        // Without certainty where they end, or what they ask of the connection.
        (get("Transfer-Encoding: chunked\r\n"), .unusual),
        (get("Transfer-Encoding: identity\r\nContent-Length: 1\r\n"), .unusual),
        (get("Transfer-Encoding : chunked\r\n"), .unusual),
        (get("Content-Length: 1\r\nContent-Length: 1\r\n"), .unusual),
        (get("Content-Length: 1, 1\r\n"), .unusual), (get("Content-Length: +1\r\n"), .unusual),
        (get("Content-Length: -1\r\n"), .unusual), (get("Content-Length: 0x1\r\n"), .unusual),
        (get("Content-Length: 1 1\r\n"), .unusual), (get("Content-Length:\r\n"), .unusual),
        (get("Content-Length: 0\t\r\n"), .unusual),
        (get("Content-Length: 18446744073709551617\r\n"), .unusual),
        (get("Expect: 100-continue\r\n"), .unusual), (get("Upgrade: h2c\r\n"), .unusual),
        (get("TE: trailers\r\n"), .unusual), (get("Trailer: a\r\n"), .unusual),
        (get("Connection: close\r\n"), .unusual), (get("Connection: keep-alive, TE\r\n"), .unusual),
        (get("Proxy-Connection: close\r\n"), .unusual), (get("Host: b\r\n"), .unusual),
        (get("A: b\r\n c\r\n"), .unusual), (get(" A: b\r\n"), .unusual), (get("A\r\n"), .unusual),
        (get(": b\r\n"), .unusual), (get("A: b\u{0}\r\n"), .unusual), (get("A: \u{7F}\r\n"), .unusual),
        (get("A: é\r\n"), .unusual), (get("A: b\rc\r\n"), .unusual), (get("A: b\nc: d\r\n"), .unusual),
        ("GET /v1/locations HTTP/1.1\r\n\r\n", .unusual), ("GET /v1/locations HTTP/1.0\r\n\r\n", .unusual),
        ("GET /v1/locations HTTP/2.0\r\n", .unusual), ("GET /v1/locations\r\n", .unusual),
        ("GET  /v1/locations HTTP/1.1\r\n", .unusual), ("GET\t/v1/locations HTTP/1.1\r\n", .unusual),
        ("GET /v1/locations  HTTP/1.1\r\n", .unusual), ("GET /a b HTTP/1.1\r\n", .unusual),
        ("GET /a#b HTTP/1.1\r\n", .unusual), ("GET http://a/v1/locations HTTP/1.1\r\n", .unusual),
        ("CONNECT a:1 HTTP/1.1\r\n", .unusual), ("CONNECT /v1/locations HTTP/1.1\r\n", .unusual),
        ("OPTIONS * HTTP/1.1\r\n", .unusual),
        ("get /v1/locations HTTP/1.1\r\n", .unusual), ("\r\nGET / HTTP/1.1\r\n", .unusual),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .unusual), ("\u{16}\u{3}\u{1}", .unusual),
        // A line end that is none is not waited on.
        ("GET /v1/locations HTTP/1.1\nHost: a\n\n", .unusual), ("GET /v1/locations HTTP/1.1\n", .unusual),
        ("GET /v1/locations HTTP/1.1\r\nHost: a\r\n\n", .unusual), ("GET /\rA", .unusual),
    ]

    @Test(arguments: table)
    func whatIsUnderstood(text: String, kind: Kind) {
        #expect(Kind(RequestHead(ByteBuffer(string: text))) == kind)
    }

    @Test func nothingButTheRequestIsRead() throws {
        // Not at the beginning of the buffer, and with another behind.
        var buffer = ByteBuffer(string: "xyz" + Self.lookUp + Self.confirm)
        buffer.moveReaderIndex(forwardBy: 3)
        guard case .answerable(let head) = RequestHead(buffer) else {
            Issue.record("it is answerable")
            return
        }
        #expect(head.headLength == Self.lookUp.utf8.count)
        #expect(head.query == ByteBuffer(string: "url=https://example.com/a"))
        #expect(head.authorization == ByteBuffer(string: "Bearer dpk_x"))
        #expect(head.ifNoneMatch == ByteBuffer(string: "\"a\", \"b\""))
        #expect(head.requestID == "a-1")
        #expect(head.contentType == nil)
        #expect(head.contentLength == nil)
    }

    @Test(arguments: ["a b", "", "é", "a\"b", String(repeating: "a", count: 129)])
    func requestIDsThatAreNotRepeated(id: String) {
        let head = RequestHead(ByteBuffer(string: Self.get("X-Request-ID: \(id)\r\n")))
        if case .answerable(let head) = head { #expect(head.requestID == nil) } else { #expect(id == "é") }
    }

    @Test(arguments: valid)
    func eachPrefixOfAHeadIsIncomplete(text: String) throws {
        let bytes = Array(text.utf8)
        let whole = Kind(RequestHead(ByteBuffer(bytes: bytes)))
        let end = try #require(text.range(of: "\r\n\r\n")).upperBound
        let headLength = text[..<end].utf8.count
        for length in 1..<bytes.count {
            let kind = Kind(RequestHead(ByteBuffer(bytes: bytes[..<length])))
            #expect(kind == (length < headLength ? .incomplete : whole), "\(length) bytes")
        }
    }

    @Test func limits() {
        let limits = APIServer.headerLimits
        func kind(_ lines: String, target: String = "/v1/locations") -> Kind {
            Kind(RequestHead(ByteBuffer(string: Self.get(lines, target: target))))
        }
        func fields(_ count: Int) -> String { String(repeating: "A: b\r\n", count: count) }
        func letters(_ count: Int) -> String { String(repeating: "a", count: count) }
        #expect(kind(fields(limits.maxHeaderFieldCount - 1)) == .answerable(.lookUp, body: 0))
        #expect(kind(fields(limits.maxHeaderFieldCount)) == .unusual)
        #expect(kind("A:\(letters(limits.maxHeaderFieldSize - 2))\r\n") == .answerable(.lookUp, body: 0))
        #expect(kind("A:\(letters(limits.maxHeaderFieldSize - 1))\r\n") == .unusual)
        // The library refuses such a URL as too large a header.
        #expect(kind("", target: "/v1/locations?url=\(letters(limits.maxHeaderFieldSize))") == .unusual)
        // An end that never comes is not waited for, neither of the first line nor of another.
        for start in ["GET /", "GET / HTTP/1.1\r\nHost: a\r\nA: "] {
            let rest = limits.maxHeaderListSize - start.utf8.count
            #expect(Kind(RequestHead(ByteBuffer(string: start + letters(rest)))) == .incomplete)
            #expect(Kind(RequestHead(ByteBuffer(string: start + letters(rest + 1)))) == .unusual)
        }
    }

    @Test func bytesOfAnyKindAreTakenWithoutHarm() {
        var generator = SplitMix64(seed: 1)
        let pieces = ["GET ", "/v1/locations", " HTTP/1.1", "\r\n", "\r", "\n", "Host: a", ":", "A", " "].map
        {
            Array($0.utf8)
        }
        var kinds: [String: Int] = [:]
        for _ in 0..<100_000 {
            var bytes: [UInt8] = generator.oneIn(2) ? Array("GET / HTTP/1.1\r\n".utf8) : []
            for _ in 0..<generator.below(8) {
                if generator.oneIn(3) {
                    bytes.append(UInt8(truncatingIfNeeded: generator.next()))
                } else {
                    bytes += generator.pick(pieces)
                }
            }
            switch RequestHead(ByteBuffer(bytes: bytes)) {
            case .incomplete: kinds["incomplete", default: 0] += 1
            case .unusual: kinds["unusual", default: 0] += 1
            case .other(let length):
                kinds["other", default: 0] += 1
                #expect(length <= bytes.count)
            case .answerable: kinds["answerable", default: 0] += 1
            }
        }
        #expect(kinds["other", default: 0] > 10 && kinds["incomplete", default: 0] > 5_000, "\(kinds)")
    }

    // MARK: The library reads the same

    @Test func theLibraryFramesWhatIsAcceptedInTheSameWay() throws {
        var generator = SplitMix64(seed: 2)
        var answerable = 0
        var other = 0
        for _ in 0..<20_000 {
            let request = Mutation.request(&generator)
            switch RequestHead(ByteBuffer(bytes: request)) {
            case .incomplete, .unusual: continue
            case .other(let length):
                other += 1
                let read = try Read(request, length: length)
                // A method that the library does not know ends the connection; it reads nothing after it.
                guard read.error == nil else {
                    #expect(read.heads.isEmpty, "\(String(decoding: request, as: UTF8.self))")
                    continue
                }
                #expect(read.isAlone, "\(String(decoding: request, as: UTF8.self))")
            case .answerable(let head):
                answerable += 1
                let read = try Read(request, length: head.headLength + head.bodyLength)
                #expect(read.error == nil && read.isAlone, "\(String(decoding: request, as: UTF8.self))")
                #expect(read.bodyLength == head.bodyLength)
                let first = try #require(read.heads.first)
                #expect(first.method.rawValue == head.route.method.rawValue)
                let target = first.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
                #expect(target[0] == head.route.path)
                #expect(String(buffer: head.query) == (target.count > 1 ? String(target[1]) : ""))
                let fields = Read.Fields(first.headers)
                let authorizations = fields["authorization"]
                #expect(
                    head.authorization.map { String(buffer: $0) }
                        == (authorizations.count == 1 ? authorizations[0] : nil))
                #expect(head.contentType.map { String(buffer: $0) } == fields["content-type"].first)
                #expect(head.ifNoneMatch.map { String(buffer: $0) } == fields["if-none-match"].first)
                #expect(head.contentLength == fields["content-length"].first.flatMap { Int($0) })
                #expect(fields["content-type"].count < 2 && fields["if-none-match"].count < 2)
                #expect(fields["host"].count == 1 && fields["transfer-encoding"].isEmpty)
                #expect(first.isKeepAlive)
            }
        }
        #expect(answerable > 2_000 && other > 1_000, "\(answerable) \(other)")
    }

    /// What the library's decoder makes of a request and of another after it.
    private struct Read {
        var heads: [HTTPRequestHead] = []
        var ends = 0
        /// Of the first.
        var bodyLength = 0
        var error: (any Error)?
        /// Whether the second request was read as one of its own.
        var isAlone: Bool { heads.count == 2 && ends == 2 && heads[1].uri == "/second" }

        struct Fields {
            let headers: HTTPHeaders
            init(_ headers: HTTPHeaders) { self.headers = headers }
            subscript(name: String) -> [String] {
                headers[name].map { value in
                    String(
                        value.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }
                            .reversed())
                }
            }
        }

        init(_ request: [UInt8], length: Int) throws {
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderFieldSize = APIServer.headerLimits.maxHeaderFieldSize
            limits.maxHeaderListSize = APIServer.headerLimits.maxHeaderListSize
            limits.maxHeaderFieldCount = APIServer.headerLimits.maxHeaderFieldCount
            let channel = EmbeddedChannel(
                handler: ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits)))
            var buffer = ByteBuffer(bytes: request.prefix(length))
            buffer.writeRepeatingByte(UInt8(ascii: "x"), count: max(0, length - request.count))
            buffer.writeString("GET /second HTTP/1.1\r\nHost: b\r\n\r\n")
            do { try channel.writeInbound(buffer) } catch { self.error = error }
            while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
                switch part {
                case .head(let head): heads.append(head)
                case .body(let body): if heads.count == 1 { bodyLength += body.readableBytes }
                case .end: ends += 1
                }
            }
            _ = try? channel.finish(acceptAlreadyClosed: true)
        }
    }

    /// Requests as no client writes them.
    private enum Mutation {
        static let lines = [
            "Content-Length: 3", "content-length:0", "Content-Length: 1\t", "Content-Length:\t1",
            "Content-Length: 1 ", "CONTENT-LENGTH: 00", "Content-Length: 1e1",
            "Transfer-Encoding: chunked", "transfer-encoding:identity", "Transfer-Encoding\u{B}: chunked",
            "Connection: close", "connection:\tkeep-alive ", "Connection: upgrade", "Proxy-Connection: close",
            "Proxy-Connection: upgrade", "Upgrade: websocket", "Expect: 100-continue", "TE: trailers",
            "Host: b",
            "Authorization: Bearer a", "Authorization:", "Content-Type: text/plain", "If-None-Match: *",
            "Cookie: a=b",
            "X-Request-ID: b", " folded", "\tfolded: x", "A", ":", "A:\t b \t", "Keep-Alive: 1",
            "Range: bytes=0-1",
            "!#$%&'*+-.^_`|~: x", "A(: x", "A : x",
        ]
        static let bytes = Array("\r\n\t :,;?#%/\u{0}\u{7F}\"aA0+-".utf8) + [0x80, 0xFF]
        static let starts = [
            "DELETE /v1/locations HTTP/1.1", "BREW /v1/locations HTTP/1.1", "CONNECT /v1/locations HTTP/1.1",
            "PRI / HTTP/1.1", "SOURCE / HTTP/1.1", "DESCRIBE / HTTP/1.1", "QUERY / HTTP/1.1",
            "TRACE / HTTP/1.1",
            "GET /v1/locations?a?b=c&&d HTTP/1.1", "GET /v1/locations? HTTP/1.1",
            "GET /v1/locations?url=%zz HTTP/1.1",
            "GET /v1/locations?url=\"<>\\^`{|} HTTP/1.1", "GET /v1/locations/ HTTP/1.1",
            "GET /v1/locations HTTP/1.0",
            "GET //v1//locations HTTP/1.1", "GET /./v1/locations HTTP/1.1", "POST /v1/payloads?x HTTP/1.1",
        ]

        static func request(_ generator: inout SplitMix64) -> [UInt8] {
            var lines = generator.pick(RequestHeadTests.valid).components(separatedBy: "\r\n")
            if generator.oneIn(4) { lines[0] = generator.pick(starts) }
            for _ in 0..<generator.below(3) {
                let blank = lines.firstIndex(of: "") ?? lines.count
                let index = 1 + generator.below(max(1, blank))
                if generator.oneIn(6), lines.count > 2 {
                    lines.remove(at: min(index, lines.count - 1))
                } else {
                    lines.insert(generator.pick(Self.lines), at: min(index, lines.count))
                }
            }
            var request = Array(lines.joined(separator: "\r\n").utf8)
            for _ in 0..<generator.below(3) {
                let index = generator.below(request.count)
                switch generator.below(4) {
                case 0: request[index] = generator.pick(bytes)
                case 1: request.insert(generator.pick(bytes), at: index)
                case 2: request.remove(at: index)
                default: request[index] ^= 0x20
                }
            }
            return request
        }
    }
}
