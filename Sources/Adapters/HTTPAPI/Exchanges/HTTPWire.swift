import HTTPSyntax
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// The parts that requests have in one version of HTTP, as the library decodes them, and what writes its answers.
protocol HTTPWire {
    associatedtype RequestPart
    associatedtype ResponsePart
    associatedtype Writer: AnswerWriter where Writer.Part == ResponsePart

    static func piece(_ part: RequestPart) -> HTTPPiece<ReceivedHead>
    static func piece(_ part: ResponsePart) -> HTTPPiece<Void>
    /// A part of a request's body.
    static func received(_ bytes: ByteBuffer) -> RequestPart
}

enum HTTPPiece<Head: ~Copyable>: ~Copyable {
    case head(Head)
    case body(ByteBuffer)
    case end
}

/// What is read of a request's head before it goes to the router, or instead.
struct ReceivedHead: ~Copyable {
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
    typealias Writer = HTTP1AnswerWriter

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
}

/// A stream of HTTP/2.
enum HTTP2Wire: HTTPWire {
    typealias Writer = HTTP2AnswerWriter

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
            default: fields.take(name, value)
            }
        }
        self.init(
            method: head.method.rawValue, target: head.uri, fields: fields,
            // RFC 9110 §10.1.1: HTTP/1.0 knows no 100, and would take it for the answer.
            expectsContinue: expectsContinue && head.version != .http1_0,
            isKeepAlive: head.isKeepAlive && !changesProtocol,
            // RFC 9112 §3.2: exactly one; HTTP/1.0 knew none.
            namesHost: hosts == 1 || hosts == 0 && head.version == .http1_0)
    }

    fileprivate init(_ head: HTTPRequest) {
        var expectsContinue = false
        var fields = RequestFields()
        for field in head.headerFields {
            if field.name == .expect {
                expectsContinue = field.value.isEqualIgnoringCase(to: "100-continue")
            } else {
                fields.take(field.name.rawName, field.value)
            }
        }
        self.init(
            method: head.method.rawValue, target: head.path ?? "", fields: fields,
            expectsContinue: expectsContinue)
    }
}

extension RequestFields {
    fileprivate mutating func take(_ name: String, _ value: String) {
        /// As HTTP types give a field that comes again (RFC 9110 §5.3).
        func add(to field: inout String?) { field = field.map { "\($0), \(value)" } ?? value }
        switch name.utf8.count {
        case 12 where name.isEqualIgnoringCase(to: "content-type"): add(to: &contentType)
        case 12 where name.isEqualIgnoringCase(to: "x-request-id"): add(to: &requestID)
        case 13 where name.isEqualIgnoringCase(to: "authorization"): add(to: &authorization)
        case 13 where name.isEqualIgnoringCase(to: "if-none-match"): add(to: &ifNoneMatch)
        case 14 where name.isEqualIgnoringCase(to: "content-length"): add(to: &contentLength)
        case 15 where name.isEqualIgnoringCase(to: "x-forwarded-for"): add(to: &forwardedFor)
        case 18 where name.isEqualIgnoringCase(to: "doorstep-assertion"): add(to: &assertion)
        case 20 where name.isEqualIgnoringCase(to: "doorstep-attestation"): add(to: &attestation)
        default: break
        }
    }
}

extension String {
    /// - Parameter text: lower-case ASCII.
    func isEqualIgnoringCase(to text: StaticString) -> Bool {
        utf8.span.isEqualIgnoringCase(to: text)
    }
}
