import Foundation
import HTTPTypes
import NIOCore
import Tenancy
import Testing

@testable import HTTPAPI

/// The boundaries between requests. A client or a proxy may interpret these bytes differently. The server must send exactly the
/// responses below.
///
/// NIO's decoder (llhttp, strict) decides how lengths, chunks and heads are read, unless a comment says otherwise.
@Suite(.timeLimit(.minutes(30))) struct DesynchronisationTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: String
        /// The status of each response with its request's ID, or with the error code if the request ID was not read.
        let responses: [String]

        init(_ name: String, _ bytes: String, _ responses: String...) {
            testDescription = name
            self.bytes = bytes
            self.responses = responses
        }
    }

    private static let key = "Authorization: Bearer \(PipelineTests.api.secret.text)\r\n"
    /// A second request that follows in each case. It gets a response if the server recognizes it as a request.
    private static let next = "GET /livez HTTP/1.1\r\nHost: a\r\nX-Request-ID: next\r\n\r\n"
    private static let malformed = "400 malformed_request"

    /// A request to which the event loop responds.
    private static func get(
        _ lines: String = "", id: String = "first", target: String = PipelineTests.found
    ) -> String {
        "GET \(target) HTTP/1.1\r\nHost: a\r\nX-Request-ID: \(id)\r\n\(key)\(lines)\r\n"
    }

    /// A request to which the event loop responds. Its body is refused, because it lacks all members.
    private static func post(_ lines: String, _ body: String = "") -> String {
        "POST /v1/confirmations HTTP/1.1\r\nHost: a\r\nX-Request-ID: first\r\n\(key)Content-Type: application/json\r\n"
            + "\(lines)\r\n\(body)"
    }

    private static func line(_ line: String, _ lines: String = "Host: a\r\n", id: String = "first") -> String
    {
        "\(line)\r\nX-Request-ID: \(id)\r\n\(lines)\r\n"
    }

    static let lengths = [
        Case("length", post("Content-Length: 2\r\n", "{}"), "400 first", "200 next"),
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
        Case("length with an exponent", post("Content-Length: 2e0\r\n", "{}"), malformed),
        Case("length in two words", post("Content-Length: 2 2\r\n", "{}"), malformed),
        Case("empty length", post("Content-Length:\r\n", "{}"), malformed),
        Case("length beyond 64 bits", post("Content-Length: 18446744073709551618\r\n", "{}"), malformed),
        Case("length with zeros", post("Content-Length: 0002\r\n", "{}"), "400 first", "200 next"),
        Case("length with a blank behind", post("Content-Length: 2 \r\n", "{}"), "400 first", "200 next"),
        Case("length with a tab behind", post("Content-Length: 2\t\r\n", "{}"), malformed),
        Case("length folded", post("Content-Length:\r\n 2\r\n", "{}"), malformed),
        Case("length behind a blank", post("Content-Length : 2\r\n", "{}"), malformed),
        Case("length behind another name", post("Content_Length: 2\r\n", ""), "400 first", "200 next"),
    ]

    static let chunks = [
        Case(
            "chunks", post("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"), "400 first", "200 next"),
        Case(
            "Chunked", post("transfer-encoding: Chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"), "400 first", "200 next"
        ),
        Case(
            "chunked twice",
            post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), malformed),
        Case("chunked, chunked", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"), malformed),
        Case("identity", post("Transfer-Encoding: identity\r\n", "{}"), malformed),
        // Our choice: RFC 9112 §6.1.
        Case(
            "gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"),
            "501 unsupported_transfer_coding"),
        Case(
            "gzip and chunked in two fields",
            post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"),
            "501 unsupported_transfer_coding"),
        Case("chunked, identity", post("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"), malformed),
        Case("xchunked", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), malformed),
        Case("chunked folded", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"), malformed),
        Case("chunked behind a blank", post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"), malformed),
        Case(
            "chunked behind a vertical tab", post("Transfer-Encoding:\u{B}chunked\r\n", "0\r\n\r\n"),
            malformed),
        Case(
            "a chunk with a sign", post("Transfer-Encoding: chunked\r\n", "+2\r\n{}\r\n0\r\n\r\n"), malformed),
        Case("a chunk with 0x", post("Transfer-Encoding: chunked\r\n", "0x2\r\n{}\r\n0\r\n\r\n"), malformed),
        Case(
            "a chunk with an extension", post("Transfer-Encoding: chunked\r\n", "2;a=b\r\n{}\r\n0\r\n\r\n"),
            "400 first", "200 next"),
        Case(
            "a chunk longer than it says", post("Transfer-Encoding: chunked\r\n", "1\r\n{}\r\n0\r\n\r\n"),
            malformed),
        Case(
            "a chunk with a bare LF", post("Transfer-Encoding: chunked\r\n", "2\n{}\r\n0\r\n\r\n"), malformed),
        Case(
            "a chunk of more than 64 bits",
            post("Transfer-Encoding: chunked\r\n", "10000000000000002\r\n{}\r\n0\r\n\r\n"), malformed),
        Case(
            "a length in the trailer",
            post("Transfer-Encoding: chunked\r\n", "0\r\nContent-Length: 9\r\n\r\n"), malformed),
    ]

    static let heads = [
        // Our choice: RFC 9112 §3.2.
        Case("no host", "GET /livez HTTP/1.1\r\n\r\n", malformed),
        Case("two hosts", get("Host: a\r\n"), malformed),
        Case("two hosts in HTTP/1.0", line("GET /livez HTTP/1.0", "Host: a\r\nHost: b\r\n"), malformed),
        Case("an empty host", line("GET /livez HTTP/1.1", "Host:\r\n"), "200 first", "200 next"),
        Case("bare LF", "GET /livez HTTP/1.1\nHost: a\n\n", malformed),
        Case("bare LF behind a field", get("A: b\nC: d\r\n"), malformed),
        Case("bare CR", get("A: b\rC: d\r\n"), malformed),
        Case("NUL in a field", get("A: b\u{0}c\r\n"), malformed),
        Case("NUL in a name", get("A\u{0}: b\r\n"), malformed),
        Case("NUL in a target", get(target: "/livez\u{0}"), malformed),
        Case("a folded field", get("A: b\r\n c\r\n"), malformed),
        Case("a blank before a field", get(" A: b\r\n"), malformed),
        Case("a field without a colon", get("A\r\n"), malformed),
        Case("a field without a name", get(": b\r\n"), malformed),
        // Two spaces count as one, as RFC 9112 §3 allows.
        Case("two blanks", line("GET  /livez HTTP/1.1"), "200 first", "200 next"),
        Case("a tab", line("GET\t/livez HTTP/1.1"), malformed),
        Case("HTTP/0.9", "GET /livez\r\n", malformed),
        Case("HTTP/1.2", line("GET /livez HTTP/1.2"), malformed),
        Case("HTTP/2.0", line("GET /livez HTTP/2.0"), malformed),
        Case("http/1.1", line("GET /livez http/1.1"), malformed),
        Case("a preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", malformed),
        Case("blank lines", "\r\n\r\n" + get("") + "\r\n", "200 first", "200 next"),
        Case("an unknown method", line("BREW /livez HTTP/1.1"), malformed),
        Case("a method in lower case", line("get /livez HTTP/1.1"), malformed),
        Case("garbage after a request", get() + "GARBAGE\r\n\r\n", "200 first", malformed),
        Case("absolute form", get(target: "http://A:80\(PipelineTests.found)"), "200 first", "200 next"),
        // Our choice: RFC 9112 §3.2.2, RFC 9110 §7.2.
        Case("absolute form at another host", get(target: "http://b\(PipelineTests.found)"), malformed),
        Case("absolute form at another port", get(target: "http://a:81\(PipelineTests.found)"), malformed),
        Case("absolute form for a task", line("GET http://b/livez HTTP/1.1"), malformed),
        Case(
            "absolute form in HTTP/1.0", line("GET http://b/livez HTTP/1.0", "Connection: keep-alive\r\n"),
            "200 first", "200 next"),
        Case(
            "absolute form at another host in HTTP/1.0",
            line("GET http://b/livez HTTP/1.0", "Host: a\r\nConnection: keep-alive\r\n"), malformed),
        Case("asterisk form", line("OPTIONS * HTTP/1.1"), "404 first", "200 next"),
        Case("a fragment", get(target: "\(PipelineTests.found)#a"), "200 first", "200 next"),
    ]

    static let bodies = [
        // Our choice: if the body has arrived already, no 100 is sent (RFC 9110 §10.1.1).
        Case(
            "expect", post("Content-Length: 2\r\nExpect: 100-continue\r\n", "{}"), "400 first", "200 next"),
        Case(
            "expect something else", post("Content-Length: 2\r\nExpect: b\r\n", "{}"), "400 first", "200 next"
        ),
        Case(
            "HEAD with a body", line("HEAD /livez HTTP/1.1", "Host: a\r\nContent-Length: 3\r\n") + "abc",
            "200 first", "200 next"),
        Case("GET with a body", get("Content-Length: 3\r\n") + "abc", "200 first", "200 next"),
        Case(
            "a body that looks like a request", get("Content-Length: \(next.utf8.count)\r\n") + next,
            "200 first", "200 next"),
        Case("half a body", post("Content-Length: 1000\r\n", "{}"), malformed),
    ]

    /// Our choices: whether another request may follow (RFC 9112 §9.3), and the order of the responses.
    static let connections = [
        Case("close", get("Connection: close\r\n"), "200 first"),
        Case("Close in a list", get("Connection: a, Close\r\n"), "200 first"),
        Case(
            "close for a task", line("GET /livez HTTP/1.1", "Host: a\r\nConnection: close\r\n"),
            "200 first"),
        Case("HTTP/1.0", line("GET /livez HTTP/1.0", ""), "200 first"),
        Case("HTTP/1.0 from memory", line("GET \(PipelineTests.found) HTTP/1.0", key), "200 first"),
        Case(
            "HTTP/1.0 that stays", line("GET /livez HTTP/1.0", "Connection: keep-alive\r\n"), "200 first",
            "200 next"),
        // Our choice: RFC 9112 §6.1 and appendix C.2.3.
        Case(
            "HTTP/1.0 with chunks",
            line(
                "POST /v1/confirmations HTTP/1.0",
                "\(key)Content-Type: application/json\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n"
            )
                + "2\r\n{}\r\n0\r\n\r\n", "400 first"),
        Case("upgrade", get("Connection: upgrade\r\nUpgrade: h2c\r\n"), "200 first"),
        Case("CONNECT", line("CONNECT a:443 HTTP/1.1"), "404 first"),
        Case(
            "a pipeline",
            get(id: "a") + line("GET /v1/instances/x HTTP/1.1", "Host: a\r\n\(key)", id: "b")
                + line("GET /nothing HTTP/1.1", id: "c") + get(id: "d")
                + line("HEAD /livez HTTP/1.1", id: "e")
                + line("PUT /v1/lookup HTTP/1.1", id: "f") + get(id: "g"),
            "200 a", "404 b", "404 c", "200 d", "200 e", "405 f", "200 g", "200 next"),
    ]

    /// `ab -k` waits for this field, or for the end of the connection (RFC 9112 §9.3).
    @Test(arguments: ["/livez", PipelineTests.found, "/nothing"])
    func http10KeepAliveIsConfirmed(target: String) async throws {
        try await PipelineTests.serve(PipelineTests.api, fromMemory: true) { port in
            let stays = Self.line("GET \(target) HTTP/1.0", "\(Self.key)Connection: Keep-Alive\r\n")
            let text = try await PipelineTests.send([stays + stays], to: port)
            #expect(text.components(separatedBy: "\r\nConnection: keep-alive\r\n").count == 3, "\(text)")
            let ends = Self.line("GET \(target) HTTP/1.0", Self.key)
            #expect(try await !PipelineTests.send([ends], to: port).contains("keep-alive"))
        }
    }

    /// RFC 9110 §10.1.1.
    @Test(arguments: [
        ("POST /v1/confirmations", "", "401"), ("PATCH /v1/locations", key, "403"),
        ("POST /v1/nothing", key, "404"), ("PUT /v1/lookup", key, "405"),
        ("POST /v1/confirmations", "\(key)Content-Type: text/plain\r\n", "415"),
        (
            "POST /v1/confirmations", "\(key)Content-Type: application/json\r\nContent-Length: 70000\r\n",
            "413"
        ),
    ])
    func rejectionReplacesContinueBeforeTheBody(line: String, fields: String, status: String) async throws {
        try await PipelineTests.serve(PipelineTests.api, fromMemory: true) { port in
            let length = fields.contains("Content-Length") ? "" : "Content-Length: 2\r\n"
            let request = Self.line(
                "\(line) HTTP/1.1", "Host: a\r\nExpect: 100-continue\r\n\(length)\(fields)")
            // The client does not send the body, and the server closes the connection.
            let text = try await PipelineTests.send([request], to: port, thenClosing: false)
            #expect(Self.responses(text) == ["\(status) first"], "\(text)")
            #expect(text.contains("\r\nConnection: close\r\n"), "\(text)")
        }
    }

    /// RFC 9110 §10.1.1.
    @Test func continueIsSentWhenTheBodyIsNeeded() async throws {
        try await PipelineTests.serve(PipelineTests.api, fromMemory: true) { port in
            let head = Self.post("Content-Length: 2\r\nExpect: 100-continue\r\n")
            let (continues, source) = AsyncStream.makeStream(of: Void.self)
            let text = try await PipelineTests.send(
                [head],
                then: {
                    for await _ in continues { break }
                    return "{}" + Self.next
                }, to: port, onResponse: { source.yield() })
            #expect(Self.responses(text) == ["100", "400 first", "200 next"], "\(text)")
        }
    }

    @Test func ambiguousRequestsHaveExactlyTheExpectedResponses() async throws {
        try await PipelineTests.serve(PipelineTests.api, fromMemory: true) { port in
            for each in Self.lengths + Self.chunks + Self.heads + Self.bodies + Self.connections {
                let text = try await PipelineTests.send([each.bytes + Self.next], to: port)
                #expect(Self.responses(text) == each.responses, "\(each.testDescription)")
            }
        }
    }

    private static func responses(_ text: String) -> [String] {
        text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { response in
            let id = response.firstMatch(of: /\r\nX-Request-ID: ([a-z]+)\r\n/)?.output.1
            let code = response.firstMatch(of: /"code":"([a-z_]+)"/)?.output.1
            return ([response.prefix(3)] + [id ?? code].compactMap(\.self)).joined(separator: " ")
        }
    }
}
