import Administration
import Cards
import Formats
import HTTPTypes
import NIOCore
import StoreSupport
import Tenancy
import Testing

@testable import HTTPAPI

/// Keys store, list and delete the images of cards.
@Suite struct ImageEndpointTests {
    static let operations: Set = ["listImages", "getImage", "putImage", "deleteImage", "getImageFile"]

    private static func put(
        _ file: [UInt8], at digest: String? = nil, as type: String = "image/png", _ client: TestAPI.Client
    ) async throws -> TestAPI.APIResponse {
        let path = try digest ?? HeaderImage(file).digest.description
        return try await client.send(
            .put, "/v1/images/\(path)", key: client.api.manager, headers: [.contentType: type],
            body: ByteBuffer(bytes: file))
    }

    @Test func imageIsStoredOnceAndReturned() async throws {
        let api = TestAPI()
        let file = HeaderPicture.png()
        let path = "/v1/images/\(try HeaderImage(file).digest)"
        try await api.test(over: [.connection]) { client in
            let created = try await Self.put(file, client)
            #expect(created.status == 201 && created.headers[.location] == path, "\(created.text)")
            #expect(created["byteCount"]?.numberValue?.int == file.count)
            #expect(created["mediaType"] == "image/png")
            let again = try await Self.put(file, as: "image/jpeg", client)
            #expect(again.status == 200 && again.json == created.json)

            let page = try await client.send(.get, "/v1/images", key: api.reader)
            #expect(page["data"]?.arrayValue == [try #require(created.json)])
            #expect(try await client.send(.get, path, key: api.reader).json == created.json)
            let read = try await client.send(.get, "\(path)/file", key: api.reader)
            #expect(read.status == 200 && read.headers[.contentType] == "image/png")
            #expect(read.text == String(decoding: file, as: UTF8.self))

            #expect(try await client.send(.delete, path, key: api.manager).status == 204)
            for missing in [path, "\(path)/file"] {
                let gone = try await client.send(.get, missing, key: api.reader)
                #expect(gone.status == 404 && gone["code"] == "unknown_image", "\(missing)")
            }
        }
    }

    @Test func imageThatAppleWouldRejectIsRejected() async throws {
        let api = TestAPI()
        let file = HeaderPicture.png()
        let cases: [(file: [UInt8], reason: JSONValue)] = [
            (HeaderPicture.png(hasAlpha: true), "image_alpha"),
            (HeaderPicture.png(width: 1_799), "image_wrong_dimensions"),
            (Array("GIF89a".utf8), "image_unknown_format"),
            ([], "image_unknown_format"), (Array(file.dropLast(2)), "image_truncated"),
            (file + [0], "image_trailing_bytes"),
            (HeaderPicture.png(seed: 1), "image_other_digest"),
        ]
        let digest = try HeaderImage(file).digest.description
        try await api.test(over: [.connection]) { client in
            for (file, reason) in cases {
                let response = try await Self.put(file, at: digest, client)
                #expect(response.status == 422 && response["code"] == "invalid_image", "\(response.text)")
                #expect(response["reason"] == reason)
            }
            #expect(try await Self.put(file, at: digest, as: "image/gif", client).status == 415)
            #expect(try await Self.put(file, at: "abc", client).status == 404)
            let page = try await client.send(.get, "/v1/images", key: api.reader)
            #expect(page["data"] == [])
        }
    }

    @Test func imageUploadBeyondLimitIsRejected() throws {
        let progress = Upload.Progress(of: .png)
        #expect(try progress.takes(HeaderImage.maximumByteCount))
        let problem = #expect(throws: Problem.self) { try progress.takes(1) }
        #expect(problem?.code == "body_too_large")
    }
}
