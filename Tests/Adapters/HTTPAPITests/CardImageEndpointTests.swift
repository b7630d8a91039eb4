import Administration
import Cards
import Foundation
import HTTPTypes
import Lookups
import StoreSupport
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

/// Images of cards, which anyone can load from the hosts of their tenant.
@Suite struct CardImageEndpointTests {
    private static let file = HeaderPicture.png()

    private static func path(_ file: [UInt8] = file) throws -> String {
        "/.well-known/doorstep/images/\(try HeaderImage(file).digest)"
    }

    private static func api(of tenant: TenantID = TenantID(number: 1)) async throws -> TestAPI {
        let api = TestAPI()
        let image = try CardImage(file: file, addedAt: Date(timeIntervalSince1970: 0))
        _ = try await api.images.change(image.key, of: tenant, by: "test") { _ in image }
        return api
    }

    @Test func imageIsPublicAtProvedHost() async throws {
        let api = try await Self.api()
        let path = try Self.path()
        try await api.test { client in
            try api.proveHost(false)
            #expect(try await client.send(.get, path, key: nil).code == "unknown_host")
            try api.proveHost()
            let response = try await client.send(.get, path, key: nil)
            #expect(response.status == 200 && response.headers[.contentType] == "image/png")
            #expect(response.text == String(decoding: Self.file, as: UTF8.self))
            #expect(response.headers[.cacheControl] == "public, max-age=31536000, immutable")
            #expect(response.headers[.xContentTypeOptions] == "nosniff")
            let tag = try #require(response.headers[.eTag])
            #expect(path.hasSuffix(tag.dropFirst().dropLast()))
            let again = try await client.send(.get, path, key: nil, headers: [.ifNoneMatch: tag])
            #expect(again.status == 304 && again.text.isEmpty && again.headers[.eTag] == tag)
            let head = try await client.send(.head, path, key: nil)
            #expect(head.status == 200 && head.text.isEmpty)
        }
    }

    /// An image of many pieces, requested in each possible way.
    @Test func largeImageArrivesWhole() async throws {
        let file = HeaderPicture.png(pixelCount: 3_000_000)
        let api = TestAPI()
        let image = try CardImage(file: file, addedAt: Date(timeIntervalSince1970: 0))
        _ = try await api.images.change(image.key, of: TenantID(number: 1), by: "test") { _ in image }
        try api.proveHost()
        try await api.test { client in
            let shown = try await client.send(.get, Self.path(file), key: nil)
            #expect(shown.status == 200 && shown.text == String(decoding: file, as: UTF8.self))
            let managed = try await client.send(.get, "/v1/images/\(image.key)/file", key: api.manager)
            #expect(managed.status == 200 && managed.text == String(decoding: file, as: UTF8.self))
            #expect(managed.headers[.cacheControl] == "no-store")
        }
    }

    @Test func imageOfAnotherTenantIsNotFound() async throws {
        let api = try await Self.api(of: TenantID(number: 3))
        try api.proveHost(pages: .on)
        try await api.test { client in
            #expect(try await client.send(.get, Self.path(), key: nil).code == "unknown_image")
            for name in ["x", "", String(repeating: "0", count: 63), "..%2F"] {
                let response = try await client.send(
                    .get, "/.well-known/doorstep/images/\(name)", key: nil)
                #expect(response.code == "not_found", "\(name)")
            }
            #expect(try await client.send(.post, Self.path(), key: nil).status == 405)
        }
    }

    @Test func imagesOfSuspendedTenantAreNotFound() async throws {
        let api = try await Self.api()
        try api.proveHost()
        var table = try #require(api.table.current).table
        try table.set(.tenants, .tenant(TenantID(number: 1), isSuspended: true))
        api.table.replace(by: table, from: .database, asOf: Date())
        try await api.test { client in
            let response = try await client.send(.get, Self.path(), key: nil)
            #expect(response.code == "unknown_host")
        }
    }
}
