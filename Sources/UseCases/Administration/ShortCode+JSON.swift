import Invocation
public import JSON

extension ShortCode: WrittenItem {
    public static func key(named text: String) -> String? { (try? LocationIdentifier(text))?.text }
    public static func name(of key: String) -> String { key }
    public static func members(of key: String) -> JSONObject { ["code": .string(key)] }
    public static func unknown(_ key: String) -> AdministrationError { .unknownShortCode(key) }
    public static func existing(_ key: String) -> AdministrationError { .shortCodeExists(key) }
    public static let collection = "short-codes"
    public var key: String { code }

    public var json: JSONObject { ["code": .string(code), "url": .string(url.canonical)] }

    public init(_ fields: inout JSONObjectReader) throws {
        let (code, text) = (try fields.requiredString("code"), try fields.requiredString("url"))
        try code.requireVisibleEdges(in: "code")
        let url = try RowRefusal.naming("url") { () throws(InvocationURLError) in try InvocationURL(text) }
        self = try RowRefusal.naming({ $0 == .invalidShortCode ? "code" : "url" }) {
            () throws(AdministrationError) in
            try ShortCode(code: code, url: url)
        }
    }
}
