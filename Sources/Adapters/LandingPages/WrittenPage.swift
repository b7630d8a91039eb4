import Formats
import HTTPTypes
import Lookups
import Platform

/// A page with its header fields, ready to send.
struct WrittenPage: Sendable {
    private let status: HTTPResponse.Status
    private let fields: HTTPFields
    private let body: [UInt8]
    private let tag: String
    /// The compressed page with its entity tag; nil for a short page.
    private let gzip: (body: [UInt8], tag: String)?

    init(_ page: LandingPage, _ fields: HTTPFields) {
        status = page.isOfUnknownLocation ? .notFound : .ok
        body = page.html()
        let tag = Self.tag(of: body)
        self.tag = tag
        gzip = GzipEncoder.encode(body, .fast).map { ($0, "\(tag.dropLast())-gzip\"") }
        var fields = fields
        fields[.contentLanguage] = page.language
        fields[.vary] = "Accept-Encoding"
        self.fields = fields
    }

    /// The bytes of the page in memory.
    var byteCount: Int { body.count + (gzip?.body.count ?? 0) }

    /// - Parameter request: The header fields of the request.
    func response(to request: HTTPFields) -> LandingSite.Response {
        let gzip = request[.acceptEncoding]?.utf8.span.prefersGzip == true ? gzip : nil
        let tag = gzip?.tag ?? tag
        var fields = fields
        // RFC 9110 §13.2.1: conditions of a request apply only if the response would succeed.
        guard status == .ok else {
            if gzip != nil { fields[.contentEncoding] = "gzip" }
            return (HTTPResponse(status: status, headerFields: fields), gzip?.body ?? body)
        }
        fields[.eTag] = tag
        guard let known = request[.ifNoneMatch], known.utf8.span.hasEntityTag(tag) else {
            if gzip != nil { fields[.contentEncoding] = "gzip" }
            return (HTTPResponse(status: .ok, headerFields: fields), gzip?.body ?? body)
        }
        fields[.contentType] = nil
        return (HTTPResponse(status: .notModified, headerFields: fields), [])
    }

    /// An entity tag. The same bytes have the same tag on every server.
    private static func tag(of body: [UInt8]) -> String {
        var hash = ByteHash(seed: 0x6C61_6E64_696E_6700)
        hash.combine(body.span)
        let digits = String(hash.value, radix: 16)
        return "\"\(String(repeating: "0", count: 16 - digits.utf8.count))\(digits)\""
    }
}
