import Formats
import HTTPServer
import HTTPTypes
import NIOCore
import Platform

/// An endpoint's response, before it is written to the connection.
struct APIResponse {
    var status: HTTPResponse.Status = .ok
    /// Nil for 304.
    var body: Body?
    /// A body that replaces `body`. Only responses from tasks have one.
    var pieces: Pieces?
    var contentType = "application/json"
    var caching: Caching
    /// The problem, if the request is refused. It sets the content type and further header fields.
    var problem: Problem?
    var standing = RequestAllowance()
    /// The work of the response, as a number of lookups. The caller's limits count this number of requests.
    var lookups = 1
    /// Further header fields; not used if the response is a problem.
    var headers: HTTPFields = [:]
    /// The origin of the page that may read the response; nil for none.
    var allowedOrigin: String?
    /// Whether a client that accepts `gzip` gets a long body compressed.
    ///
    /// The length of a compressed body can reveal a secret in it to a caller who chooses other parts of the body (BREACH). So this
    /// is true only for bodies without secrets. Responses with API keys, webhook secrets, tokens, challenges or receipts never set
    /// it.
    var isCompressible = false
    /// Whether another client may get the body in another coding.
    private var variesByCoding = false
    /// Whether this body is compressed.
    private var isCompressed = false

    enum Body {
        /// The bytes of this response alone.
        case own([UInt8])
        /// Bytes that many responses share. A client that sends many requests and reads no response uses the memory only once.
        case shared(ByteBuffer)

        var count: Int {
            switch self {
            case .own(let bytes): bytes.count
            case .shared(let bytes): bytes.readableBytes
            }
        }

        var buffer: ByteBuffer {
            switch self {
            case .own(let bytes): ByteBuffer(bytes: bytes)
            case .shared(let bytes): bytes
            }
        }
    }

    /// A body that is written piece by piece, as fast as its client reads it.
    struct Pieces {
        /// In bytes.
        let length: Int
        /// How long the client may take to read the body. After this time, the response is cut.
        let timeLimit: Duration
        let write: @Sendable (BodyWriter) async throws -> Void
    }

    /// A body that many responses share. It is in memory once, even if many clients read it.
    struct Shared {
        fileprivate let bytes: ByteBuffer
        fileprivate let tag: String
        /// The compressed bytes with the tag of that representation (RFC 9110 §8.8.3); nil if the document is not compressed.
        fileprivate let gzip: (bytes: ByteBuffer, tag: String)?
        fileprivate let isCompressed: Bool

        /// - Parameter isCompressed: Whether clients that accept `gzip` get a compressed body. It is compressed here, once.
        init(_ bytes: [UInt8], isCompressed: Bool = false) {
            self.bytes = ByteBuffer(bytes: bytes)
            self.isCompressed = isCompressed
            let tag = EntityTag(of: bytes).text
            self.tag = tag
            gzip =
                isCompressed
                ? GzipEncoder.encode(bytes, .best).map {
                    (ByteBuffer(bytes: $0), EntityTag.ofCompressed(tag))
                } : nil
        }
    }

    enum Caching {
        /// The response is for this request alone.
        case none
        /// The client may use the response for a while, and can revalidate it by its tag.
        case tagged(EntityTag)
        /// The response is the same for every client of this host, for this number of seconds.
        case shared(maximumAge: Int, tag: String?)
        /// The response is the same for every client and never changes.
        case immutable(tag: String)
    }

    /// `Vary` of tagged responses: the request fields that they depend on (RFC 9110 §12.5.5).
    static let varyingFields = "Authorization, Doorstep-Attestation, Accept-Encoding, Origin"

    /// The seconds for which a clip may use a location without revalidation. [ours]
    static let maximumAge = 60

    /// The seconds for which a shared response may be used without revalidation. [ours]
    static let sharedMaximumAge = 300

    /// A response for this request alone.
    init(uncached body: [UInt8], as contentType: String = "application/json") {
        self.body = .own(body)
        self.contentType = contentType
        caching = .none
    }

    /// A response for this request alone, with another status than 200.
    init(_ status: HTTPResponse.Status, uncached body: [UInt8]? = nil) {
        self.status = status
        self.body = body.map(Body.own)
        caching = .none
    }

    /// The response with its entity tag, or 304 if the client has it (RFC 9110 §13.1.2).
    init(cacheable body: [UInt8], for fields: borrowing RequestFields) {
        let tag = EntityTag(of: body, isCompressed: fields.selectsGzip(for: body.count))
        self.init(.own(body), tag.text, .tagged(tag), ifNoneMatch: fields.ifNoneMatch)
        isCompressible = true
    }

    /// A response that is the same for every client, or 304.
    /// - Parameter maximumAge: The seconds for which it may be used without revalidation.
    init(
        _ body: Shared, as contentType: String = "application/json", to request: APIRequest,
        maximumAge: Int = sharedMaximumAge
    ) {
        let gzip = request.fields.acceptsGzip ? body.gzip : nil
        let tag = gzip?.tag ?? body.tag
        self.init(
            .shared(gzip?.bytes ?? body.bytes), tag, .shared(maximumAge: maximumAge, tag: tag),
            ifNoneMatch: request.fields.ifNoneMatch)
        self.contentType = contentType
        if body.isCompressed { headers[.vary] = "Accept-Encoding" }
        isCompressed = gzip != nil && self.body != nil
    }

    /// A response that is written piece by piece.
    init(_ pieces: Pieces, as contentType: String, _ caching: Caching) {
        self.pieces = pieces
        self.contentType = contentType
        self.caching = caching
    }

    /// 304 for a client that already has the resource, whose URL contains its digest.
    init(notModified tag: String) {
        status = .notModified
        caching = .immutable(tag: tag)
    }

    private init(_ body: Body, _ tag: String, _ caching: Caching, ifNoneMatch: String?) {
        self.caching = caching
        if let ifNoneMatch, ifNoneMatch.utf8.span.hasEntityTag(tag) {
            status = .notModified
        } else {
            self.body = body
        }
    }

    init(_ problem: Problem, requestID: String) {
        status = problem.status
        body = .own(problem.body(requestID: requestID))
        contentType = "application/problem+json"
        caching = .none
        self.problem = problem
        standing = problem.standing
        isCompressible = true
    }

    /// Compresses a long body for a client that accepts `gzip`.
    mutating func compress(for fields: borrowing RequestFields) {
        guard isCompressible, let body, body.count > GzipEncoder.longestPlainLength,
            case .own(let bytes) = body
        else { return }
        variesByCoding = true
        guard fields.acceptsGzip, let encoded = GzipEncoder.encode(bytes, .fast) else { return }
        isCompressed = true
        self.body = .own(encoded)
        if let tag = headers[.eTag] { headers[.eTag] = EntityTag.ofCompressed(tag) }
    }

    /// Writes its header fields.
    func write(to header: inout FieldWriter) {
        for field in problem?.headers ?? headers { header.append(field.name, field.value) }
        if body != nil || pieces != nil { header.append(.contentType, contentType) }
        if isCompressed { header.append(.contentEncoding, "gzip") }
        if let allowedOrigin { CrossOrigin.write(allowing: allowedOrigin, to: &header) }
        switch caching {
        case .none:
            header.append(.cacheControl, "no-store")
            if variesByCoding { header.append(.vary, "Accept-Encoding") }
            if allowedOrigin != nil { header.append(.vary, "Origin") }
        case .tagged(let tag):
            header.append(.eTag, upTo: EntityTag.maximumLength, tag.write)
            header.append(.cacheControl, Self.privateCaching)
            header.append(.vary, Self.varyingFields)
        case .shared(let maximumAge, let tag):
            if let tag { header.append(.eTag, tag) }
            header.append(.cacheControl, "public, max-age=\(maximumAge)")
        case .immutable(let tag):
            header.append(.eTag, tag)
            // One year. `immutable`: RFC 8246.
            header.append(.cacheControl, "public, max-age=31536000, immutable")
        }
        if standing.isLimited {
            header.append(.rateLimitPolicy, upTo: RequestAllowance.maximumLength, standing.writePolicy)
            header.append(.rateLimit, upTo: RequestAllowance.maximumLength, standing.writeRemaining)
        }
    }

    private static let privateCaching = "private, max-age=\(maximumAge)"

    static func tag(of body: [UInt8]) -> String { EntityTag(of: body).text }
}

extension ServerResponse {
    init(_ response: APIResponse, requestID: String) {
        let body: Body =
            if let pieces = response.pieces {
                .stream(length: pieces.length, pieces.write)
            } else {
                switch response.body {
                case .own(let bytes): .bytes(bytes)
                case .shared(let bytes): .buffer(bytes)
                case nil: .empty
                }
            }
        self.init(
            response.status, body: body,
            writingFields: { header in
                response.write(to: &header)
                header.append(.requestID, requestID)
            })
        timeLimit = response.pieces?.timeLimit
    }
}
