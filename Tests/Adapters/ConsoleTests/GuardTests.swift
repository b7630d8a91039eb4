import HTTPTestClient
import HTTPTypes
import Testing

@testable import Console

@Suite struct GuardTests {
    @Test(
        arguments: [
            ([.secFetchSite: "same-origin"], true),
            ([.secFetchSite: "same-origin", .origin: "null"], true),
            ([.secFetchSite: "same-origin", .origin: "http://localhost"], true),
            // A proxy in between does not forward Host.
            ([.secFetchSite: "same-origin", .origin: "https://console.example.com"], false),
            ([.secFetchSite: "same-site"], false),
            ([.secFetchSite: "same-site", .origin: "http://localhost"], false),
            ([.secFetchSite: "cross-site"], false),
            ([.secFetchSite: "none"], false),
            ([.origin: "http://localhost"], true),
            ([.origin: "http://localhost:8882"], false),
            ([.origin: "https://localhost"], false),
            ([.origin: "null"], false),
            ([:], false),
        ] as [(HTTPFields, Bool)])
    func changesAreAcceptedOnlyFromConsolePages(_ fields: HTTPFields, isAllowed: Bool) async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let response = try await console.post("/logout", [:], cookie, fields)
            #expect(response.status == (isAllowed ? .seeOther : .forbidden))
            #expect(try await console.get("/", cookie).status == (isAllowed ? .seeOther : .ok))
        }
    }

    @Test(arguments: [
        HTTPField.Name.forwarded, .forwardedFor, .forwardedHost, .forwardedProto, .via,
    ])
    func requestThroughUnconfiguredProxyIsRejected(_ field: HTTPField.Name) async throws {
        try await TestConsole.withConsole { console in
            let straight = try await console.get("/login")
            #expect(straight.status == .ok)
            #expect(try await console.get("/login", nil, [field: "x"]).status == .misdirectedRequest)
        }
    }

    @Test func configuredOriginExcludesAllOtherNames() throws {
        let names = ConsoleNames(origins: [try #require(ConsoleOrigin("https://console.example.com"))])
        for isForwarded in [false, true] {
            let origin = names.origin(of: "console.example.com", isForwarded: isForwarded)
            #expect(origin?.text == "https://console.example.com" && origin?.isSecure == true)
            // The request of a proxy that does not forward Host.
            #expect(names.origin(of: "127.0.0.1:8081", isForwarded: isForwarded) == nil)
            #expect(names.origin(of: "localhost", isForwarded: isForwarded) == nil)
        }
    }

    @Test(
        arguments: [
            ("127.0.0.1", "http://127.0.0.1"), ("127.0.0.1:8081", "http://127.0.0.1:8081"),
            ("LOCALHOST:8081", "http://localhost:8081"), ("[::1]:8081", "http://[::1]:8081"),
            ("console.example.com", nil), ("console.example.com:8081", nil),
            ("evil.example.com", nil), ("127.0.0.1.evil.example.com", nil),
            ("127.0.0.1:8081@evil.example.com", nil),
            ("localhost:", nil), ("localhost:99999", nil), ("localhost.", nil), ("192.0.2.1", nil), ("", nil),
            (nil, nil),
        ] as [(String?, String?)])
    func defaultOriginIsLoopbackOnly(_ authority: String?, origin: String?) {
        let found = ConsoleNames(origins: []).origin(of: authority, isForwarded: false)
        #expect(found?.text == origin && found?.isSecure != true)
    }

    @Test(arguments: [
        "http://console.example.com", "https://", "https://a/b", "https://a b", "console.example.com", "",
    ])
    func invalidOriginIsRejected(_ text: String) {
        #expect(ConsoleOrigin(text) == nil)
    }

    @Test func everyResponseHasSecurityHeaders() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            for path in [
                "/login", "/", "/t/acme/places", "/t/acme/places/door", "/nothing", "/t/nobody/places",
            ] {
                let headers = try await console.get(path, cookie).headers
                let policy = try #require(headers[.contentSecurityPolicy])
                #expect(policy.hasPrefix("default-src 'none'; script-src 'self';"), "\(path)")
                #expect(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"))
                #expect(headers[.xContentTypeOptions] == "nosniff" && headers[.cacheControl] == "no-store")
                #expect(headers[.crossOriginOpenerPolicy] == "same-origin")
                #expect(headers[.crossOriginResourcePolicy] == "same-origin")
                #expect(headers[.referrerPolicy] == "same-origin")
            }
        }
    }
}
