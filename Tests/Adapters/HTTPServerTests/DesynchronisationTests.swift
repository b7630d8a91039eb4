import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

/// The boundaries between requests. A client or a proxy may interpret these bytes differently. The server must send exactly the
/// responses below.
///
/// NIO's decoder (llhttp, strict) decides how lengths, chunks and heads are read, unless a comment says otherwise.
@Suite struct DesynchronisationTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: String
        /// The status of each response with its request's ID, or the refusal.
        let responses: [String]

        init(_ name: String, _ bytes: String, _ responses: String...) {
            testDescription = name
            self.bytes = bytes
            self.responses = responses
        }
    }

    /// A second request that follows in each case. It gets a response if the server recognizes it as a request.
    private static let next = "GET /later HTTP/1.1\r\nHost: a\r\nX-Request-ID: next\r\n\r\n"
    private static let malformed = "400 syntax"
    private static let host = "400 host"

    private static func get(_ lines: String = "", target: String = "/now") -> String {
        "GET \(target) HTTP/1.1\r\nHost: a\r\nX-Request-ID: first\r\n\(lines)\r\n"
    }

    private static func post(_ lines: String, _ body: String = "") -> String {
        "POST /now HTTP/1.1\r\nHost: a\r\nX-Request-ID: first\r\n\(lines)\r\n\(body)"
    }

    private static func line(_ line: String, _ lines: String = "Host: a\r\n") -> String {
        "\(line)\r\nX-Request-ID: first\r\n\(lines)\r\n"
    }

    static let lengths = [
        Case("length", post("Content-Length: 2\r\n", "{}"), "200 first", "200 next"),
        Case(
            "length and chunks", post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
            malformed),
        Case(
            "chunks and length", post("Transfer-Encoding: chunked\r\nContent-Length: 6\r\n", "0\r\n\r\n"),
            malformed),
        Case("length twice", post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"), malformed),
        Case("two lengths", post("Content-Length: 2\r\nContent-Length: 0\r\n", "{}"), malformed),
        Case("a list of lengths", post("Content-Length: 2, 2\r\n", "{}"), malformed),
        Case("length with plus", post("Content-Length: +2\r\n", "{}"), malformed),
        Case("length with minus", post("Content-Length: -2\r\n", "{}"), malformed),
        Case("length in hexadecimal", post("Content-Length: 0x2\r\n", "{}"), malformed),
        Case("empty length", post("Content-Length:\r\n", "{}"), malformed),
        Case("length beyond 64 bits", post("Content-Length: 18446744073709551618\r\n", "{}"), malformed),
        Case("length with zeros", post("Content-Length: 0002\r\n", "{}"), "200 first", "200 next"),
        Case("length folded", post("Content-Length:\r\n 2\r\n", "{}"), malformed),
        Case("length behind a blank", post("Content-Length : 2\r\n", "{}"), malformed),
        Case("length behind another name", post("Content_Length: 2\r\n", ""), "200 first", "200 next"),
    ]

    static let chunks = [
        Case(
            "chunks", post("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"), "200 first", "200 next"),
        Case(
            "chunked twice",
            post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), malformed),
        Case("chunked, chunked", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"), malformed),
        Case("identity", post("Transfer-Encoding: identity\r\n", "{}"), malformed),
        // Our choice: RFC 9112 §6.1.
        Case(
            "gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"),
            "501 coding"
        ),
        Case(
            "gzip and chunked in two fields",
            post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"),
            "501 coding"),
        Case("chunked, identity", post("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"), malformed),
        Case("xchunked", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), malformed),
        Case("chunked behind a blank", post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"), malformed),
        Case(
            "chunked behind a vertical tab", post("Transfer-Encoding:\u{B}chunked\r\n", "0\r\n\r\n"),
            malformed),
        Case(
            "a chunk with a sign", post("Transfer-Encoding: chunked\r\n", "+2\r\n{}\r\n0\r\n\r\n"), malformed),
        Case(
            "a chunk longer than it says", post("Transfer-Encoding: chunked\r\n", "1\r\n{}\r\n0\r\n\r\n"),
            malformed),
        Case(
            "a length in the trailer",
            post("Transfer-Encoding: chunked\r\n", "0\r\nContent-Length: 9\r\n\r\n"), malformed),
    ]

    static let heads = [
        // Our choice: RFC 9112 §3.2.
        Case("no host", "GET /now HTTP/1.1\r\n\r\n", host),
        Case("two hosts", get("Host: a\r\n"), host),
        Case("two hosts in HTTP/1.0", line("GET /now HTTP/1.0", "Host: a\r\nHost: b\r\n"), host),
        Case("bare LF", "GET /now HTTP/1.1\nHost: a\n\n", malformed),
        Case("bare CR", get("A: b\rC: d\r\n"), malformed),
        Case("NUL in a field", get("A: b\u{0}c\r\n"), malformed),
        Case("a folded field", get("A: b\r\n c\r\n"), malformed),
        Case("a field without a colon", get("A\r\n"), malformed),
        Case("HTTP/0.9", "GET /now\r\n", malformed),
        Case("HTTP/2.0", line("GET /now HTTP/2.0"), malformed),
        Case("a preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", malformed),
        Case("blank lines", "\r\n\r\n" + get() + "\r\n", "200 first", "200 next"),
        Case("garbage after a request", get() + "GARBAGE\r\n\r\n", "200 first", malformed),
        Case("absolute form", get(target: "http://A:80/now"), "200 first", "200 next"),
        // Our choice: RFC 9112 §3.2.2, RFC 9110 §7.2.
        Case("absolute form at another host", get(target: "http://b/now"), host),
        Case("absolute form at another port", get(target: "http://a:81/now"), host),
        Case("a fragment", get(target: "/now#a"), "200 first", "200 next"),
    ]

    static let bodies = [
        // Our choice: if the body has arrived already, no 100 is sent (RFC 9110 §10.1.1).
        Case(
            "expect", post("Content-Length: 2\r\nExpect: 100-continue\r\n", "{}"), "200 first"),
        Case(
            "HEAD with a body", line("HEAD /now HTTP/1.1", "Host: a\r\nContent-Length: 3\r\n") + "abc",
            "200 first", "200 next"),
        Case(
            "a body that looks like a request", get("Content-Length: \(next.utf8.count)\r\n") + next,
            "200 first", "200 next"),
        Case("half a body", post("Content-Length: 1000\r\n", "{}"), "200 first"),
    ]

    /// Our choice: whether another request may follow (RFC 9112 §9.3).
    static let connections = [
        Case("close", get("Connection: close\r\n"), "200 first"),
        Case("Close in a list", get("Connection: a, Close\r\n"), "200 first"),
        Case("HTTP/1.0", line("GET /now HTTP/1.0", ""), "200 first"),
        Case(
            "HTTP/1.0 that stays", line("GET /now HTTP/1.0", "Connection: keep-alive\r\n"), "200 first",
            "200 next"),
        // Our choice: RFC 9112 §6.1 and appendix C.2.3.
        Case(
            "HTTP/1.0 with chunks",
            line("POST /now HTTP/1.0", "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n")
                + "2\r\n{}\r\n0\r\n\r\n", "200 first"),
        Case("upgrade", get("Connection: upgrade\r\nUpgrade: h2c\r\n"), "200 first"),
    ]

    @Test(arguments: lengths + chunks + heads + bodies + connections)
    func bytesGetTheseResponsesAlone(_ test: Case) throws {
        let client = try EmbeddedHTTP1()
        client.respondsAtOnce = true
        // After malformed input, the decoder has stopped and reads no further bytes.
        _ = try? client.channel.writeInbound(ByteBuffer(string: test.bytes + Self.next))
        client.fire(ChannelEvent.inputClosed)
        let responses = try client.responses().map { response in
            let id = response.firstMatch(of: /X-Request-ID: (\w+)/).map { " \($0.output.1)" } ?? ""
            return String(response.prefix(3)) + id
        }
        #expect(responses == test.responses)
        client.advance(by: .seconds(2))
        #expect(!client.channel.isActive)
    }
}
