import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// The parts that requests and answers have in one version of HTTP, as the library decodes and encodes them.
protocol HTTPWire {
    associatedtype RequestPart
    associatedtype ResponsePart
    associatedtype Header: AnswerHeader
    /// Whether the end of an answer is sent as something of its own where there is a body.
    static var hasEndsOfItsOwn: Bool { get }

    static func piece(_ part: RequestPart) -> HTTPPiece<ReceivedHead>
    static func piece(_ part: ResponsePart) -> HTTPPiece<Void>
    /// A part of a request's body.
    static func received(_ bytes: ByteBuffer) -> RequestPart
    static func head(_ status: HTTPResponse.Status, _ header: Header) -> ResponsePart
    static func body(_ bytes: ByteBuffer) -> ResponsePart
    static var end: ResponsePart { get }
    /// The head of an answer that says that it is the last of its connection.
    static func closing(_ head: ResponsePart) -> ResponsePart
}

/// The header of an answer, as it is put together.
protocol AnswerHeader {
    init(capacity: Int)
    mutating func append(_ name: HTTPField.Name, _ value: String)
}

extension HTTPHeaders: AnswerHeader {
    init(capacity: Int) {
        self.init([])
        reserveCapacity(capacity)
    }

    mutating func append(_ name: HTTPField.Name, _ value: String) { add(name: name.rawName, value: value) }
}

extension HTTPFields: AnswerHeader {
    init(capacity: Int) {
        self.init()
        reserveCapacity(capacity)
    }

    mutating func append(_ name: HTTPField.Name, _ value: String) {
        append(HTTPField(name: name, value: value))
    }
}

enum HTTPPiece<Head> {
    case head(Head)
    case body(ByteBuffer)
    case end
}

/// What is read of a request's head before it goes to the router, or instead.
struct ReceivedHead {
    let method: String
    /// Path and query, as they came.
    let target: String
    let fields: RequestFields
    /// Whether the client waits for `100 Continue` (RFC 9110 §10.1.1).
    let expectsContinue: Bool
    /// Whether another request may follow on the connection.
    var isKeepAlive = true
    /// Whether it names its host as often as its version asks for.
    var namesHost = true
}

/// HTTP/1.1 and 1.0, plain and over TLS, before the library makes it the same as HTTP/2.
enum HTTP1Wire: HTTPWire {
    static func piece(_ part: HTTPServerRequestPart) -> HTTPPiece<ReceivedHead> {
        switch part {
        case .head(let head): .head(ReceivedHead(head))
        case .body(let bytes): .body(bytes)
        case .end: .end
        }
    }

    static func piece(_ part: HTTPServerResponsePart) -> HTTPPiece<Void> {
        switch part {
        case .body(.byteBuffer(let bytes)): .body(bytes)
        case .head, .body: .head(())
        case .end: .end
        }
    }

    static func received(_ bytes: ByteBuffer) -> HTTPServerRequestPart { .body(bytes) }

    /// Where the length is told, the body ends with its last byte.
    static var hasEndsOfItsOwn: Bool { false }

    static func head(_ status: HTTPResponse.Status, _ header: HTTPHeaders) -> HTTPServerResponsePart {
        let status: HTTPResponseStatus =
            status == .ok
            ? .ok : HTTPResponseStatus(statusCode: status.code, reasonPhrase: status.reasonPhrase)
        return .head(HTTPResponseHead(version: .http1_1, status: status, headers: header))
    }

    static func body(_ bytes: ByteBuffer) -> HTTPServerResponsePart { .body(.byteBuffer(bytes)) }
    static var end: HTTPServerResponsePart { .end(nil) }

    static func closing(_ head: HTTPServerResponsePart) -> HTTPServerResponsePart {
        guard case .head(var head) = head else { return head }
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        return .head(head)
    }
}

/// A stream of HTTP/2.
enum HTTP2Wire: HTTPWire {
    static func piece(_ part: HTTPRequestPart) -> HTTPPiece<ReceivedHead> {
        switch part {
        case .head(let head): .head(ReceivedHead(head))
        case .body(let bytes): .body(bytes)
        case .end: .end
        }
    }

    static func piece(_ part: HTTPResponsePart) -> HTTPPiece<Void> {
        switch part {
        case .head: .head(())
        case .body(let bytes): .body(bytes)
        case .end: .end
        }
    }

    static func received(_ bytes: ByteBuffer) -> HTTPRequestPart { .body(bytes) }

    static var hasEndsOfItsOwn: Bool { true }

    static func head(_ status: HTTPResponse.Status, _ header: HTTPFields) -> HTTPResponsePart {
        .head(HTTPResponse(status: status, headerFields: header))
    }

    static func body(_ bytes: ByteBuffer) -> HTTPResponsePart { .body(bytes) }
    static var end: HTTPResponsePart { .end(nil) }
    /// There is no such field in HTTP/2 (RFC 9113 §8.2.2).
    static func closing(_ head: HTTPResponsePart) -> HTTPResponsePart { head }
}

extension ReceivedHead {
    fileprivate init(_ head: HTTPRequestHead) {
        var hosts = 0
        var expectsContinue = false
        // The library's decoder reads nothing behind these, whatever the answer is.
        var changesProtocol = head.method == .CONNECT
        var fields = RequestFields()
        for (name, value) in head.headers {
            switch name.utf8.count {
            case 4 where name.isEqualIgnoringCase(to: "host"): hosts += 1
            case 6 where name.isEqualIgnoringCase(to: "expect"):
                expectsContinue = value.isEqualIgnoringCase(to: "100-continue")
            case 7 where name.isEqualIgnoringCase(to: "upgrade"): changesProtocol = true
            case 12...15: fields.take(name, value)
            case 18 where name.isEqualIgnoringCase(to: "doorstep-assertion"):
                fields.assertion = fields.assertion.map { "\($0), \(value)" } ?? value
            case 20 where name.isEqualIgnoringCase(to: "doorstep-attestation"):
                fields.attestation = fields.attestation.map { "\($0), \(value)" } ?? value
            default: break
            }
        }
        self.init(
            method: head.method.rawValue, target: head.uri, fields: fields, expectsContinue: expectsContinue,
            isKeepAlive: head.isKeepAlive && !changesProtocol,
            // RFC 9112 §3.2: exactly one; HTTP/1.0 knew none.
            namesHost: hosts == 1 || hosts == 0 && head.version == .http1_0)
    }

    fileprivate init(_ head: HTTPRequest) {
        self.init(
            method: head.method.rawValue, target: head.path ?? "", fields: RequestFields(head.headerFields),
            expectsContinue: head.headerFields[.expect]?.isEqualIgnoringCase(to: "100-continue") == true)
    }
}

extension RequestFields {
    /// - Parameter name: of 12 to 15 bytes, as all these names are.
    fileprivate mutating func take(_ name: String, _ value: String) {
        /// As HTTP types give a field that comes again (RFC 9110 §5.3).
        func add(to field: inout String?) { field = field.map { "\($0), \(value)" } ?? value }
        if name.isEqualIgnoringCase(to: "authorization") {
            add(to: &authorization)
        } else if name.isEqualIgnoringCase(to: "content-type") {
            add(to: &contentType)
        } else if name.isEqualIgnoringCase(to: "if-none-match") {
            add(to: &ifNoneMatch)
        } else if name.isEqualIgnoringCase(to: "content-length") {
            add(to: &contentLength)
        } else if name.isEqualIgnoringCase(to: "x-forwarded-for") {
            add(to: &forwardedFor)
        } else if name.isEqualIgnoringCase(to: "x-request-id") {
            add(to: &requestID)
        }
    }
}

extension String {
    /// - Parameter text: lower-case ASCII.
    fileprivate func isEqualIgnoringCase(to text: StaticString) -> Bool {
        utf8.span.isEqualIgnoringCase(to: text)
    }
}
