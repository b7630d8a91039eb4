import Invocation
public import JSON

extension ShortCode {
    public var json: JSONObject { ["code": .string(code), "url": .string(url.canonical)] }

    init(_ fields: inout JSONObjectReader) throws {
        let (code, text) = (try fields.requiredString("code"), try fields.requiredString("url"))
        let url = try RowRefusal.naming("url") { () throws(InvocationURLError) in try InvocationURL(text) }
        self = try RowRefusal.naming({ $0 == .invalidShortCode ? "code" : "url" }) {
            () throws(AdministrationError) in
            try ShortCode(code: code, url: url)
        }
    }
}
