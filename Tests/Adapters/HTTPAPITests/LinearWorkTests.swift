import APNsPayload
import Confirmations
import Formats
import Foundation
import HTTPTypes
import Invocation
import Lookups
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Notifications
import PostgreSQL
import Receipts
import Synchronization
import Tenancy
import Testing
import ValueFixtures

@testable import Administration
@testable import HTTPAPI
@testable import HTTPServer
@testable import TenantSites

/// Work is linear in the length of foreign input: nine times as much input takes about nine times as much work.
///
/// The tests count instructions of the processor (``Steps``) instead of time, which takes minutes. Therefore the inputs are small.
/// Only header fields, which anyone can send, are tested in each run; the nightly run tests all.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Steps.canBeCounted))
struct LinearWorkTests {
    /// A reader of foreign input.
    struct Subject: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The size of the smaller input.
        let size: Int
        /// The allowed growth of the work. Sorting may take slightly more than linear work.
        let limit: UInt64
        /// Makes an input of this size, and returns a closure that reads it.
        let work: @Sendable (Int) throws -> () -> Void

        init(
            _ name: String, from size: Int = 2, upTo limit: UInt64 = 16,
            _ work: @escaping @Sendable (Int) throws -> () -> Void
        ) {
            testDescription = name
            self.size = size
            self.limit = limit
            self.work = work
        }
    }

    /// `DOORSTEP_TEST_STEPS` is "all" or a part of the names of the wanted subjects.
    static let subjects: [Subject] = {
        let all = fields + heads + bodies + urls + tokens + attestations + files + replies
        return switch ProcessInfo.processInfo.environment["DOORSTEP_TEST_STEPS"] {
        case nil: fields
        case "all": all
        case let name?: all.filter { $0.testDescription.contains(name) }
        }
    }()

    @Test(arguments: subjects)
    func workGrowsLinearly(subject: Subject) throws {
        let growth = try Steps.growth(from: subject.size, upTo: subject.limit, subject.work)
        #expect(growth < Double(subject.limit), "\(growth) times the work")
    }

    // MARK: Controls

    /// Compares each name with all earlier names, as an older version compared query parameters.
    @Test func growthDetectsQuadraticComparison() throws {
        let growth = Steps.growth(from: 3, upTo: 13) { count in
            let names = Self.names(count)
            return {
                var known: [String] = []
                for name in names where !known.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
                    known.append(name)
                }
            }
        }
        #expect(growth >= 13)
    }

    /// The same comparison in one call of the standard library, whose loop is not in this code.
    @Test func growthDetectsQuadraticLibraryCall() throws {
        let growth = Steps.growth(from: 6, upTo: 13) { count in
            let names = Self.names(count)
            return {
                var known: [String] = []
                for name in names where !known.contains(name) { known.append(name) }
            }
        }
        #expect(growth >= 13)
    }

    @Test func growthOfLinearWorkIsLinear() throws {
        let growth = Steps.growth(from: 8, upTo: 13) { count in
            let names = Self.names(count)
            // Not with a set, whose number of collisions differs in each process.
            return { _ = names.reduce(0) { $0 &+ $1.utf8.reduce(0) { $0 &+ Int($1) } } }
        }
        #expect((7..<13).contains(growth))
    }

    // MARK: Header fields

    private static let fields: [Subject] = [
        Subject("unknown query names") { query(names($0).joined(separator: "&")) },
        Subject("one query name again and again", from: 4) { query(String(repeating: "url=a&", count: $0)) },
        // Longer than a String's inline storage, which has its own code. Also decoded.
        Subject("empty query items", from: 16) { query(String(repeating: "&", count: $0)) },
        Subject("a percent-encoded query value", from: 16) {
            query("url=" + String(repeating: "%61", count: $0))
        },
        Subject("a long query name") { query(String(repeating: "a", count: $0)) },
        Subject("Content-Type with parameters", from: 8) {
            admit(contentType: "application/json" + String(repeating: ";charset=utf-8", count: $0))
        },
        Subject("Content-Type of separators", from: 32) { admit(contentType: repeated(" ;", $0)) },
        Subject("If-None-Match with many tags", from: 8) { ifNoneMatch(repeated("\"a\", ", $0)) },
        Subject("If-None-Match of separators", from: 32) { ifNoneMatch(repeated(",", $0)) },
        Subject("X-Forwarded-For of trusted proxies") { forwardedFor(repeated("10.0.0.1, ", $0)) },
        Subject("X-Forwarded-For of separators", from: 32) { forwardedFor(repeated(", ", $0)) },
        Subject("X-Forwarded-For of one long word", from: 32) { forwardedFor(repeated("1.", $0)) },
        // The end of a flag can be found only by counting back.
        Subject("X-Forwarded-For of flags") { forwardedFor(repeated("🇩🇪", $0) + ".1") },
        Subject("Host of flags", from: 8) { count in
            let host = repeated("🇩🇪", count) + ":80"
            return { _ = Authority.host(of: host) }
        },
        Subject("Host of digits behind a colon") { count in
            let host = "a:" + repeated("1", count)
            return { _ = Authority.host(of: host) }
        },
        Subject("Authorization of blanks", from: 32) { count in
            let field = "Bearer " + repeated(" ", count)
            return { _ = field.utf8.span.bearerToken }
        },
        Subject("Accept-Encoding with many weights", from: 4) { count in
            let field = repeated("br;q=0.1, ", count)
            return { _ = field.utf8.span.prefersGzip }
        },
        Subject("Prefer with many preferences", from: 4) { count in
            let field = repeated("wait=1, ", count)
            return { _ = field.utf8.span.prefersRepresentation }
        },
        Subject("Idempotency-Key") { count in
            let key = repeated("a", count)
            return { _ = IdempotencyKey(key, for: [:], of: TenantID(number: 1)) }
        },
        Subject("X-Request-ID") { count in
            let id = repeated("a", count)
            return { _ = id.utf8.span.isRequestID }
        },
    ]

    private static func query(_ text: String) -> () -> Void {
        { _ = try? QueryParameters(text.utf8.span, named: ["url"]) }
    }

    private static func ifNoneMatch(_ text: String) -> () -> Void {
        { _ = APIResponse(cacheable: [], for: RequestFields([.ifNoneMatch: text])).status }
    }

    private static func forwardedFor(_ text: String) -> () -> Void {
        let proxies = TrustedProxies(["10.0.0.0/8"].compactMap { AddressRange($0) })
        return {
            _ = proxies.client(behind: IPAddress("10.0.0.1"), forwardedFor: text).address
        }
    }

    private static func admit(contentType: String) -> () -> Void {
        let api = TestAPI()
        let access = api.responder.access
        let confirm = Endpoint(.post, "/v1/confirmations", .memory(.confirm) { _ in APIResponse(.ok) })
        let request = APIRequest(
            client: Client(address: Client.Address(nil), isBehindProxy: false),
            fields: RequestFields(
                authorization: "Bearer \(api.secret.text)", contentType: contentType))
        return { _ = try? access.admit(request, for: .confirm, by: confirm, at: Date()).caller }
    }

    // MARK: Heads of requests

    private static let heads: [Subject] = [
        Subject("header fields") { count in
            head((0..<count).map { "X-\($0): a\r\n" }.joined())
        },
        Subject("a long header field", from: 8) { head("X: " + repeated("a", $0) + "\r\n") },
        Subject("blanks around a field", from: 8) {
            head("X:" + repeated(" ", $0) + "a" + repeated("\t", $0) + "\r\n")
        },
        Subject("a long path", from: 8) { read("GET \(repeated("/a", $0)) HTTP/1.1\r\nHost: a\r\n\r\n") },
        Subject("a long query", from: 8) {
            read("GET /v1/lookup?\(repeated("a", $0)) HTTP/1.1\r\nHost: a\r\n\r\n")
        },
        Subject("fields that come again", from: 3) { head(repeated("If-None-Match: a\r\n", $0)) },
    ]

    private static func head(_ fields: String) -> () -> Void {
        read("GET /v1/lookup HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
    }

    /// Reads the head with NIO's decoder, and then finds its endpoint.
    private static func read(_ text: String) -> () -> Void {
        let text = ByteBuffer(string: text)
        let responder = TestAPI().responder
        return {
            let channel = EmbeddedChannel(handler: ByteToMessageHandler(HTTPRequestDecoder()))
            _ = try? channel.writeInbound(text)
            while let part = try? channel.readInbound(as: HTTPServerRequestPart.self) {
                if case .head(let head) = part {
                    let request = HTTP1RequestHead(head, from: nil).request
                    _ = responder.reply(to: request, on: ConnectionMemory(peer: nil))
                }
            }
            _ = try? channel.finish(acceptAlreadyClosed: true)
        }
    }

    // MARK: Bodies

    private static let bodies: [Subject] = [
        // Members are sorted.
        Subject("members of an object", upTo: 22) { parse(object(names($0))) },
        Subject("keys that differ at their ends", upTo: 22) { count in
            parse(object(names(count).map { repeated("a", 20) + $0 }))
        },
        Subject("a long key twice") { parse(object(Array(repeating: repeated("a", $0), count: 2))) },
        Subject("elements of an array") { parse("[" + repeated("1,", $0) + "1]") },
        Subject("arrays in arrays") { parse(repeated("[", $0) + repeated("]", $0)) },
        Subject("arrays that do not end") { parse(repeated("[", $0)) },
        Subject("a whole number") { parse(repeated("1", $0)) },
        Subject("a number's fraction") { parse("0." + repeated("1", $0)) },
        Subject("a number's zeros") { parse("1" + repeated("0", $0)) },
        Subject("a number's exponent") { parse("1e" + repeated("0", $0) + "1") },
        Subject("a whole number's integer") { count in
            let number = JSONNumber(literal: "1." + repeated("0", count))
            return { _ = number?.int }
        },
        Subject("a string") { parse("\"" + repeated("a", $0) + "\"") },
        Subject("escapes") { parse("\"" + repeated("\\n", $0) + "\"") },
        Subject("surrogates") { parse("\"" + repeated("\\ud83d\\ude00", $0) + "\"") },
        Subject("combining marks") { parse("\"a" + repeated("\u{301}", $0) + "\"") },
        Subject("white space") { parse(repeated(" ", $0) + "1") },
        Subject("unknown fields", upTo: 22) { count in
            let object = try members(names(count))
            return { try? JSONObjectReader(object).finish() }
        },
        Subject("fields read one by one", upTo: 22) { count in
            let names = names(count)
            let object = try members(names)
            return {
                var reader = JSONObjectReader(object)
                for name in names { _ = reader.optionalValue(name) }
                try? reader.finish()
            }
        },
        Subject("fields of a form", from: 4) { count in
            let text = names(count).map { $0 + "=a+%61" }.joined(separator: "&")
            return { _ = FormFields(text) }
        },
        Subject("a body's unknown fields", upTo: 22) { count in
            let object = try members(names(count))
            return {
                _ = try? ConfirmationRequest(object)
            }
        },
        Subject("a payload's own members", upTo: 22) { count in
            var aps: JSONObject = ["alert": "a"]
            let custom = try members(names(count))
            aps["badge"] = 1
            return payload(aps, custom: custom)
        },
        Subject("empty texts below long names", from: 4) { count in
            // Nested deeply, so that the path of each text is long.
            var value = JSONValue.array(Array(repeating: "", count: count))
            for _ in 0..<15 { value = [repeated("a", 60): value] }
            return payload(
                ["event": "update", "timestamp": 1, "content-state": value], custom: [:], .liveActivity)
        },
        Subject("arguments of an alert", from: 4) { count in
            let arguments = JSONValue.array(Array(repeating: "a", count: count))
            return payload(["alert": ["loc-key": "a", "loc-args": arguments]], custom: [:])
        },
    ]

    private static func parse(_ text: String) -> () -> Void {
        let body = ByteBuffer(string: text)
        return { _ = try? JSONValue(parsing: body.readableBytesView).serialized() }
    }

    private static func object(_ keys: some Sequence<String>) -> String {
        "{" + keys.map { "\"\($0)\":1" }.joined(separator: ",") + "}"
    }

    private static func members(_ keys: [String]) throws -> JSONObject {
        try JSONValue(parsing: object(keys).utf8).objectValue ?? [:]
    }

    private static func payload(
        _ aps: JSONObject, custom: JSONObject, _ type: PushType = .alert
    ) -> () -> Void {
        {
            guard let aps = try? APS(json: aps) else { return }
            _ = try? NotificationPayload(aps: aps, custom: custom).encoded(for: type)
        }
    }

    // MARK: URLs

    private static let urls: [Subject] = [
        Subject("path components", from: 4) { url("/" + repeated("a/", $0)) },
        Subject("dot segments behind components") { url(repeated("/a", $0) + repeated("/..", $0)) },
        Subject("encoded dot segments") { url(repeated("/%2e%2E", $0)) },
        Subject("slashes", from: 6) { url(repeated("/", $0)) },
        Subject("query items", from: 4) { url("?" + repeated("a&", $0)) },
        Subject("empty query items of a URL", from: 14) { url("?" + repeated("&", $0)) },
        Subject("characters to encode", from: 4) { url("/" + repeated("\"", $0)) },
        Subject("other characters than ASCII") { url("/" + repeated("ü", $0)) },
        Subject("a fragment", from: 14) { url("#" + repeated("a", $0)) },
        Subject("labels of a host") { host(repeated("a.", $0) + "example") },
        Subject("labels of a host that is too long", from: 4) { host(repeated("a.", $0) + "example") },
        Subject("a host that is encoded") { host(repeated("ü", $0)) },
        Subject("a host that is too long to be encoded", from: 7) { host(repeated("ü", $0)) },
        Subject("flags for a host") { host(repeated("🇩🇪", $0)) },
        Subject("a scheme", from: 14) { count in
            let text = repeated("a", count) + "://example.com"
            return { _ = try? InvocationURL(text) }
        },
        Subject("items of a query that no experience has") {
            try match(try table(["/?z=1"]), names($0))
        },
        Subject("items of a query, each of which an experience has") { count in
            try match(try table(names(count).map { "/?" + $0 }), names(count))
        },
        Subject("one item of a query again and again") {
            try match(try table(["/?a", "/?a&b"]), Array(repeating: "a", count: $0))
        },
        Subject("components of a path, each of which an experience has") { count in
            let table = try table((1...count).map { repeated("/a", $0) })
            let url = try InvocationURL("https://example.com" + repeated("/a", count) + "/b")
            return { _ = table.mostSpecific(for: url) }
        },
    ]

    private static func url(_ rest: String) -> () -> Void {
        { _ = try? InvocationURL("https://example.com" + rest).queryItems }
    }

    private static func host(_ name: String) -> () -> Void {
        { _ = try? InvocationURL("https://\(name)/") }
    }

    /// The index of a tenant with experiences at `https://example.com`.
    private static func table(_ paths: [String]) throws -> LookupIndex {
        var table = LookupIndex()
        try table.set(.tenants, .tenant(LookupIndex.tenant))
        for path in paths {
            try table.set(
                .experiences, .experience(LookupIndex.tenant, "advanced", "https://example.com" + path))
        }
        return table
    }

    private static func match(_ table: LookupIndex, _ items: [String]) throws -> () -> Void {
        let url = try InvocationURL("https://example.com/?" + items.joined(separator: "&"))
        return { _ = table.mostSpecific(for: url) }
    }

    // MARK: Times, tokens and receipts

    private static let tokens: [Subject] = [
        Subject("base64") { count in
            let text = repeated("AAAA", count)
            return { _ = Base64URL.bytes(text) }
        },
        Subject("a receipt", from: 1) { verify(repeated("eyJh", $0) + ".eyJh.AAAA") },
        Subject("a receipt of dots", from: 10) { verify(repeated(".", $0)) },
        Subject("a receipt that is too long", from: 3_000) { verify(repeated("a.", $0)) },
        Subject("a push token", from: 4) { count in
            let text = repeated("ab", count)
            return { _ = PushToken(hex: text) }
        },
        Subject("an instance's ID", from: 8) { count in
            let text = repeated("ab-", count)
            return { _ = InstanceID(text: text) }
        },
    ]

    private static func verify(_ text: String) -> () -> Void {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let issuer = ReceiptIssuer("https://doorstep.example", keys: ReceiptKeySet(at: now))
        return { _ = try? issuer.verify(text, for: TenantID(number: 1), at: now) }
    }

    // MARK: Files and rows

    private static let files: [Subject] = [
        Subject("lines of CSV") { csv("a,b\n" + repeated("1,2\n", $0)) },
        Subject("lines of CSV that are refused") { csv("a,b\n" + repeated("1\n", $0)) },
        Subject("columns of CSV") { csv(names($0).joined(separator: ",") + "\n") },
        Subject("columns that look alike") { csv("b," + alike($0).joined(separator: ",") + "\n") },
        Subject("a quoted field of CSV", from: 8) { csv("a\n\"" + repeated("\"\"", $0) + "\"\n") },
        Subject("a quote that never closes", from: 8) { csv("a\n\"" + repeated("\n", $0)) },
        Subject("lines of an archive", from: 1) { archive(repeated("{\"type\":\"nothing\"}\n", $0)) },
        Subject("an archive's line in many pieces", from: 8) {
            archive(repeated(" ", $0) + "{}\n", piece: 8)
        },
        Subject("rows that PostgreSQL copies") { count in
            let header = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + [UInt8](repeating: 0, count: 8)
            let row: [UInt8] = [0, 1, 0, 0, 0, 2, 97, 98]
            let bytes = header + Array(repeatElement(row, count: count).joined()) + [0xFF, 0xFF]
            return {
                var reader = BinaryCopyReader(columnCount: 1)
                try? reader.read(bytes) { _ in }
            }
        },
    ]

    private static func csv(_ text: String) -> () -> Void {
        let bytes = Array(text.utf8)
        return {
            var table = CSVTable(CSVColumns(required: []))
            _ = try? table.rows(in: bytes)
            _ = try? table.finish()
        }
    }

    private static func archive(_ lines: String, piece: Int = 4_096) -> () -> Void {
        let text = Array(
            (#"{"format":"doorstep-tenant","version":\#(TenantArchive.version)}"# + "\n" + lines).utf8)
        return {
            let position = Position()
            var reader = TenantArchiveReader { position.next(piece, of: text) }
            _ = try? reader.readTenant()
            try? reader.readRest()
        }
    }

    /// The position up to which a file was read.
    private final class Position: Sendable {
        private let position = Mutex(0)

        func next(_ length: Int, of bytes: [UInt8]) -> [UInt8]? {
            position.withLock { position in
                guard position < bytes.count else { return nil }
                defer { position += length }
                return Array(bytes[position..<min(position + length, bytes.count)])
            }
        }
    }

    /// Names with different bytes that `String` compares as equal: combining marks of different classes in any order.
    private static func alike(_ count: Int) -> [String] {
        var orders: [[String]] = [[]]
        for mark in ["\u{301}", "\u{323}", "\u{327}", "\u{334}", "\u{345}", "\u{315}"] {
            orders = orders.flatMap { order in
                (0...order.count).map { Array(order[..<$0]) + [mark] + Array(order[$0...]) }
            }
        }
        return orders.prefix(count).map { "a" + $0.joined() }
    }

    // MARK: Replies

    /// Pages that take quadratic work in a scanner that starts again at each tag.
    private static let pages: [Subject] =
        ["<meta ", "<script ", "<script", "<!--", "<", "<meta a='", "<title>", "a="].map { piece in
            Subject("a page of \(piece)", from: 8) { count in
                let page = Array(("<meta " + repeated(piece, count)).utf8)
                return { _ = PageMetadata(ofPage: page) }
            }
        }

    private static let replies: [Subject] =
        pages + [
            Subject("elements of a page", from: 4) { count in
                let page = Array(repeated("<meta name=\"og:title\" content=\"&amp;\">", count).utf8)
                return { _ = PageMetadata(ofPage: page) }
            },
            Subject("a page's attribute", from: 8) { count in
                let tag = "<meta property=\"og:title\" content=\"\(repeated("&x", count))\">"
                return { _ = PageMetadata(ofPage: Array(tag.utf8)) }
            },
            Subject("records of a DNS answer") { count in
                // The name of each record refers to the name of the question (RFC 1035 §4.1.4).
                let record: [UInt8] = [0xC0, 12, 0, 16, 0, 1, 0, 0, 0, 1, 0, 2, 1, 97]
                let response: [UInt8] =
                    [0, 1, 0x84, 0, 0, 1, UInt8(count >> 8), UInt8(count & 0xFF), 0, 0, 0, 0]
                    + [1, 97, 0, 0, 16, 0, 1] + Array(repeatElement(record, count: count).joined())
                return { _ = try? LibresolvQuery.texts(response[...]) }
            },
            Subject("strings of a DNS record") { count in
                let text = Array(repeatElement([1, 97] as [UInt8], count: count).joined())
                let response: [UInt8] =
                    [0, 1, 0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 97, 0, 0, 16, 0, 1]
                    + [0xC0, 12, 0, 16, 0, 1, 0, 0, 0, 1, UInt8(text.count >> 8), UInt8(text.count & 0xFF)]
                    + text
                return { _ = try? LibresolvQuery.texts(response[...]) }
            },
        ] + APNsReplies.subjects

    // MARK: Texts

    /// Short names that all differ.
    static func names(_ count: Int) -> [String] { (0..<count).map { String($0 + 36, radix: 36) } }

    static func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
}
