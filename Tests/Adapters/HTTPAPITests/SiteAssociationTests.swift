import Formats
import Foundation
import HTTPTypes
import Lookups
import Tenancy
import Testing
import ValueFixtures

@testable import HTTPAPI

@Suite struct SiteAssociationTests {
    private static let path = "/.well-known/apple-app-site-association"

    private static func api() throws -> TestAPI {
        let api = TestAPI()
        try api.proveHost()
        return api
    }

    private static func change(_ api: TestAPI, _ body: (inout LookupIndex) throws -> Void) throws {
        var table = try #require(api.table.current).table
        try body(&table)
        api.table.replace(by: table, from: .database, asOf: Date())
    }

    @Test func provedHostServesItsAssociationFile() async throws {
        try await Self.api().test { client in
            let response = try await client.send(.get, Self.path, key: nil)
            #expect(response.status == 200)
            #expect(response.headers[.contentType] == "application/json")
            #expect(response.headers[.cacheControl] == "public, max-age=300")
            #expect(response.headers[.vary] == nil)
            // The clip's experiences are on another host.
            #expect(
                response.json == [
                    "appclips": [
                        "apps": ["ABCDE12345.com.example.MyApp", "ABCDE12345.com.example.MyApp.Clip"]
                    ]
                ])

            let tag = try #require(response.headers[.eTag])
            let again = try await client.send(.get, Self.path, key: nil, headers: [.ifNoneMatch: tag])
            #expect(again.status == 304)
            #expect(again.json == nil)
            #expect(again.headers[.eTag] == tag)
            #expect(again.headers[.cacheControl] == "public, max-age=300")
            let head = try await client.send(.head, Self.path, key: nil)
            #expect(head.status == 200)
            #expect(head.headers[.eTag] == tag)
        }
    }

    @Test func experienceChangesAppearInTheFileAtOnce() async throws {
        let api = try Self.api()
        let tenant = TenantID(number: 1)
        try await api.test { client in
            let first = try await client.send(.get, Self.path, key: nil)
            try Self.change(api) { table in
                try table.set(
                    .experiences,
                    .experience(
                        tenant, "advanced", "https://\(TestAPI.host)/menu", clip: "com.example.MyApp.Clip"))
            }
            let second = try await client.send(.get, Self.path, key: nil)
            #expect(
                second["applinks"] == [
                    "details": [
                        [
                            "appIDs": ["ABCDE12345.com.example.MyApp"],
                            "components": [["/": "/menu"], ["/": "/menu/*"]],
                        ]
                    ]
                ])
            let tag = try #require(first.headers[.eTag])
            #expect(
                try await client.send(.get, Self.path, key: nil, headers: [.ifNoneMatch: tag]).status == 200)
            try Self.change(api) { table in
                table.remove(
                    .experiences, of: tenant, key: ["advanced", "https://\(TestAPI.host)/menu"])
            }
            #expect(try await client.send(.get, Self.path, key: nil).headers[.eTag] == tag)
        }
    }

    /// The file contains the App ID prefix and the content for other services, as in the lookup index.
    @Test func domainContentAndAppIDPrefixAreInTheFile() async throws {
        let api = try Self.api()
        let tenant = TenantID(number: 1)
        try await api.test { client in
            try Self.change(api) { table in
                try table.set(
                    .clips,
                    .clip(tenant, "com.example.MyApp.Clip", isMultiBusiness: true, appIDPrefix: "OLDPREFIX1"))
                try table.set(
                    .domains,
                    .domain(
                        tenant, TestAPI.host,
                        content: #"{"webcredentials":{"apps":["ABCDE12345.com.example.Bank"]},"more":[null]}"#
                    ))
            }
            let response = try await client.send(.get, Self.path, key: nil)
            #expect(
                response.json == [
                    "appclips": [
                        "apps": ["OLDPREFIX1.com.example.MyApp", "OLDPREFIX1.com.example.MyApp.Clip"]
                    ],
                    "more": [.null], "webcredentials": ["apps": ["ABCDE12345.com.example.Bank"]],
                ])
            // A change of the content alone changes the file and its tag.
            let tag = try #require(response.headers[.eTag])
            try Self.change(api) { try $0.set(.domains, .domain(tenant, TestAPI.host)) }
            let next = try await client.send(.get, Self.path, key: nil, headers: [.ifNoneMatch: tag])
            #expect(next.status == 200 && next["webcredentials"] == nil)
        }
    }

    @Test func largeSiteIsSummarizedBelowTheLimit() async throws {
        for count in [900, 5_000] {
            let api = try Self.api()
            try Self.change(api) { table in
                for number in 0..<count {
                    try table.set(
                        .experiences,
                        .experience(
                            TenantID(number: 1), "advanced",
                            "https://\(TestAPI.host)/restaurants/of/this/town/\(number)",
                            clip: "com.example.MyApp.Clip"))
                }
            }
            try await api.test { client in
                let response = try await client.send(.get, Self.path, key: nil)
                #expect(try #require(response.json).serialized().count <= 65_536)
                let details = try #require(response["applinks"]?.objectValue?["details"]?.arrayValue)
                #expect(details.count == 1)
                #expect(details[0].objectValue?["components"] == [["/": "/restaurants/of/this/town/*"]])
            }
        }
    }

    @Test func unprovedHostIsUnknown() async throws {
        try await TestAPI().test { client in
            let response = try await client.send(.get, Self.path, key: nil)
            #expect(response.status == 404)
            #expect(response.code == "unknown_host")
            #expect(response.headers[.contentType] == "application/problem+json")
            #expect(response.headers[.cacheControl] == "no-store")
        }
    }

    @Test func headersDoNotChangeTheFile() async throws {
        try await Self.api().test { client in
            for headers in [
                [.userAgent: "AASA-Bot/1.0.0"],
                [.userAgent: "swcd (unknown version) CFNetwork/808.2.16 Darwin/15.6.0"],
                [.authorization: "Bearer nonsense"], [.accept: "text/html"],
            ] as [HTTPFields] {
                let response = try await client.send(.get, Self.path, key: nil, headers: headers)
                #expect(response.status == 200)
            }
            let response = try await client.send(.post, Self.path, key: nil)
            #expect(response.status == 405)
        }
    }

    @Test func fileWithoutLookupIndexIsUnavailable() async throws {
        try await TestAPI(hasTable: false).test { client in
            let response = try await client.send(.get, Self.path, key: nil)
            #expect(response.status == 503)
            #expect(response.code == "unavailable")
        }
    }
}
