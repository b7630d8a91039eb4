import HTTPTypes
import HummingbirdCore
import NIOCore

/// What the head of a request on the wire says of it, as far as it can be answered without the HTTP library.
///
/// This is no HTTP parser: it accepts requests whose framing leaves no doubt, written as nearly all clients write them, and
/// leaves everything else to the library. What it accepts the library would read the same way. (RFC 9112)
enum RequestHead {
    /// The end of the head is not there yet.
    case incomplete
    /// A request for a route under `/v1`, of so many bytes with its body.
    case answerable(Answerable)
    /// Some other request, of so many bytes with its body.
    case other(length: Int)
    /// Anything that is not plainly one of these.
    case unusual

    struct Answerable {
        let route: AnswerRoute
        let query: ByteBuffer
        let authorization: ByteBuffer?
        let contentType: ByteBuffer?
        let ifNoneMatch: ByteBuffer?
        let contentLength: Int?
        let forwardedFor: ByteBuffer?
        /// The caller's own.
        let requestID: String?
        let headLength: Int
        let bodyLength: Int

        func request(from client: Client) -> AnswerRequest {
            AnswerRequest(
                access: route.access, client: client, query: query, authorization: authorization,
                contentType: contentType, ifNoneMatch: ifNoneMatch, contentLength: contentLength)
        }
    }

    /// The fields that decide how a request is read, or that an answer depends on.
    fileprivate struct Fields {
        var hosts = 0
        var contentLength: Int?
        var authorizations = 0
        var authorization: Range<Int>?
        var contentType: Range<Int>?
        var ifNoneMatch: Range<Int>?
        var forwardedFor: Range<Int>?
        var requestID: Range<Int>?
        /// Whether a field that comes once came again.
        var isRepeated = false
    }

    init(_ buffer: ByteBuffer) {
        let bytes = buffer.readableBytesUInt8Span
        let limits = APIServer.headerLimits
        let unfinished: RequestHead = bytes.count > limits.maxHeaderListSize ? .unusual : .incomplete
        let lineEnd: Int
        switch bytes.lineEnd(from: 0) {
        case .at(let position): lineEnd = position
        case .missing:
            self = bytes.mayBecomeHead ? unfinished : .unusual
            return
        case .malformed:
            self = .unusual
            return
        }
        guard lineEnd <= limits.maxHeaderFieldSize, let target = bytes.requestTarget(lineEnd: lineEnd) else {
            self = .unusual
            return
        }
        var fields = Fields()
        var position = lineEnd + 2
        var count = 0
        while true {
            let end: Int
            switch bytes.lineEnd(from: position) {
            case .at(let position): end = position
            case .missing:
                self = unfinished
                return
            case .malformed:
                self = .unusual
                return
            }
            if end == position { break }
            count += 1
            guard count <= limits.maxHeaderFieldCount, end - position <= limits.maxHeaderFieldSize,
                fields.take(bytes, position..<end)
            else {
                self = .unusual
                return
            }
            position = end + 2
        }
        let headLength = position + 2
        guard headLength <= limits.maxHeaderListSize, fields.hosts == 1 else {
            self = .unusual
            return
        }
        self = Self.request(buffer, bytes, target, fields, headLength)
    }

    fileprivate static func request(
        _ buffer: ByteBuffer, _ bytes: Span<UInt8>, _ target: RequestTarget, _ fields: Fields,
        _ headLength: Int
    ) -> RequestHead {
        let bodyLength = fields.contentLength ?? 0
        let path = bytes.extracting(target.path)
        guard !fields.isRepeated, bodyLength <= AnswerRoute.maximumBodyLength,
            let route = AnswerRoute.allCases.first(where: { route in
                bytes.extracting(target.method).isEqual(to: route.method.rawValue)
                    && path.isEqual(to: route.path)
            }),
            route.method == .post || bodyLength == 0
        else { return .other(length: headLength + bodyLength) }
        func slice(_ range: Range<Int>) -> ByteBuffer? {
            buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count)
        }
        return .answerable(
            Answerable(
                route: route, query: slice(target.query) ?? ByteBuffer(),
                authorization: fields.authorizations == 1 ? fields.authorization.flatMap(slice) : nil,
                contentType: fields.contentType.flatMap(slice),
                ifNoneMatch: fields.ifNoneMatch.flatMap(slice), contentLength: fields.contentLength,
                forwardedFor: fields.forwardedFor.flatMap(slice),
                requestID: fields.requestID.flatMap { id in
                    RequestID.isAcceptable(bytes.extracting(id)) ? slice(id).map { String(buffer: $0) } : nil
                },
                headLength: headLength, bodyLength: bodyLength))
    }
}

/// Where the parts of a request line are.
struct RequestTarget {
    let method: Range<Int>
    let path: Range<Int>
    /// Without the question mark.
    let query: Range<Int>
}

/// Where a line ends.
private enum LineEnd {
    /// The position of the CR that LF follows.
    case at(Int)
    case missing
    /// A CR or LF that stands alone.
    case malformed
}

extension RequestHead.Fields {
    /// Takes a field line in; false when the request is not one to be read here.
    fileprivate mutating func take(_ bytes: Span<UInt8>, _ line: Range<Int>) -> Bool {
        var colon = line.lowerBound
        while colon < line.upperBound, bytes[colon].isToken { colon += 1 }
        guard colon > line.lowerBound, colon < line.upperBound, bytes[colon] == UInt8(ascii: ":") else {
            return false
        }
        let value = bytes.trimmingBlanks(colon + 1..<line.upperBound)
        for index in value where !bytes[index].isFieldValue { return false }
        let name = bytes.extracting(line.lowerBound..<colon)
        switch name.count {
        case 2: return !name.isEqualIgnoringCase(to: "te")
        case 4 where name.isEqualIgnoringCase(to: "host"): hosts += 1
        case 6: return !name.isEqualIgnoringCase(to: "expect")
        case 7: return !name.isEqualIgnoringCase(to: "upgrade") && !name.isEqualIgnoringCase(to: "trailer")
        case 10 where name.isEqualIgnoringCase(to: "connection"):
            return bytes.extracting(value).isEqualIgnoringCase(to: "keep-alive")
        case 12 where name.isEqualIgnoringCase(to: "content-type"): return set(\.contentType, value)
        case 12 where name.isEqualIgnoringCase(to: "x-request-id"): return set(\.requestID, value)
        case 13 where name.isEqualIgnoringCase(to: "authorization"):
            authorizations += 1
            authorization = value
        case 13 where name.isEqualIgnoringCase(to: "if-none-match"): return set(\.ifNoneMatch, value)
        case 14 where name.isEqualIgnoringCase(to: "content-length"):
            // Blanks behind it are not read alike everywhere.
            guard contentLength == nil, value.upperBound == line.upperBound,
                let length = bytes.extracting(value).decimal
            else { return false }
            contentLength = length
        case 15 where name.isEqualIgnoringCase(to: "x-forwarded-for"): return set(\.forwardedFor, value)
        case 16: return !name.isEqualIgnoringCase(to: "proxy-connection")
        case 17: return !name.isEqualIgnoringCase(to: "transfer-encoding")
        default: break
        }
        return true
    }

    private mutating func set(_ field: WritableKeyPath<Self, Range<Int>?>, _ value: Range<Int>) -> Bool {
        if self[keyPath: field] != nil { isRepeated = true }
        self[keyPath: field] = value
        return true
    }
}

extension Span<UInt8> {
    fileprivate func lineEnd(from start: Int) -> LineEnd {
        for index in start..<count where self[index] <= UInt8(ascii: "\r") {
            if self[index] == UInt8(ascii: "\r") {
                guard index + 1 < count else { return .missing }
                return self[index + 1] == UInt8(ascii: "\n") ? .at(index) : .malformed
            }
            if self[index] == UInt8(ascii: "\n") { return .malformed }
        }
        return .missing
    }

    /// Whether what has no line end yet could become one that is read here: no other protocol, no blank lines.
    fileprivate var mayBecomeHead: Bool {
        count > 0 && self[0] >= UInt8(ascii: "A") && self[0] <= UInt8(ascii: "Z")
    }

    /// `METHOD SP /path[?query] SP HTTP/1.1`; nil for anything else.
    fileprivate func requestTarget(lineEnd: Int) -> RequestTarget? {
        var methodEnd = 0
        while methodEnd < lineEnd, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self[methodEnd]) {
            methodEnd += 1
        }
        let version = lineEnd - 9
        guard methodEnd > 0, version > methodEnd + 1, self[methodEnd] == UInt8(ascii: " "),
            self[methodEnd + 1] == UInt8(ascii: "/"), extracting(version..<lineEnd).isEqual(to: " HTTP/1.1")
        else { return nil }
        // What follows a CONNECT is no HTTP.
        guard !extracting(0..<methodEnd).isEqual(to: "CONNECT") else { return nil }
        var pathEnd = version
        for index in methodEnd + 1..<version {
            // Visible ASCII, and no fragment: what the library says of others is its affair.
            guard self[index] > 0x20, self[index] < 0x7F, self[index] != UInt8(ascii: "#") else { return nil }
            if self[index] == UInt8(ascii: "?"), pathEnd == version { pathEnd = index }
        }
        return RequestTarget(
            method: 0..<methodEnd, path: methodEnd + 1..<pathEnd,
            query: Swift.min(pathEnd + 1, version)..<version)
    }

    /// Up to nine digits.
    fileprivate var decimal: Int? {
        guard (1...9).contains(count) else { return nil }
        var value = 0
        for index in indices {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self[index]) else { return nil }
            value = value * 10 + Int(self[index] - UInt8(ascii: "0"))
        }
        return value
    }
}

extension UInt8 {
    /// `VCHAR / SP / HTAB` (RFC 9110 §5.5); text beyond ASCII is left to the library.
    fileprivate var isFieldValue: Bool { self >= 0x20 && self < 0x7F || self == UInt8(ascii: "\t") }

    /// A letter, a digit or one of the other characters of RFC 9110 §5.6.2.
    fileprivate var isToken: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
