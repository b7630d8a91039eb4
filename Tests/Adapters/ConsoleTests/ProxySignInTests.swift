import Administration
import Formats
import Foundation
import HTTPServer
import HTTPTestClient
import HTTPTypes
import Invocation
import NIOCore
import Persistence
import PostgreSQL
import Tenancy
import Testing

@testable import Console

/// Sign-in by a proxy's header fields. The test's client has no address. Requests use sockets if the proxy must have one.
@Suite struct ProxySignInTests {
    private static func signIn(_ groups: [String]) throws -> ProxySignIn {
        try #require(
            ProxySignIn(
                userField: "X-Forwarded-User", groupsField: "X-Forwarded-Groups",
                groups: groups.compactMap { ConsoleGroup($0) }))
    }

    private static func request(_ fields: [(String, String)]) throws -> ReceivedRequest {
        var headers = HTTPFields()
        for (name, value) in fields {
            headers.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        return ReceivedRequest(
            method: .get, path: "/", fields: headers, query: "", body: ServerRequestBody(), client: nil,
            isBehindProxy: true, isSecure: false)
    }

    @Test func firstMatchingGroupDecidesAccess() throws {
        let signIn = try Self.signIn(["acme-staff=read:acme", "operators=change", "auditors=read"])
        let cases: [([(String, String)], String?)] = [
            ([("X-Forwarded-User", "ada"), ("X-Forwarded-Groups", "operators")], "operators=change"),
            (
                [("X-Forwarded-User", "ada"), ("X-Forwarded-Groups", "auditors, operators")],
                "operators=change"
            ),
            (
                [("X-Forwarded-User", "ada"), ("X-Forwarded-Groups", "operators,acme-staff")],
                "acme-staff=read:acme"
            ),
        ]
        for (fields, group) in cases {
            let person = try signIn.person(of: Self.request(fields))
            #expect(person?.name.text == "ada" && person?.group.description == group)
        }
        #expect(try signIn.person(of: Self.request([])) == nil)
    }

    @Test(
        arguments: [
            [("X-Forwarded-User", "ada")], [("X-Forwarded-User", "ada"), ("X-Forwarded-Groups", "")],
            [("X-Forwarded-User", "ada"), ("X-Forwarded-Groups", "operator")],
            [("X-Forwarded-User", "ada"), ("X-Forwarded-Groups", "operators=change")],
            [("X-Forwarded-Groups", "operators")],
            [("X-Forwarded-User", ""), ("X-Forwarded-Groups", "operators")],
            // The client sends its own field in addition to the proxy's.
            [("X-Forwarded-User", "eve"), ("X-Forwarded-User", "ada"), ("X-Forwarded-Groups", "operators")],
            [
                ("X-Forwarded-User", "ada"), ("X-Forwarded-Groups", "x"),
                ("X-Forwarded-Groups", "operators"),
            ],
        ])
    func personWithoutGroupOrNameIsRejected(_ fields: [(String, String)]) throws {
        let signIn = try Self.signIn(["operators=change"])
        #expect(throws: ConsoleRefusal.self) { try signIn.person(of: try Self.request(fields)) }
    }

    @Test(arguments: [
        "", "operators", "=change", "operators=", "operators=admin", "operators=change:No Slug",
    ])
    func invalidGroupIsRejected(_ text: String) {
        #expect(ConsoleGroup(text) == nil)
    }

    @Test func incompleteProxySignInSettingsAreRejected() {
        let groups = [ConsoleGroup("operators=change")].compactMap(\.self)
        #expect(ProxySignIn(userField: "X-User", groupsField: "X-Groups", groups: []) == nil)
        #expect(ProxySignIn(userField: "X-User", groupsField: "X-User", groups: groups) == nil)
        #expect(ProxySignIn(userField: "no token", groupsField: "X-Groups", groups: groups) == nil)
    }

    /// Over sockets, so that the proxy has an address.
    @Test(.timeLimit(.minutes(1))) func trustedProxyIdentifiesThePersonOnEveryRequest() async throws {
        var settings = ConsoleServer.Settings()
        settings.proxySignIn = try Self.signIn(["acme-staff=read:acme", "operators=change", "none=read:gone"])
        settings.proxies = try ["127.0.0.1", "::1"].map { try #require(AddressRange($0)) }
        try await TestConsole.withConsole(settings, overConnections: true) { console in
            let user = try #require(HTTPField.Name("X-Forwarded-User"))
            let groups = try #require(HTTPField.Name("X-Forwarded-Groups"))
            func ask(_ path: String, _ name: String, _ group: String) async throws -> HTTPTestClient.Response
            {
                try await console.get(path, nil, [user: name, groups: group])
            }
            let page = try await ask("/tenants/acme", "ada", "operators")
            #expect(page.status == .ok && page.text.contains("ada") && !page.text.contains("Sign out"))
            #expect(page.headers[.setCookie] == nil)
            #expect(try await ask("/t/acme/places", "kim", "acme-staff").status == .ok)
            #expect(try await ask("/t/other/places", "kim", "acme-staff").status == .notFound)
            #expect(try await ask("/tenants/acme", "kim", "acme-staff").status == .notFound)
            #expect(try await ask("/", "eve", "nobody").status == .forbidden)
            #expect(try await ask("/", "eve", "none").status == .forbidden)
            // A link has no effect for a person whom the proxy signs in, and is not used up.
            let link = try await console.link("bob")
            let refused = try await console.post(
                "/login", ["token": link.text], nil,
                [.secFetchSite: "same-origin", user: "ada", groups: "operators"])
            #expect(
                refused.status == .conflict && refused.text.contains("The proxy has signed you in as ada"))
            #expect(try await console.sessions.access(by: link, at: Date())?.name.text == "bob")
            // Without the proxy's field, the page redirects to the login page.
            #expect(try await console.get("/").headers[.location] == "/login")

            let limits = try await console.post(
                "/tenants/acme/limits", ["key": "5", "seen": "- - - -"], nil,
                [.secFetchSite: "same-origin", user: "ada", groups: "operators"])
            #expect(limits.status == .seeOther)
            let entries = try await console.store.auditLog.page(
                of: console.acme.id, before: nil, limit: 1, where: [:]
            ).entries
            #expect(entries.first?.actor == "console:ada")
            // One event for each person, for any number of requests.
            let events = try await console.sessions.events(before: nil, limit: 10)
            #expect(events.map(\.name).sorted() == ["ada", "bob", "kim"])
            #expect(events.filter { $0.kind == .linkMade }.map(\.name) == ["bob"])
        }
    }

    @Test(.timeLimit(.minutes(1))) func failedSignInEventIsRecordedAtNextRequest() async throws {
        var settings = ConsoleServer.Settings()
        settings.proxySignIn = try Self.signIn(["operators=change"])
        settings.proxies = try ["127.0.0.1", "::1"].map { try #require(AddressRange($0)) }
        try await TestConsole.withConsole(settings, overConnections: true) { console in
            let user = try #require(HTTPField.Name("X-Forwarded-User"))
            let groups = try #require(HTTPField.Name("X-Forwarded-Groups"))
            try await console.execute(
                "REVOKE INSERT (event, name) ON doorstep.console_events FROM doorstep_admin")
            #expect(
                try await console.get("/", nil, [user: "ada", groups: "operators"]).status
                    == .internalServerError)
            try await console.execute(
                "GRANT INSERT (event, name) ON doorstep.console_events TO doorstep_admin")
            #expect(try await console.get("/", nil, [user: "ada", groups: "operators"]).status == .ok)
            #expect(try await console.sessions.events(before: nil, limit: 10).map(\.name) == ["ada"])
        }
    }

    @Test func identityHeadersFromUntrustedClientAreRejected() async throws {
        var settings = ConsoleServer.Settings()
        settings.proxySignIn = try Self.signIn(["operators=change"])
        settings.proxies = [try #require(AddressRange("192.0.2.1"))]
        try await TestConsole.withConsole(settings) { console in
            let user = try #require(HTTPField.Name("X-Forwarded-User"))
            let groups = try #require(HTTPField.Name("X-Forwarded-Groups"))
            let response = try await console.get("/", nil, [user: "ada", groups: "operators"])
            #expect(response.status == .forbidden && response.text.contains("Only trusted proxies"))
            let cookie = try await console.signIn()
            // The same holds for a person who has signed in with a link.
            #expect(try await console.get("/", cookie, [groups: "operators"]).status == .forbidden)
            #expect(try await console.get("/", cookie).status == .ok)
        }
    }
}
