import HTTPServer
import HTTPSyntax
import HTTPTypes
import NIOCore

/// What a route answers, before it is written to the wire.
struct APIResponse {
    var status: HTTPResponse.Status = .ok
    /// None with 304.
    var body: Body?
    /// A body that replaces `body`; of responses from tasks alone.
    var pieces: Pieces?
    var contentType = "application/json"
    var caching: Caching
    /// Set for a refusal: its content type and what else belongs into its header.
    var problem: Problem?
    var standing = RequestAllowance()
    /// The work of the response, in lookups: as many requests are counted against the caller's limits.
    var lookups = 1
    /// What else belongs into the header of an answer that is no refusal.
    var headers: HTTPFields = [:]

    enum Body {
        /// Of this answer alone.
        case own([UInt8])
        /// Of many answers: a client may ask for it many times before it reads.
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

    /// A body that is written piece by piece, as its client takes it.
    struct Pieces {
        /// In bytes.
        let length: Int
        let write: @Sendable (BodyWriter) async throws -> Void
    }

    /// What many are answered with as it is: kept once, however many have not read it yet.
    struct Shared {
        fileprivate let bytes: ByteBuffer
        fileprivate let tag: String
        /// The compressed bytes with the tag of that representation (RFC 9110 §8.8.3); nil if the document is not compressed.
        fileprivate let gzip: (bytes: ByteBuffer, tag: String)?
        fileprivate let isCompressed: Bool

        /// - Parameter isCompressed: Whether clients that accept `gzip` get it so: compressed here, once.
        init(_ bytes: [UInt8], isCompressed: Bool = false) {
            self.bytes = ByteBuffer(bytes: bytes)
            self.isCompressed = isCompressed
            let tag = EntityTag(of: bytes).text
            self.tag = tag
            gzip =
                isCompressed
                ? GzipEncoder.encode(bytes).map { (ByteBuffer(bytes: $0), tag.dropLast() + "-gzip\"") } : nil
        }
    }

    enum Caching {
        /// For this request alone.
        case none
        /// A client may use it for a while without asking again, and can ask whether it still holds.
        case tagged(EntityTag)
        /// The same for everyone who asks for it at this host, for so many seconds.
        case shared(maximumAge: Int, tag: String?)
        /// The same for everyone, for ever.
        case immutable(tag: String)
    }

    /// What a tagged answer depends on beside its URL (RFC 9110 §12.5.5).
    static let varyingFields = "Authorization, Doorstep-Attestation"

    /// How long a clip may use a location without asking again, in seconds [ours].
    static let maximumAge = 60

    /// How long an answer for everyone may be used without asking again, in seconds [ours].
    static let sharedMaximumAge = 300

    /// An answer for this request alone.
    init(uncached body: [UInt8], as contentType: String = "application/json") {
        self.body = .own(body)
        self.contentType = contentType
        caching = .none
    }

    /// An answer for this request alone, with another status than 200.
    init(_ status: HTTPResponse.Status, uncached body: [UInt8]? = nil) {
        self.status = status
        self.body = body.map(Body.own)
        caching = .none
    }

    /// The answer with its validator, or 304 when the client has it (RFC 9110 §13.1.2).
    init(cacheable body: [UInt8], ifNoneMatch: String?) {
        let tag = EntityTag(of: body)
        self.init(.own(body), tag.text, .tagged(tag), ifNoneMatch: ifNoneMatch)
    }

    /// The same, for everyone.
    /// - Parameter maximumAge: For how many seconds it may be used without asking again.
    init(
        _ body: Shared, as contentType: String = "application/json", to request: APIRequest,
        maximumAge: Int = sharedMaximumAge
    ) {
        let gzip = GzipEncoder.isAccepted(request.fields.acceptEncoding) ? body.gzip : nil
        let tag = gzip?.tag ?? body.tag
        self.init(
            .shared(gzip?.bytes ?? body.bytes), tag, .shared(maximumAge: maximumAge, tag: tag),
            ifNoneMatch: request.fields.ifNoneMatch)
        self.contentType = contentType
        if body.isCompressed { headers[.vary] = "Accept-Encoding" }
        if gzip != nil, self.body != nil { headers[.contentEncoding] = "gzip" }
    }

    /// An answer that is written piece by piece.
    init(_ pieces: Pieces, as contentType: String, _ caching: Caching) {
        self.pieces = pieces
        self.contentType = contentType
        self.caching = caching
    }

    /// To a client that has what is named by its own digest.
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
    }

    /// Writes its header fields.
    func write(to header: inout FieldWriter) {
        for field in problem?.headers ?? headers { header.append(field.name, field.value) }
        if body != nil || pieces != nil { header.append(.contentType, contentType) }
        switch caching {
        case .none: header.append(.cacheControl, "no-store")
        case .tagged(let tag):
            header.append(.eTag, upTo: EntityTag.length, tag.write)
            header.append(.cacheControl, Self.privateCaching)
            header.append(.vary, Self.varyingFields)
        case .shared(let maximumAge, let tag):
            if let tag { header.append(.eTag, tag) }
            header.append(.cacheControl, "public, max-age=\(maximumAge)")
        case .immutable(let tag):
            header.append(.eTag, tag)
            // A year (RFC 8246).
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
    }
}
