import Crypto
import Formats
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import HTTPAPI

/// The pages of problem codes. The guide and the OpenAPI document must have the same codes.
@Suite struct ProblemTests {
    @Test func everyCodeHasAPageWithCauseAndRemedy() async throws {
        let api = TestAPI()
        // A tenant's host hides the paths of monitors, but not the problem pages.
        try api.proveHost()
        try await api.test { client in
            for type in ProblemType.all {
                let page = try await client.send(.get, type.path, key: nil)
                #expect(page.status == 200, "\(type.code)")
                try Self.expectPage(page)
                for text in [type.title, type.cause, type.remedy] {
                    #expect(page.text.contains(Self.markup(text)), "\(type.code): \(text)")
                }
                #expect(page.text.contains("<code>\(type.code)</code>"))
                #expect(page.text.contains("with status \(type.status.code)"), "\(type.code)")
            }
            let list = try await client.send(.get, "/problems", key: nil)
            #expect(list.status == 200)
            try Self.expectPage(list)
            #expect(ProblemType.all.allSatisfy { list.text.contains("<a href=\"\($0.path)\">") })
        }
    }

    private static func markup(_ text: String) -> String {
        var html = HTMLWriter()
        ProblemPages.write(text, to: &html)
        return String(decoding: html.bytes, as: UTF8.self)
    }

    private static func expectPage(_ page: TestAPI.APIResponse) throws {
        #expect(page.headers[.contentType] == "text/html; charset=utf-8")
        #expect(page.headers[.cacheControl] == "public, max-age=300")
        #expect(page.headers[.xContentTypeOptions] == "nosniff")
        for name in ["<script", "http:", "https:", " src=", " style="] { #expect(!page.text.contains(name)) }
        let style = try #require(page.text.firstMatch(of: /<style>(.*)<\/style>/)?.output.1)
        let hash = Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString()
        let policy = try #require(page.headers[.contentSecurityPolicy])
        #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-\(hash)'; "))
    }

    @Test func matchingETagReturnsNotModified() async throws {
        try await TestAPI().test { client in
            let page = try await client.send(.get, "/problems/not_found", key: nil)
            let again = try await client.send(
                .get, "/problems/not_found", key: nil,
                headers: [.ifNoneMatch: try #require(page.headers[.eTag])])
            #expect(again.status == 304 && again.text.isEmpty)
            let head = try await client.send(.head, "/problems/not_found", key: nil)
            #expect(head.status == 200 && head.text.isEmpty)
        }
    }

    @Test(arguments: ["nothing", "NOT_FOUND", "not_found/x", "%3Cscript%3E", "..%2Fproblems", "not_found%00"])
    func unknownCodeHasNoPage(code: String) async throws {
        try await TestAPI().test { client in
            let response = try await client.send(.get, "/problems/\(code)", key: nil)
            #expect(response.status == 404 && response.code == "not_found")
            #expect(!response.text.contains("script"))
            let posted = try await client.send(.post, "/problems/not_found", key: nil)
            #expect(posted.status == 405)
        }
    }

    /// Code that makes a problem with an explicit status uses the status of its code.
    @Test func everyCodeIsUsedWithItsOwnStatus() throws {
        let names: [String: Int] = [
            "badRequest": 400, "unauthorized": 401, "forbidden": 403, "notFound": 404,
            "methodNotAllowed": 405,
            "requestTimeout": 408, "conflict": 409, "preconditionFailed": 412, "contentTooLarge": 413,
            "unsupportedMediaType": 415, "unprocessableContent": 422, "tooManyRequests": 429,
            "requestHeaderFieldsTooLarge": 431, "internalServerError": 500, "notImplemented": 501,
            "badGateway": 502, "serviceUnavailable": 503,
        ]
        var count = 0
        for (file, text) in try Self.sources() {
            for made in text.matches(of: /(?:Problem|init)\(\s*\.(\w+),\s*"([a-z_]+)"/) {
                let (status, code) = (String(made.output.1), String(made.output.2))
                #expect(names[status] == ProblemType.byCode[code]?.status.code, "\(code) in \(file)")
                count += 1
            }
            for made in text.matches(of: /\.field\(\s*[^,()]+,\s*code: "([a-z_]+)"/) {
                #expect(ProblemType.byCode[String(made.output.1)]?.status == .badRequest, "\(file)")
                count += 1
            }
        }
        #expect(count > 25)
    }

    @Test func problemTextsAreEscaped() {
        #expect(
            Self.markup("<a href='x'> & \"`b<c`")
                == "&lt;a href=&#39;x&#39;&gt; &amp; &quot;<code>b&lt;c</code>")
        for type in ProblemType.all {
            #expect(!type.title.contains("`") && !type.title.hasSuffix("."), "\(type.code)")
            for text in [type.cause, type.remedy] {
                #expect(text.count { $0 == "`" } % 2 == 0 && text.hasSuffix("."), "\(type.code)")
            }
            #expect(type.code.allSatisfy { $0 == "_" || ("a"..."z").contains($0) })
        }
    }

    /// Each example has the problem type of its code. Each code in the text is listed with its status.
    @Test func openAPIDocumentKnowsTheSameCodes() throws {
        let document = try JSONValue(parsing: OpenAPIDocument.bytes)
        var named: Set<String> = []
        for object in Self.objects(in: document) {
            if let path = object["type"]?.stringValue, path.hasPrefix("/problems/") || path == "about:blank" {
                let code = try #require(object["code"]?.stringValue)
                let type = try #require(ProblemType.byCode[code], "\(code)")
                #expect(path == type.path && object["title"]?.stringValue == type.title, "\(code)")
                #expect(type.status.code == object["status"]?.numberValue?.int, "\(code)")
            }
            guard let properties = object["properties"]?.objectValue,
                let codes = properties["code"]?.objectValue.map(Self.values),
                let statuses = properties["status"]?.objectValue.map(Self.values), !codes.isEmpty
            else { continue }
            #expect(properties["title"] == nil, "a title is the code's: \(codes)")
            for code in codes.compactMap(\.stringValue) {
                named.insert(code)
                for status in statuses.compactMap({ $0.numberValue?.int }) {
                    #expect(ProblemType.byCode[code]?.status.code == status, "\(code) with \(status)")
                }
            }
        }
        // The document's description lists errors that all paths can have.
        named.formUnion([
            "method_not_allowed", "unsupported_transfer_coding", "idempotency_key_not_supported",
        ])
        #expect(named == Set(ProblemType.all.map(\.code)))
    }

    private static func values(_ schema: JSONObject) -> [JSONValue] {
        schema["enum"]?.arrayValue ?? schema["const"].map { [$0] } ?? []
    }

    private static func objects(in value: JSONValue) -> [JSONObject] {
        switch value {
        case .object(let object): [object] + object.flatMap { objects(in: $0.value) }
        case .array(let values): values.flatMap(objects)
        default: []
        }
    }

    /// The guide has a table of codes.
    @Test func guideKnowsTheSameCodes() throws {
        let guide = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../Sources/Guide/3-api.md"), encoding: .utf8)
        var codes: [Int: Set<String>] = [:]
        for row in guide.matches(of: /\n\| ([45]\d\d(?:, \d\d\d)*) \| (.*) \|/) {
            let named = Set(row.output.2.matches(of: /`([a-z_]+)`/).map { String($0.output.1) })
            for status in row.output.1.split(separator: ", ").compactMap({ Int($0) }) {
                codes[status] = named
            }
        }
        for type in ProblemType.all {
            let statuses = codes.filter { $0.value.contains(type.code) }.map(\.key)
            #expect(statuses.contains(type.status.code), "\(type.code) with \(type.status.code)")
        }
        let members: Set = ["reason", "field", "limit", "successor", "cause"]
        for (status, named) in codes {
            for code in named.subtracting(members) {
                #expect(ProblemType.byCode[code] != nil, "\(code), \(status)")
            }
        }
    }

    /// Finds all codes in the source files that make problems, also codes that no other test reaches.
    @Test func everyCodeInTheSourcesHasAType() throws {
        var count = 0
        for (file, text) in try Self.sources() {
            let made = text.matches(of: /(?:Problem|init)\(\s*\.\w+,\s*"([a-z_]+)"/).map(\.output.1)
            let ofFields = text.matches(of: /code: "([a-z_]+)"/).map(\.output.1)
            for code in made + ofFields {
                count += 1
                #expect(ProblemType.byCode[String(code)] != nil, "\(code) in \(file)")
            }
        }
        #expect(count > 25)
    }

    /// The names and texts of the files that make problems.
    private static func sources() throws -> [(file: String, text: String)] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/Adapters/HTTPAPI").standardizedFileURL
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
            .map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) }
    }
}
