import HTTPSyntax
import HTTPTypes
import Lookups

/// A page with its header fields, ready to send.
struct WrittenPage: Sendable {
    let fields: HTTPFields
    let body: [UInt8]
    private let tag: String

    init(_ page: LandingPage, _ fields: HTTPFields) {
        body = page.html()
        tag = Self.tag(of: body)
        var fields = fields
        fields[.contentLanguage] = page.language
        fields[.eTag] = tag
        self.fields = fields
    }

    /// - Parameter ifNoneMatch: the field of the request.
    func response(ifNoneMatch: String?) -> LandingSite.Response {
        guard let ifNoneMatch, ifNoneMatch.utf8.span.hasEntityTag(tag) else {
            return (HTTPResponse(status: .ok, headerFields: fields), body)
        }
        var fields = fields
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
