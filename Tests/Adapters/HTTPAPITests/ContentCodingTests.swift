import CZlib
import Foundation
import HTTPTestClient
import HTTPTypes
import Lookups
import NIOCore
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI
@testable import HTTPServer

/// Request bodies with `Content-Encoding`, and compressed responses.
@Suite struct ContentCodingTests {
    private static let lookup = #"{"url": "https://example.com/restaurants/restaurant_a"}"#

    /// One gzip member, as the command `gzip` writes it.
    private static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        let size = CInt(MemoryLayout<z_stream>.size)
        #expect(
            deflateInit2_(
                &stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
                == Z_OK)
        defer { deflateEnd(&stream) }
        var input = bytes
        return [UInt8](unsafeUninitializedCapacity: bytes.count + bytes.count / 8 + 128) { output, count in
            input.withUnsafeMutableBufferPointer { input in
                (stream.next_in, stream.avail_in) = (input.baseAddress, CUnsignedInt(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, CUnsignedInt(output.count))
                #expect(deflate(&stream, Z_FINISH) == Z_STREAM_END)
            }
            count = output.count - Int(stream.avail_out)
        }
    }

    private static func gzip(_ text: String) -> [UInt8] { gzip(Array(text.utf8)) }

    private static func send(
        _ body: [UInt8], _ method: HTTPRequest.Method = .post, to path: String = "/v1/confirmations",
        coding: String, type: String = "application/json", key: APIKey? = nil, _ client: TestAPI.Client
    ) async throws -> TestAPI.APIResponse {
        try await client.send(
            method, path, key: key ?? client.api.secret,
            headers: [.contentType: type, .contentEncoding: coding], body: ByteBuffer(bytes: body))
    }

    @Test(arguments: ["gzip", "GZIP", "x-gzip"]) func gzipBodyIsDecoded(coding: String) async throws {
        try await TestAPI().test { client in
            let response = try await Self.send(Self.gzip(Self.lookup), coding: coding, client)
            #expect(response.status == 200 && response["outcome"] != nil, "\(response.text)")
        }
    }

    @Test func identityCodingIsAccepted() async throws {
        try await TestAPI().test { client in
            let response = try await Self.send(Array(Self.lookup.utf8), coding: "identity", client)
            #expect(response.status == 200, "\(response.text)")
        }
    }

    @Test(arguments: ["br", "deflate", "compress", "zstd", "gzip, gzip", "identity, gzip"])
    func otherCodingIsRejectedAsUnsupported(coding: String) async throws {
        try await TestAPI().test { client in
            for (method, path, type, key) in [
                (HTTPRequest.Method.post, "/v1/confirmations", "application/json", client.api.secret),
                (.put, "/v1/locations", "text/csv", client.api.manager),
                (.patch, "/v1/locations/a", "application/json", client.api.manager),
            ] {
                let response = try await Self.send(
                    Array(Self.lookup.utf8), method, to: path, coding: coding, type: type, key: key, client)
                #expect(
                    response.status == 415 && response.code == "unsupported_content_coding",
                    "\(response.text)")
                #expect(response.headers[.acceptEncoding] == "gzip, identity")
            }
        }
    }

    @Test func brokenGzipIsRejected() async throws {
        let whole = Self.gzip(Self.lookup)
        var damaged = whole
        damaged[whole.count - 8] ^= 1
        for body in [Array(Self.lookup.utf8), Array(whole.dropLast(9)), whole + [0], damaged] {
            try await TestAPI().test { client in
                let response = try await Self.send(body, coding: "gzip", client)
                #expect(response.status == 400 && response.code == "malformed_request", "\(response.text)")
            }
        }
    }

    @Test func gzipBodyIsLimitedByDecodedLength() async throws {
        let content = [UInt8](repeating: UInt8(ascii: " "), count: Endpoint.maximumBodyLength + 1)
        let body = Self.gzip(content)
        #expect(body.count < 1_024)
        try await TestAPI().test { client in
            let refused = try await Self.send(body, coding: "gzip", client)
            #expect(refused.status == 413 && refused.code == "body_too_large", "\(refused.text)")
            // The server reads one byte less, which is invalid JSON.
            let read = try await Self.send(Self.gzip(Array(content.dropLast())), coding: "gzip", client)
            #expect(read.status == 400 && read.code == "invalid_json", "\(read.text)")
        }
    }

    @Test func gzipCollectionIsDecoded() async throws {
        let sample = CollectionEndpointTests.samples[0]
        try await TestAPI().test { client in
            let response = try await Self.send(
                Self.gzip(sample.csv), .put, to: sample.path, coding: "gzip", type: "text/csv",
                key: client.api.manager, client)
            #expect(response.status == 200, "\(response.text)")
            let broken = try await Self.send(
                Array(Self.gzip(sample.csv).dropLast()), .put, to: sample.path, coding: "gzip",
                type: "text/csv",
                key: client.api.manager, client)
            #expect(broken.status == 400 && broken.code == "malformed_request", "\(broken.text)")
        }
    }

    /// The limit of images is smaller than the limit of collections.
    @Test func gzipUploadIsLimitedByDecodedLength() async throws {
        let body = Self.gzip([UInt8](repeating: 0, count: BodyType.png.maximumLength + 1))
        #expect(body.count < 100_000)
        let content = ServerRequestBody(ByteBuffer(bytes: body))
        let refusal = await #expect(throws: Problem.self) {
            try await content.withUpload(of: .png, coding: "gzip", within: .seconds(600)) { upload in
                for try await piece in upload { #expect(piece.count <= GzipDecoder.pieceLength) }
            }
        }
        #expect(refusal?.code == "body_too_large")
    }

    /// Empty members decode to nothing, so that only their encoded bytes can be counted.
    @Test(arguments: [0, 1]) func gzipThatDecodesToNothingIsLimited(excess: Int) async throws {
        let block = ByteBuffer(bytes: [[UInt8]](repeating: Self.gzip(""), count: 1_000).joined())
        let limit = BodyType.png.maximumLength + Upload.maximumCodingOverhead
        let source = BodySource(want: {}, resume: {})
        for _ in 0..<limit / block.readableBytes + excess { source.add(block) }
        source.finish()
        let content = source.body
        var code: String?
        do {
            try await content.withUpload(of: .png, coding: "gzip", within: .seconds(600)) { upload in
                for try await piece in upload { Issue.record("decoded \(piece.count) bytes") }
            }
        } catch let problem as Problem {
            code = problem.code
        }
        #expect(code == (excess == 0 ? nil : "body_too_large"))
    }

    // MARK: Responses

    /// Sends a request with and without `Accept-Encoding: gzip`.
    private static func both(
        _ method: HTTPRequest.Method = .get, _ path: String, key: APIKey? = nil, type: String? = nil,
        body: String = "", _ client: TestAPI.Client
    ) async throws -> (plain: HTTPTestClient.Response, compressed: HTTPTestClient.Response) {
        var headers: HTTPFields = [:]
        headers[.authorization] = "Bearer \((key ?? client.api.secret).text)"
        headers[.contentType] = body.isEmpty ? nil : type ?? "application/json"
        let plain = try await client.http.send(
            method, path, authority: TestAPI.host, headers: headers, body: ByteBuffer(string: body))
        headers[.acceptEncoding] = "br, gzip;q=0.8"
        return (
            plain,
            try await client.http.send(
                method, path, authority: TestAPI.host, headers: headers, body: ByteBuffer(string: body))
        )
    }

    private static func decoded(_ body: [UInt8]) throws -> [UInt8] {
        let decoder = try GzipDecoder()
        decoder.add(body)
        var content: [UInt8] = []
        while let piece = try decoder.next() { content += piece }
        try decoder.finish()
        return content
    }

    /// An API with locations whose lookups, lists and searches are longer than 1 KiB.
    private static func apiWithLongResponses() throws -> TestAPI {
        let api = TestAPI()
        guard var table = api.table.current?.table else { throw Problem.unavailable }
        for number in 0..<20 {
            try table.set(
                .locations,
                .location(
                    TenantID(number: 1), "long_\(number)", name: "Long", latitude: 37.33, longitude: -122.01,
                    details: #"{"menu": "\#(String(repeating: "Soup of the day. ", count: 100))"}"#))
        }
        api.table.replace(by: table, from: .database, asOf: Date())
        return api
    }

    private static let longLookup = "/v1/lookup?url=https://example.com/restaurants/long_1"
    private static let longItem =
        #"{"name": "N", "latitude": 1, "longitude": 1, "radius": 1, "metadata": {"note": "\#(String(repeating: "A note. ", count: 300))"}}"#

    @Test(
        arguments: [
            (.get, longLookup, "", 200),
            (
                .post, "/v1/nearby",
                #"{"url": "https://example.com/restaurants", "coordinate": {"latitude": 37.33, "longitude": -122.01}}"#,
                200
            ),
            (.get, "/v1/locations", "", 200), (.get, "/v1/locations/long", "", 200),
        ] as [(HTTPRequest.Method, String, String, Int)])
    func longResponseIsCompressedForClientsThatAcceptIt(
        method: HTTPRequest.Method, path: String, body: String, status: Int
    ) async throws {
        try await Self.apiWithLongResponses().test { client in
            _ = try await Self.both(
                .put, "/v1/locations/long", key: client.api.manager, body: Self.longItem, client)
            let key = path.contains("locations") ? client.api.reader : client.api.publishable
            let (plain, compressed) = try await Self.both(method, path, key: key, body: body, client)
            #expect(plain.status.code == status && compressed.status.code == status)
            #expect(plain.headers[.contentEncoding] == nil && plain.body.readableBytes > 1_024)
            #expect(compressed.headers[.contentEncoding] == "gzip")
            #expect(compressed.headers[.contentType] == plain.headers[.contentType])
            #expect(compressed.headers[.contentLength] == "\(compressed.body.readableBytes)")
            for response in [plain, compressed] {
                #expect(response.headers[.vary]?.contains("Accept-Encoding") == true)
            }
            #expect(
                try Self.decoded(Array(compressed.body.readableBytesView))
                    == Array(plain.body.readableBytesView))
            #expect(compressed.body.readableBytes < plain.body.readableBytes / 2)
        }
    }

    @Test func shortResponseIsNeverCompressed() async throws {
        try await TestAPI().test { client in
            let path = "/v1/lookup?url=https://example.com/restaurants/restaurant_a"
            let (plain, other) = try await Self.both(.get, path, client)
            #expect(other.headers[.contentEncoding] == nil && other.body == plain.body)
            #expect(other.headers[.eTag] == plain.headers[.eTag])
        }
    }

    @Test func longProblemIsCompressed() async throws {
        try await TestAPI().test { client in
            let rows = (0..<100).map { _ in "{}\n" }.joined()
            let (plain, compressed) = try await Self.both(
                .put, "/v1/locations", key: client.api.manager, type: "application/x-ndjson", body: rows,
                client)
            #expect(plain.status.code == 422 && compressed.status.code == 422)
            #expect(compressed.headers[.contentType] == "application/problem+json")
            #expect(compressed.headers[.contentEncoding] == "gzip")
            let text = String(
                decoding: try Self.decoded(Array(compressed.body.readableBytesView)), as: UTF8.self)
            #expect(text.contains("invalid_rows"))
        }
    }

    @Test func headOfLongResponseHasTheFieldsOfGet() async throws {
        try await Self.apiWithLongResponses().test(over: [.connection]) { client in
            let get = try await Self.both(.get, Self.longLookup, client).compressed
            let head = try await Self.both(.head, Self.longLookup, client).compressed
            #expect(head.body.readableBytes == 0)
            for name in [HTTPField.Name.contentEncoding, .contentLength, .eTag, .vary, .contentType] {
                #expect(head.headers[name] == get.headers[name] && get.headers[name] != nil, "\(name)")
            }
        }
    }

    /// Caches and conditional changes use the tag that the client received.
    @Test func compressedRepresentationHasItsOwnTag() async throws {
        let api = try Self.apiWithLongResponses()
        try await api.test { client in
            let (plain, compressed) = try await Self.both(.get, Self.longLookup, client)
            let tag = try #require(compressed.headers[.eTag])
            #expect(tag != plain.headers[.eTag] && tag.hasSuffix("-gzip\""))
            let known = try await client.send(
                .get, Self.longLookup, key: api.secret,
                headers: [.acceptEncoding: "gzip", .ifNoneMatch: tag])
            #expect(known.status == 304 && known.headers[.eTag] == tag)
            #expect(known.headers[.contentEncoding] == nil && known.text.isEmpty)

            let path = "/v1/locations/long"
            _ = try await Self.both(.put, path, key: api.manager, body: Self.longItem, client)
            let (state, item) = try await Self.both(.get, path, key: api.reader, client)
            let itemTag = try #require(item.headers[.eTag])
            #expect(itemTag != state.headers[.eTag] && itemTag.hasSuffix("-gzip\""))
            let unchanged = try await client.send(
                .get, path, key: api.reader, headers: [.acceptEncoding: "gzip", .ifNoneMatch: itemTag])
            #expect(unchanged.status == 304 && unchanged.headers[.eTag] == itemTag)
            for (tag, status) in [(itemTag, 200), (itemTag, 412)] {
                let changed = try await client.send(
                    .patch, path, key: api.manager,
                    headers: [.contentType: "application/json", .ifMatch: tag],
                    body: ByteBuffer(string: #"{"name": "M"}"#))
                #expect(changed.status == status, "\(changed.text)")
            }
            _ = try await client.send(.delete, path, key: api.manager)
        }
    }

    /// The length of a compressed body would reveal parts of the secret (BREACH).
    @Test func responseWithSecretIsNeverCompressed() async throws {
        try await TestAPI().test(over: [.task]) { client in
            let url = "https://example.com/\(String(repeating: "a", count: 1_500))"
            let (plain, other) = try await Self.both(
                .post, "/v1/webhooks", key: client.api.manager, body: #"{"url": "\#(url)"}"#, client)
            for response in [plain, other] {
                #expect(response.status == .created && response.headers[.contentEncoding] == nil)
                let text = String(decoding: response.body.readableBytesView, as: UTF8.self)
                #expect(text.utf8.count > 1_024 && text.contains("whsec_"))
            }
        }
    }

    /// The response of an endpoint that is open to everyone.
    private static func response(
        _ endpoint: Endpoint, coding: String?, tag: String? = nil
    ) throws -> (status: Int, headers: HTTPFields, body: [UInt8]) {
        guard case .open(let handler) = endpoint.handler else { throw Problem.notFound }
        var fields: HTTPFields = [:]
        fields[.acceptEncoding] = coding
        fields[.ifNoneMatch] = tag
        let response = try handler(
            APIRequest(
                client: Client(address: Client.Address(nil), isBehindProxy: false),
                parameters: ["code": "not_found"], fields: RequestFields(fields)))
        let headers = ServerResponse(response, requestID: "").allFields
        return (response.status.code, headers, response.body.map { Array($0.buffer.readableBytesView) } ?? [])
    }

    /// The page of one problem is too short to be compressed.
    @Test(arguments: 0..<2) func constantDocumentIsCompressedForClientsThatAcceptIt(number: Int) throws {
        let endpoint = ([OpenAPIDocument.endpoint] + ProblemPages.endpoints)[number]
        let plain = try Self.response(endpoint, coding: nil)
        let compressed = try Self.response(endpoint, coding: "gzip")
        for response in [plain, compressed] {
            #expect(response.status == 200 && response.headers[.vary] == "Accept-Encoding")
            #expect(response.headers[.cacheControl] == "public, max-age=300")
        }
        #expect(plain.headers[.contentEncoding] == nil && compressed.headers[.contentEncoding] == "gzip")
        let content = try Self.decoded(compressed.body)
        #expect(content == plain.body && compressed.body.count < content.count)
        // Each representation has its own tag.
        let (tag, gzipTag) = (try #require(plain.headers[.eTag]), try #require(compressed.headers[.eTag]))
        #expect(tag != gzipTag)
        for (coding, known, status) in [
            (nil, tag, 304), ("gzip", gzipTag, 304), ("gzip", tag, 200), (nil, gzipTag, 200),
        ] as [(String?, String, Int)] {
            let response = try Self.response(endpoint, coding: coding, tag: known)
            #expect(response.status == status && response.headers[.vary] == "Accept-Encoding")
            if status == 304 { #expect(response.headers[.contentEncoding] == nil && response.body.isEmpty) }
        }
    }

    @Test func gzipMembersAreJoinedWhereverTheyAreSplit() throws {
        let members = Self.gzip("one ") + Self.gzip("") + Self.gzip("two")
        for size in [1, 7, members.count] {
            let decoder = try GzipDecoder()
            var content: [UInt8] = []
            for start in stride(from: 0, to: members.count, by: size) {
                decoder.add(Array(members[start..<min(start + size, members.count)]))
                while let piece = try decoder.next() { content += piece }
            }
            try decoder.finish()
            #expect(content == Array("one two".utf8))
        }
    }
}
