import HTTPSyntax
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// The parts that requests have in one version of HTTP, as the library decodes them, and what writes its answers.
protocol HTTPWire {
    associatedtype RequestPart
    associatedtype ResponsePart
    associatedtype Writer: ResponseWriter where Writer.Part == ResponsePart

    static func piece(_ part: RequestPart) -> HTTPPiece<ReceivedHead>
    static func piece(_ part: ResponsePart) -> HTTPPiece<Void>
    /// A part of a request's body.
    static func received(_ bytes: ByteBuffer) -> RequestPart
    /// Whether the connection must end if the client was told not to send a body that it has announced.
    static var endsWithUnsentBody: Bool { get }
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
    /// Whether the response must say that the connection stays open, as in HTTP/1.0 (RFC 9112 §9.3).
    var confirmsKeepAlive = false
    var defect: Defect?

    /// Why the request is refused before any endpoint sees it.
    enum Defect {
        /// It has no host or several, or two that contradict each other (RFC 9112 §3.2, RFC 9113 §8.3.1).
        case host
        /// Its body has another transfer coding than `chunked` (RFC 9112 §6.1).
        case transferCoding
    }
}

/// HTTP/1.1 and 1.0, plain and over TLS, before the library makes it the same as HTTP/2.
enum HTTP1Wire: HTTPWire {
    typealias Writer = HTTP1ResponseWriter

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

    /// Else the client's next request would be read as that body.
    static var endsWithUnsentBody: Bool { true }
}

/// A stream of HTTP/2.
enum HTTP2Wire: HTTPWire {
    typealias Writer = HTTP2ResponseWriter

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
    static var endsWithUnsentBody: Bool { false }
}

extension ReceivedHead {
    fileprivate init(_ head: HTTPRequestHead) {
        let isHTTP10 = head.version == .http1_0
        var host: String?
        var hosts = 0
        var expectsContinue = false
        // The library's decoder reads nothing behind these, whatever the response is.
        var changesProtocol = head.method == .CONNECT
        var hasTransferCoding = false
        var (hasOtherCoding, endsWithChunked) = (false, false)
        var fields = RequestFields()
        for (name, value) in head.headers {
            switch name.utf8.count {
            case 4 where name.isEqualIgnoringCase(to: "host"): (host, hosts) = (value, hosts + 1)
            case 6 where name.isEqualIgnoringCase(to: "expect"):
                expectsContinue = value.isEqualIgnoringCase(to: "100-continue")
            case 7 where name.isEqualIgnoringCase(to: "upgrade"): changesProtocol = true
            case 17 where name.isEqualIgnoringCase(to: "transfer-encoding"):
                hasTransferCoding = true
                let codings = value.utf8.span
                codings.forEachPart(separatedBy: UInt8(ascii: ",")) { coding in
                    endsWithChunked = codings.extracting(coding).isEqualIgnoringCase(to: "chunked")
                    hasOtherCoding = hasOtherCoding || !endsWithChunked
                    return true
                }
            default: fields.take(name, value)
            }
        }
        // HTTP/1.0 knows no transfer codings, so that a proxy may see other borders (RFC 9112 §6.1).
        let isKeepAlive = head.isKeepAlive && !changesProtocol && !(isHTTP10 && hasTransferCoding)
        // RFC 9112 §3.2: exactly one; HTTP/1.0 knew none.
        let namesHost = hosts == 1 || hosts == 0 && isHTTP10
        self.init(
            method: head.method.rawValue, target: head.uri, fields: fields,
            // RFC 9110 §10.1.1: HTTP/1.0 knows no 100, and would take it for the response.
            expectsContinue: expectsContinue && !isHTTP10, isKeepAlive: isKeepAlive,
            confirmsKeepAlive: isHTTP10 && isKeepAlive,
            defect: !namesHost || Self.contradicts(host, target: head.uri)
                // Without chunked at the end the decoder refuses it: the body has no known end (RFC 9112 §6.3).
                ? .host : hasOtherCoding && endsWithChunked ? .transferCoding : nil)
    }

    /// Whether a target in absolute form has another authority than `Host` (RFC 9112 §3.2.2).
    private static func contradicts(_ host: String?, target: String) -> Bool {
        // The other forms of targets have no scheme (RFC 9112 §3.2).
        guard let host, target.utf8.first != UInt8(ascii: "/"), let scheme = target.firstRange(of: "://")
        else { return false }
        let authority = target[scheme.upperBound...].prefix { !"/?#".contains($0) }
        let isSecure = target[..<scheme.lowerBound].lowercased() == "https"
        return !Authority.isSame(String(authority), host, defaultPort: isSecure ? 443 : 80)
    }

    fileprivate init(_ head: HTTPRequest) {
        var expectsContinue = false
        var contradicts = false
        var fields = RequestFields()
        for field in head.headerFields {
            if field.name == .expect {
                expectsContinue = field.value.isEqualIgnoringCase(to: "100-continue")
            } else if field.name == .host, let authority = head.authority {
                contradicts = contradicts || !Authority.isSame(authority, field.value, defaultPort: 443)
            } else {
                fields.take(field.name.rawName, field.value)
            }
        }
        self.init(
            method: head.method.rawValue, target: head.path ?? "", fields: fields,
            expectsContinue: expectsContinue, defect: contradicts ? .host : nil)
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
        case 15 where name.isEqualIgnoringCase(to: "idempotency-key"): idempotencyKeys.append(value)
        case 16 where name.isEqualIgnoringCase(to: "content-encoding"): add(to: &contentEncoding)
        case 18 where name.isEqualIgnoringCase(to: "doorstep-assertion"): add(to: &assertion)
        case 20 where name.isEqualIgnoringCase(to: "doorstep-attestation"): add(to: &attestation)
        default: break
        }
    }
}

extension HTTPField.Name {
    // Behind `:authority` in HTTP/2; HTTP types have no name for it.
    fileprivate static let host = Self(known: "Host")
}

extension String {
    /// - Parameter text: lower-case ASCII.
    func isEqualIgnoringCase(to text: StaticString) -> Bool {
        utf8.span.isEqualIgnoringCase(to: text)
    }
}
