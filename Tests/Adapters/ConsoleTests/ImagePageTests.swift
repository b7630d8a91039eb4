import Administration
import Cards
import Formats
import HTTPTestClient
import HTTPTypes
import NIOCore
import Persistence
import StoreSupport
import TestSupport
import Testing

@testable import Console

@Suite struct ImagePageTests {
    @Test func imageIsAddedUnchangedAndShown() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            #expect(try await console.get("/t/acme/images", cookie).text.contains("No images yet"))
            let file = HeaderPicture.png()
            let added = try await console.send(file, as: "image/png", "/t/acme/images", cookie)
            #expect(added.status == .ok)
            let next = try JSONValue(parsing: Array(buffer: added.body)).objectValue?["next"]?.stringValue
            let path = try #require(next).prefix { $0 != "?" }
            let digest = try #require(path.split(separator: "/").last)
            #expect(try await console.get("/t/acme/images", cookie).text.contains("\(path)/file"))
            #expect(try await console.get(String(path), cookie).text.contains("No card uses it"))
            let shown = try await console.get("\(path)/file", cookie)
            #expect(shown.headers[.contentType] == "image/png" && Array(buffer: shown.body) == file)
            #expect(shown.headers[.xContentTypeOptions] == "nosniff")
            #expect(try await console.get("/t/other/images/\(digest)", cookie).status == .notFound)
            #expect(try await console.get("/t/other/images/\(digest)/file", cookie).status == .notFound)

            let items = TenantItems(console.store.items.locations, of: console.acme.id, by: "operator:test")
            _ = try await items.update(LocationRecord.door.identifier) { door in
                LocationRecord(
                    identifier: door.identifier, name: door.name, region: door.region,
                    metadata: door.metadata, card: try Card(image: ImageDigest(String(digest))))
            }
            #expect(try await console.get(String(path), cookie).text.contains("1 location (door)"))
        }
    }

    @Test func invalidImageIsRejectedWithReason() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let small = try await console.send(
                HeaderPicture.png(width: 180), as: "image/png", "/t/acme/images", cookie)
            #expect(small.status == .conflict && small.text.contains("\"error\""))
            let form = try await console.post("/t/acme/images", ["x": "y"], cookie)
            #expect(form.status == .unsupportedMediaType)
            let long = try await console.send(
                Array(repeating: 0, count: HeaderImage.maximumByteCount + 1), as: "image/png",
                "/t/acme/images",
                cookie)
            #expect(long.status == .contentTooLarge)
            let reader = try await console.signIn(isReadOnly: true)
            let refused = try await console.send(
                HeaderPicture.png(), as: "image/png", "/t/acme/images", reader)
            #expect(refused.status == .forbidden)
            #expect(try await console.get("/t/acme/images", cookie).text.contains("No images yet"))
        }
    }
}
