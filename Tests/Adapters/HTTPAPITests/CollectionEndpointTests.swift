import Administration
import Formats
import Foundation
import HTTPTestClient
import HTTPTypes
import Logging
import NIOCore
import Synchronization
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI
@testable import HTTPServer

/// Endpoints that write many items with one request.
@Suite struct CollectionEndpointTests {
    /// The operations whose tenant isolation this suite tests.
    static let operations = Set(
        ["Locations", "Experiences", "ShortCodes"].flatMap { ["replace\($0)", "merge\($0)"] })

    struct Sample: Sendable, CustomTestStringConvertible {
        let path: String
        let csv: String
        let lines: String
        var testDescription: String { path }
    }

    static let samples = [
        Sample(
            path: "/v1/locations",
            csv: """
                identifier,name,latitude,longitude,radius,details.phone,owner\r
                a,"A, or 1",1.5,-2,100,+1,Ann\r
                b,B,0,0,1,,\r

                """,
            lines: #"""
                {"identifier": "a", "name": "A, or 1", "latitude": 1.5, "longitude": -2, "radius": 100, "metadata": {"owner": "Ann"}, "details": {"phone": "+1"}}

                {"identifier": "b", "name": "B", "latitude": 0, "longitude": 0, "radius": 1, "details": null}
                """#),
        Sample(
            path: "/v1/experiences",
            csv: """
                url,clip,kind,location,identifier_rule,title
                https://example.com/a,com.example.MyApp.Clip,,a,,T
                https://example.com/b,com.example.MyApp.Clip,demo,,path:1,
                """,
            lines: #"""
                {"url": "https://example.com/a", "clip": "com.example.MyApp.Clip", "location": "a", "title": "T"}
                {"url": "https://example.com/b", "clip": "com.example.MyApp.Clip", "kind": "demo", "identifierRule": "path:1"}
                """#),
        Sample(
            path: "/v1/short-codes", csv: "code,url\na,https://example.com/a\nb,https://example.com/b\n",
            lines: #"""
                {"code": "a", "url": "https://example.com/a"}
                {"code": "b", "url": "https://example.com/b"}
                """#),
    ]

    static let csv = "text/csv"
    static let jsonLines = "application/x-ndjson"
    static let counts: JSONValue = ["added": 2, "changed": 0, "removed": 0, "unchanged": 0]

    static func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: String, as type: String? = csv,
        _ client: TestAPI.Client, key: APIKey? = nil, headers: HTTPFields = [:]
    ) async throws -> TestAPI.APIResponse {
        var headers = headers
        headers[.contentType] = type
        return try await client.send(
            method, path, key: key ?? client.api.manager, headers: headers, body: ByteBuffer(string: body))
    }

    @Test(arguments: samples) func jsonLinesAndCSVImportTheSame(sample: Sample) async throws {
        for method in [HTTPRequest.Method.put, .patch] {
            let api = TestAPI()
            try await api.test(over: [.connection]) { client in
                let written = try await Self.send(method, sample.path, sample.csv, client)
                #expect(written.status == 200 && written.json == Self.counts, "\(written.text)")
                #expect(written.headers[.cacheControl] == "no-store")
                let same = try await Self.send(method, sample.path, sample.lines, as: Self.jsonLines, client)
                #expect(
                    same.json == ["added": 0, "changed": 0, "removed": 0, "unchanged": 2], "\(same.text)")
                let page = try await client.send(.get, sample.path, key: api.reader)
                let items = try #require(page["data"]?.arrayValue)
                #expect(items.count == 2)
                // The response can be sent back unchanged.
                let read = items.map { $0.text + "\n" }.joined()
                let back = try await Self.send(method, sample.path, read, as: Self.jsonLines, client)
                #expect(back.json == same.json, "\(back.text)")
            }
        }
    }

    @Test func replacementDeletesAndMergeDoesNot() async throws {
        let api = TestAPI()
        let codes = "/v1/short-codes"
        let row = "https://example.com/x\n"
        try await api.test(over: [.task]) { client in
            let all = "code,url\n" + ["a", "b", "c", "d"].map { "\($0),\(row)" }.joined()
            #expect(try await Self.send(.put, codes, all, client).json?.objectValue?["added"] == 4)
            let merged = try await Self.send(.patch, codes, "code,url\ne,\(row)", client)
            #expect(merged.json == ["added": 1, "changed": 0, "removed": 0, "unchanged": 0])

            let rest = "code,url\na,\(row)b,\(row)"
            let plan = try await Self.send(.put, "\(codes)?dryRun=true", rest, client)
            #expect(plan.status == 200 && plan["removed"] == 3)
            #expect(plan["plan"]?.objectValue?["removalsAreAllowed"] == false)
            let allowed = try await Self.send(.put, "\(codes)?dryRun=true&allowRemovals=3", rest, client)
            #expect(allowed["plan"]?.objectValue?["removalsAreAllowed"] == true)
            #expect(
                plan["plan"]?.objectValue?["removed"] == [["name": "c"], ["name": "d"], ["name": "e"]],
                "\(plan.text)")
            let refused = try await Self.send(.put, codes, rest, client)
            #expect(refused.status == 409 && refused.code == "too_many_removals")
            #expect(refused["removals"] == 3 && refused["items"] == 5)
            let fewer = try await Self.send(.put, "\(codes)?allowRemovals=2", rest, client)
            #expect(fewer.code == "too_many_removals")
            let page = try await client.send(.get, codes, key: api.reader)
            #expect(page["data"]?.arrayValue?.count == 5)
            let done = try await Self.send(.put, "\(codes)?allowRemovals=3", rest, client)
            #expect(done.json == ["added": 0, "changed": 0, "removed": 3, "unchanged": 2])
            #expect(
                Set(api.shortCodes.actors) == ["key:\(KeyID(UUID(number: 5)))"]
                    && api.shortCodes.actors.count == 3)
        }
    }

    @Test func invalidRowsAreNamedByLine() async throws {
        try await TestAPI().test(over: [.task]) { client in
            let bad = "identifier,name,latitude,longitude,radius\na,A,91,0,100\nb,B,1,1,1\nc,C,1,1\n"
            let csv = try await Self.send(.put, "/v1/locations", bad, client)
            #expect(csv.status == 422 && csv.code == "invalid_rows")
            let expected: JSONValue = [
                ["line": 2, "reason": "latitude: a latitude is from -90 to 90 degrees"],
                ["line": 4, "reason": "the row has 4 fields, the header 5"],
            ]
            #expect(csv["count"] == 2 && csv["rows"]?.arrayValue?.last == expected.arrayValue?.last)
            #expect(csv["rows"]?.arrayValue?.first?.objectValue?["line"] == 2)

            let long = #"{"code": ""# + String(repeating: "x", count: Upload.maximumRowLength) + #""}"#
            let lines = [
                "{", "[]", #"{"code": "a"}"#, #"{"code": "a", "url": "https://example.com", "x": 1}"#,
                #"{"code": "a", "url": "nonsense"}"#, "",
                #"{"code": "\u0000", "url": "https://example.com"}"#, "\u{FEFF}{}", long, "{",
            ].joined(separator: "\n")
            let json = try await Self.send(.patch, "/v1/short-codes", lines, as: Self.jsonLines, client)
            #expect(json.status == 422 && json["count"] == 8, "\(json.text)")
            let numbers = json["rows"]?.arrayValue?.compactMap { $0.objectValue?["line"]?.numberValue?.int }
            #expect(numbers == [1, 2, 3, 4, 5, 7, 8, 9])
            #expect(json.text.contains("the row is longer than 65536 bytes"))

            let wide = "code,url\n" + String(repeating: "x", count: Upload.maximumRowLength) + ",\n"
            let tooLong = try await Self.send(.put, "/v1/short-codes", wide, client)
            #expect(tooLong["count"] == 1 && tooLong.text.contains("the row is longer than 65536 bytes"))

            let many = "code,url\n" + String(repeating: "a,b\n", count: 250)
            let first = try await Self.send(.patch, "/v1/short-codes", many, client)
            #expect(first["count"] == 100 && first["rows"]?.arrayValue?.count == 100)
            #expect(first.text.contains("at least 100 rows are refused"))
            let page = try await client.send(.get, "/v1/short-codes", key: client.api.reader)
            #expect(page["data"] == [])
        }
    }

    @Test func unsupportedBodyOrParameterIsRejected() async throws {
        try await TestAPI().test { client in
            for type in [nil, "application/json", "application/merge-patch+json", "text/csv; charset=latin1"]
            {
                let response = try await Self.send(.put, "/v1/locations", "", as: type, client)
                #expect(response.status == 415 && response.code == "unsupported_media_type", "\(type ?? "")")
            }
            for text in ["", "identifier\n", "code,url,code\n"] {
                let response = try await Self.send(.put, "/v1/short-codes", text, client)
                #expect(response.status == 422 && response.code == "invalid_header", "\(text)")
            }
            // An empty body has no rows and is accepted.
            let none = try await Self.send(.patch, "/v1/short-codes", "", as: Self.jsonLines, client)
            #expect(none.status == 200)
            for (method, query, code) in [
                (HTTPRequest.Method.put, "dryRun=1", "invalid_parameter"),
                (.put, "allowRemovals=-1", "invalid_parameter"),
                (.put, "allowRemovals=x", "invalid_parameter"),
                (.patch, "allowRemovals=1", "invalid_parameter"), (.put, "limit=1", "unknown_parameter"),
            ] {
                let response = try await Self.send(method, "/v1/locations?\(query)", "", client)
                #expect(response.status == 400 && response.code == code, "\(query)")
            }
        }
    }

    @Test func collectionWriteRequiresScopeManage() async throws {
        let api = TestAPI()
        try await api.test { client in
            for key in [api.publishable, api.secret, api.reader, api.confirmer] {
                for sample in Self.samples {
                    let response = try await Self.send(.put, sample.path, sample.csv, client, key: key)
                    #expect(response.status == 403 && response.code == "forbidden")
                }
            }
            #expect(api.locations.actors.isEmpty && api.shortCodes.actors.isEmpty)
        }
    }

    @Test func anotherTenantsCollectionStaysUnchanged() async throws {
        let (api, other) = (TestAPI(), APIKey.generate(.secret))
        let neighbour = TenantID(number: 3)
        try api.admit(other, of: neighbour, scopes: "read,manage")
        try await api.test(over: [.task]) { client in
            for sample in Self.samples {
                #expect(try await Self.send(.put, sample.path, sample.csv, client).status == 200)
                let theirs = try await Self.send(.put, sample.path, sample.csv, client, key: other)
                #expect(theirs.json == Self.counts)
                let header = String(sample.csv.prefix { !$0.isNewline })
                let emptied = try await Self.send(
                    .put, "\(sample.path)?allowRemovals=2", header, client, key: other)
                #expect(emptied.json == ["added": 0, "changed": 0, "removed": 2, "unchanged": 0])
                let page = try await client.send(.get, sample.path, key: api.reader)
                #expect(page["data"]?.arrayValue?.count == 2)
            }
        }
    }

    @Test func storeErrorsMapToStatusAndCode() async throws {
        let api = TestAPI()
        let inUse = RemovalsInUse(
            count: 7, first: [ImportPlan.Item(name: "a", detail: "1 experience (x)", members: ["code": "a"])])
        try await api.test(over: [.task]) { client in
            func send() async throws -> TestAPI.APIResponse {
                try await Self.send(.put, "/v1/short-codes", "code,url\n", client)
            }
            api.shortCodes.refuse(AdministrationError.conflict)
            let conflict = try await send()
            #expect(conflict.status == 409 && conflict.code == "conflict")
            #expect(conflict.headers[.retryAfter] == "2")
            // A body with too many lines is refused before the import waits for its turn.
            let feeds = String(repeating: "\n", count: Upload.maximumRows + 1)
            let blank = try await Self.send(
                .put, "/v1/short-codes", feeds, as: "application/x-ndjson", client)
            #expect(blank.status == 413 && blank.code == "too_many_rows")
            api.shortCodes.refuse(AdministrationError.tooManyImports)
            let busy = try await send()
            #expect(busy.status == 503 && busy.code == "too_many_imports")
            #expect(busy.headers[.retryAfter] == "60")
            api.shortCodes.refuse(AdministrationError.removalsInUse(inUse))
            let used = try await send()
            #expect(used.status == 409 && used.code == "in_use")
            #expect(used["count"] == 7 && used["first"] == [["code": "a"]])
            api.shortCodes.refuse(AdministrationError.keyNotActive)
            let revoked = try await send()
            #expect(revoked.status == 401 && revoked.code == "unauthorized")
            api.shortCodes.refuse(AdministrationError.tenantSuspended)
            let suspended = try await send()
            #expect(suspended.status == 403 && suspended.code == "forbidden")
            api.shortCodes.refuse(AdministrationError.tooManyRows(limit: Upload.maximumRows))
            let long = try await send()
            #expect(long.status == 413 && long.code == "too_many_rows" && long.text.contains("1000000 rows"))
            api.shortCodes.refuse(nil)
            api.shortCodes.lagBehind(true)
            let unseen = try await send()
            #expect(
                unseen.status == 202
                    && unseen.json == [
                        "added": 0, "changed": 0, "removed": 0, "unchanged": 0, "visible": false,
                    ])
        }
    }

    /// A file whose first piece is followed by others without end.
    private final class EndlessFile: Sendable {
        private let readCount = Mutex(0)
        let first: String
        let others: String

        init(_ first: String, _ others: String) {
            (self.first, self.others) = (first, others)
        }

        /// The number of pieces that were read.
        var count: Int { readCount.withLock(\.self) }

        var chunks: FileChunks {
            FileChunks { [self] in
                let number = readCount.withLock { count in
                    count += 1
                    return count
                }
                // Without an end, the test would not end if all pieces were read.
                return number > 1_000 ? nil : Array((number == 1 ? first : others).utf8)
            }
        }
    }

    @Test(arguments: [("", ","), ("", "a"), ("\"", "a"), ("\"", "\n"), ("\"", ",")])
    func rowWithoutEndEndsReading(start: String, repeated: String) async throws {
        let piece = String(repeating: repeated, count: 4_096)
        for header in ["", "code,url\n"] {
            let file = EndlessFile(header + start + piece, piece)
            var (refused, error): ([Int], AdministrationError?) = ([], nil)
            do {
                let reader = TableReader<ShortCode>(maximumRowLength: Upload.maximumRowLength)
                for try await row in FileRows(file.chunks, reader) {
                    if case .refused(let problem) = row { refused.append(problem.line) }
                }
            } catch let thrown as AdministrationError {
                error = thrown
            }
            #expect(file.count <= Upload.maximumRowLength / 4_096 + 2)
            #expect(refused == (header.isEmpty ? [] : [2]))
            #expect(error?.code == (header.isEmpty ? "invalid_header" : nil))
        }
    }

    @Test func lineWithoutEndEndsReading() async throws {
        let piece = String(repeating: "a", count: 4_096)
        let file = EndlessFile("{}\n" + piece, piece)
        var refused: [Int] = []
        let reader = JSONLineReader<ShortCode>(maximumLineLength: Upload.maximumRowLength)
        for try await row in FileRows(file.chunks, reader) {
            if case .refused(let problem) = row { refused.append(problem.line) }
        }
        #expect(refused == [1, 2] && file.count <= Upload.maximumRowLength / 4_096 + 2)
    }

    @Test func hundredthRefusedRowEndsReading() async throws {
        let file = EndlessFile("code,url\na,https://example.com\n", "b,nonsense\n")
        var (rows, refused) = (0, 0)
        let all = FileRows(
            file.chunks, TableReader<ShortCode>(), maximumRefused: CollectionLimits().refusedRows)
        for try await row in all {
            if case .refused = row { refused += 1 } else { rows += 1 }
        }
        #expect(rows == 1 && refused == 100 && file.count == 101)
    }

    @Test func importOfFewRowsWithoutRemovalsIsSmall() async throws {
        let api = TestAPI()
        let row = "a,https://example.com/x\n"
        try await api.test(over: [.task]) { client in
            func isSmall(_ method: HTTPRequest.Method, _ query: String, _ rows: Int) async throws -> Bool? {
                let body = "code,url\n" + String(repeating: row, count: rows)
                _ = try await Self.send(method, "/v1/short-codes\(query)", body, client)
                return api.shortCodes.lastImport?.isSmall
            }
            #expect(try await isSmall(.patch, "", 1) == true)
            #expect(try await isSmall(.patch, "", 1_000) == true)
            #expect(try await isSmall(.patch, "", 1_001) == false)
            #expect(try await isSmall(.patch, "?prune=true", 1) == false)
            #expect(try await isSmall(.put, "", 1) == false)
            let wide = "code,url,x\na,https://example.com/x," + String(repeating: "x", count: 60_000) + "\n"
            let rows = wide + String(repeating: String(wide.dropFirst("code,url,x\n".count)), count: 20)
            _ = try await Self.send(.patch, "/v1/short-codes", rows, client)
            #expect(api.shortCodes.lastImport?.isSmall == false)
        }
    }

    @Test func rowsBeyondTheLimitAreRejected() async throws {
        struct Chunks: AsyncSequence, AsyncIteratorProtocol {
            var left = 10
            mutating func next() async throws -> [UInt8]? {
                left -= 1
                return left >= 0 ? Array("{}\n{}\n".utf8) : nil
            }
            func makeAsyncIterator() -> Self { self }
        }
        for (maximum, isRefused) in [(20, false), (19, true)] {
            var count = 0
            var refusal: (any Error)?
            do {
                let reader = JSONLineReader<ShortCode>(maximumLineLength: 9)
                for try await _ in FileRows(Chunks(), reader, maximum: maximum) { count += 1 }
            } catch {
                refusal = error
            }
            #expect((refusal as? AdministrationError == .tooManyRows(limit: maximum)) == isRefused)
            #expect(count == (isRefused ? 18 : 20))
        }
    }

    /// Blank lines cost as much as rows.
    @Test func blankLinesCountAsRows() async throws {
        struct Chunks: AsyncSequence, AsyncIteratorProtocol {
            var pieces: ArraySlice<String>
            mutating func next() async throws -> [UInt8]? { pieces.popFirst().map { Array($0.utf8) } }
            func makeAsyncIterator() -> Self { self }
        }
        func refusal(_ pieces: [String], _ reader: some RowReader<ShortCode>) async -> AdministrationError? {
            do {
                for try await _ in FileRows(Chunks(pieces: pieces[...]), reader, maximum: 10) {}
                return nil
            } catch {
                return error as? AdministrationError
            }
        }
        let lines = JSONLineReader<ShortCode>(maximumLineLength: 9)
        for blank in ["\n", " \n", "\r\n"] {
            let ten = Array(repeating: blank, count: 10)
            #expect(await refusal(ten, lines) == nil)
            #expect(await refusal(ten + [blank], lines) == .tooManyRows(limit: 10))
            #expect(await refusal(["{}\n"] + ten, lines) == .tooManyRows(limit: 10))
        }
        for blank in ["\n", "\r\n"] {
            let ten = Array(repeating: blank, count: 10)
            #expect(await refusal(["code,url\n"] + ten, TableReader()) == nil)
            #expect(await refusal(["code,url\n"] + ten + [blank], TableReader()) == .tooManyRows(limit: 10))
            let table = TableReader<ShortCode>(maximumRowLength: 9)
            #expect(await refusal(ten + [blank], table) == .tooManyRows(limit: 10))
        }
    }

    // MARK: Interrupted bodies

    @Test func tooLongContentLengthIsRejectedAtOnce() throws {
        let api = TestAPI()
        func admit(_ length: Int) throws(Problem) {
            let fields = RequestFields(
                authorization: "Bearer \(api.manager.text)", contentType: Self.csv, contentLength: "\(length)"
            )
            let client = Client(address: Client.Address(nil), isBehindProxy: false)
            let endpoint = Endpoint(
                .put, "/v1/locations", .streamed(.manage) { _ in { _ in APIResponse(.ok) } })
            _ = try api.responder.access.admit(
                APIRequest(client: client, fields: fields), for: .manage, by: endpoint, at: Date())
        }
        try admit(Upload.maximumLength)
        let refusal = #expect(throws: Problem.self) { try admit(Upload.maximumLength + 1) }
        #expect(refusal?.code == "body_too_large" && refusal?.detail.contains("1073741824 bytes") == true)
    }

    /// Each upload needs a file, and the number of files is limited. A request beyond the limit, or with an invalid query, is
    /// refused before it sends its body.
    @Test(.timeLimit(.minutes(30))) func excessUploadIsRejectedBeforeItsBody() async throws {
        let api = TestAPI()
        let log = api.log
        let responder = APIResponder(
            api.settings, api.dependencies, RequestObserver(), logger: Logger(label: "test") { _ in log })
        let keys = (0...Upload.maximumAtOnce).map { _ in APIKey.generate(.secret) }
        for (number, key) in keys.enumerated() {
            try api.admit(key, of: TenantID(number: UInt8(20 + number)), scopes: "manage")
        }
        let put = { @Sendable (key: APIKey, query: String, body: ServerRequestBody) async -> ServerResponse in
            await responder.respond(
                to: ServerRequest(
                    .put, "/v1/short-codes\(query)", authority: TestAPI.host,
                    fields: [.authorization: "Bearer \(key.text)", .contentType: Self.csv]),
                body: body)
        }
        let unread = BodySource(want: { Issue.record("the body was read") }, resume: {}).body
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let sources = keys.dropLast().map { _ in BodySource(want: { ask.yield() }, resume: {}) }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for (key, body) in zip(keys, sources.map(\.body)) {
                group.addTask { await put(key, "", body).status.code }
            }
            var askedCount = 0
            for await _ in asked {
                askedCount += 1
                if askedCount == Upload.maximumAtOnce { break }
            }
            let last = try #require(keys.last)
            let refused = await put(last, "", unread)
            #expect(refused.status.code == 503 && refused.allFields[.retryAfter] == "10")
            let body = try await refused.body.collected()
            #expect(try JSONValue(parsing: body.readableBytesView).objectValue?["code"] == "too_many_uploads")
            let wrong = await put(last, "?dryRun=perhaps", unread)
            #expect(wrong.status.code == 400)
            for source in sources { source.finish() }
            // A body without a header row is refused by the reader.
            for try await status in group { #expect(status == 422) }
        }
    }

    @Test(.timeLimit(.minutes(30))) func stalledUploadTimesOut() async throws {
        let source = BodySource(want: {}, resume: {})
        source.add(ByteBuffer(string: "ab"))
        let refusal = await #expect(throws: Problem.self) {
            try await source.body.withUpload(within: .milliseconds(20)) { upload in
                var count = 0
                for try await piece in upload { count += piece.count }
                Issue.record("the body had no end")
                return count
            }
        }
        #expect(refusal?.code == "request_timeout")
        source.finish()
    }

    /// Time that the server needs does not count as silence of the client.
    @Test func uploadDeadlineCountsOnlyClientSilence() throws {
        let start = ContinuousClock.now
        let progress = Upload.Progress(start: start)
        let limit = Duration.seconds(10)
        #expect(progress.rest(within: limit, at: start + .seconds(30)) == limit)
        progress.waits(at: start + .seconds(30))
        #expect(progress.rest(within: limit, at: start + .seconds(39)) == .seconds(1))
        #expect(try progress.takes(2))
        #expect(progress.rest(within: limit, at: start + .seconds(800)) == limit)
        #expect(progress.rest(within: limit, at: start + .seconds(895)) == .seconds(5))
        progress.waits(at: start + .seconds(800))
        #expect(try progress.takes(nil))
        #expect(progress.rest(within: limit, at: start + .seconds(1_000)) > .zero)
        #expect(!progress.isOverdue)
    }

    /// One byte now and then is no progress: it would keep one of few places.
    @Test func slowUploadTimesOut() throws {
        let limit = Duration.seconds(10)
        func rest(_ pieces: Int, of length: Int, every interval: Duration) -> Duration {
            let start = ContinuousClock.now
            let progress = Upload.Progress(start: start)
            var now = start
            for _ in 0..<pieces {
                progress.waits(at: now)
                now += interval
                progress.received(length, at: now)
                // The server's own work does not count.
                now += .milliseconds(100)
            }
            progress.waits(at: now)
            return progress.rest(within: limit, at: now)
        }
        #expect(rest(56, of: 1, every: .milliseconds(500)) == .seconds(2))
        #expect(rest(60, of: 1, every: .milliseconds(500)) == .zero)
        #expect(rest(60, of: Upload.leastRate, every: .seconds(1)) == limit)
        #expect(rest(600, of: Upload.leastRate, every: .seconds(1)) == limit)
        #expect(rest(62, of: Upload.leastRate / 2, every: .seconds(1)) <= .zero)
        #expect(rest(20, of: 1, every: .seconds(1)) == limit)
    }

    @Test func uploadPieceAfterDeadlineIsRejected() throws {
        let start = ContinuousClock.now
        for silence in [Duration.seconds(10), .seconds(900)] {
            let progress = Upload.Progress(start: start)
            progress.waits(at: start + silence - .seconds(10))
            #expect(progress.rest(within: .seconds(10), at: start + silence) == .zero)
            #expect(progress.isOverdue)
            #expect(try !progress.takes(1))
        }
    }

    /// The store is called only when the whole body has arrived.
    @Test(.timeLimit(.minutes(30))) func spooledBodyIsReadableRepeatedly() async throws {
        let source = BodySource(want: {}, resume: {})
        let pieces = (0..<20).map { String(repeating: "\($0),", count: 30_000) }
        let body = source.body
        async let kept = body.withUpload(within: .seconds(60)) { try await SpooledBody($0) }
        for piece in pieces { source.add(ByteBuffer(string: piece)) }
        source.finish()
        let whole = try await kept
        // Each read begins at the start.
        for _ in 0..<2 {
            var bytes: [UInt8] = []
            for try await piece in whole { bytes += piece }
            #expect(bytes == Array(pieces.joined().utf8))
        }
    }

    @Test func bodyWithoutDiskSpaceIsRejected() async throws {
        let source = BodySource(want: {}, resume: {})
        source.finish()
        let refusal = await #expect(throws: Problem.self) {
            try await source.body.withUpload(within: .seconds(60)) {
                try await SpooledBody($0, in: ["/nowhere"])
            }
        }
        #expect(refusal?.code == "insufficient_storage" && refusal?.status == .serviceUnavailable)
        #expect(refusal?.detail.contains("No such file or directory") == true)
    }

    @Test func interruptedBodyIsMalformed() async throws {
        struct Broken: Error {}
        let source = BodySource(want: {}, resume: {})
        source.add(ByteBuffer(string: "ab"))
        source.fail(Broken())
        let refusal = await #expect(throws: Problem.self) {
            try await source.body.withUpload(within: .seconds(60)) { upload in
                for try await _ in upload {}
                return true
            }
        }
        #expect(refusal?.code == "malformed_request")
    }
}
