public import Formats
import Invocation

extension ShortCode: CollectionResource {
    public static let fields: [Field<ShortCode>] = [
        Field("code", .identifier(1...128), .key, "The short code.") { .text($0.code) },
        Field("url", .url, .required, "The URL that the short code stands for.") { .text($0.url.canonical) },
    ]

    public init(_ values: inout some FieldValues) throws {
        let code = try values.text("code")
        try values.requireVisibleEdges(code, in: "code")
        let url = try values.text("url") { text throws(InvocationURLError) in try InvocationURL(text) }
        self = try values.naming({ $0 == .invalidShortCode ? "code" : "url" }) {
            () throws(AdministrationError) in
            try ShortCode(code: code, url: url)
        }
    }

    public static func key(named text: String) -> String? { (try? LocationIdentifier(text))?.text }
    public static let collection = "short-codes"
    public static let noun = "short code"
    public static let commandName = "code"
    public static let example: JSONObject = [
        "code": "lunch", "url": "https://example.com/restaurants/restaurant_d",
    ]
    public var key: String { code }
}
