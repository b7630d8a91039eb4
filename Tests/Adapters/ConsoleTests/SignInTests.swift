import Administration
import Formats
import Foundation
import HTTPTestClient
import HTTPTypes
import Invocation
import Persistence
import PostgreSQL
import TestSupport
import Testing

@testable import Console

@Suite struct SignInTests {
    @Test func linkSignsInOnceWithRestrictedCookie() async throws {
        try await TestConsole.withConsole { console in
            let link = try await console.link()
            let first = try await console.post("/login", ["token": link.text])
            #expect(first.status == .seeOther && first.headers[.location] == "/")
            let cookie = try #require(first.headers[.setCookie])
            #expect(
                cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && cookie.contains("Path=/"))
            #expect(!cookie.contains(link.text))
            let again = try await console.post("/login", ["token": link.text])
            #expect(again.status == .forbidden && again.headers[.setCookie] == nil)
            #expect(again.text.contains("was already used"))
        }
    }

    @Test func wholeLinkMayBePasted() async throws {
        try await TestConsole.withConsole { console in
            let link = try await console.link()
            let response = try await console.post(
                "/login", ["token": " http://127.0.0.1:8081/login#\(link.text) "])
            #expect(response.status == .seeOther)
        }
    }

    @Test func expiredOrUnknownLinkIsRejected() async throws {
        try await TestConsole.withConsole { console in
            let old = try await console.link(at: Date(timeIntervalSinceNow: -ConsoleSession.linkLifetime - 1))
            #expect(try await console.post("/login", ["token": old.text]).status == .forbidden)
            let unknown = try await console.sessions.makeSecret()
            #expect(try await console.post("/login", ["token": unknown.text]).status == .forbidden)
            let madeUp = ConsoleSecret.generate { _ in [UInt8](repeating: 0, count: 16) }
            #expect(try await console.post("/login", ["token": madeUp.text]).status == .forbidden)
            #expect(try await console.post("/login", ["token": "x"]).status == .forbidden)
            #expect(try await console.post("/login", [:]).status == .forbidden)
        }
    }

    @Test func requestWithoutSessionIsRedirectedToLogin() async throws {
        try await TestConsole.withConsole { console in
            for (path, login) in [
                ("/", "/login"), ("/sessions", "/login?next=%2Fsessions"),
                ("/t/acme/places?q=a%20b", "/login?next=%2Ft%2Facme%2Fplaces%3Fq%3Da%2520b"),
                ("/t/acme/places/door", "/login?next=%2Ft%2Facme%2Fplaces%2Fdoor"),
            ] {
                for cookie in [nil, "doorstep_console=x", "doorstep_console="] {
                    let response = try await console.get(path, cookie)
                    #expect(
                        response.status == .seeOther && response.headers[.location] == login, "\(path)")
                }
            }
            #expect(try await console.get("/login").status == .ok)
            // There is no form to keep.
            let posted = try await console.post("/t/acme/keys", [:])
            #expect(posted.status == .seeOther && posted.headers[.location] == "/login")
        }
    }

    /// A session can end while a person fills in a form.
    @Test func formWithoutSessionIsKeptUntilItIsSentAgain() async throws {
        try await TestConsole.withConsole { console in
            let fields = ["name": "Till \"5\" <b>", "kind": "secret", "form": UUID().uuidString]
            let ended = try await console.post("/t/acme/keys", fields)
            #expect(ended.status == .forbidden && ended.text.contains("Your session has ended,"))
            #expect(try await console.store.keys(of: console.acme.id).isEmpty)
            let kept = try Self.hiddenFields(ended.text)
            #expect(kept["kept-action"] == "/t/acme/keys")

            // A mistyped link, and the question before another person's session ends, keep the form.
            let wrong = try await console.post("/login", kept.merging(["token": "x"]) { $1 })
            #expect(try wrong.status == .forbidden && Self.hiddenFields(wrong.text) == kept)
            let bob = try await console.signIn("bob")
            let link = try await console.link("ada")
            let question = try await console.post("/login", kept.merging(["token": link.text]) { $1 }, bob)
            #expect(question.text.contains("Continue as another person?"))
            let signedIn = try await console.post("/login", Self.hiddenFields(question.text), bob)
            #expect(signedIn.status == .ok && signedIn.text.contains("Send your form again?"))
            #expect(try Self.hiddenFields(signedIn.text) == fields)
            // The page lists the fields of the form. It leaves out the form's number.
            #expect(
                signedIn.text.contains("Till &quot;5&quot; &lt;b&gt;</bdi>")
                    && !signedIn.text.contains("<th scope=\"row\">form<"))
            #expect(signedIn.text.contains(#"action="/t/acme/keys""#))
            #expect(try await console.store.keys(of: console.acme.id).isEmpty)
            let cookie = String((signedIn.headers[.setCookie] ?? "").prefix { $0 != ";" })
            let sent = try await console.post("/t/acme/keys", Self.hiddenFields(signedIn.text), cookie)
            #expect(sent.status == .ok)
            #expect(try await console.store.keys(of: console.acme.id).map(\.name?.text) == [fields["name"]])
        }
    }

    /// The person has opened a link in another tab.
    @Test func keptFormNeedsNoLinkOfASignedInPerson() async throws {
        try await TestConsole.withConsole { console in
            let kept = ["kept-action": "/t/acme/keys", "kept-fields": "name=a"]
            let signedOut = try await console.post("/login", kept)
            #expect(signedOut.status == .forbidden)
            #expect(try Self.hiddenFields(signedOut.text) == kept)
            let signedIn = try await console.post("/login", kept, console.signIn())
            #expect(signedIn.status == .ok && signedIn.text.contains("Send your form again?"))
            #expect(try Self.hiddenFields(signedIn.text) == ["name": "a"])
        }
    }

    @Test func keptFormGoesToTheConsoleOnlyAndHasALimit() async throws {
        try await TestConsole.withConsole { console in
            for action in ["https://evil.example/", "//evil.example", "javascript:alert(1)", ""] {
                let link = try await console.link()
                let response = try await console.post(
                    "/login", ["token": link.text, "kept-action": action, "kept-fields": "a=b"])
                #expect(response.status == .seeOther, "\(action)")
            }
            let long = ["rows": String(repeating: "x", count: KeptForm.maximumLength)]
            let response = try await console.post("/t/acme/import", long)
            #expect(response.status == .seeOther && response.headers[.location] == "/login")
        }
    }

    private static func hiddenFields(_ html: String) throws -> [String: String] {
        let field = #/<input type="hidden" name="([^"]*)" value="([^"]*)">/#
        return Dictionary(
            html.matches(of: field).map { match in
                let entities = [
                    ("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"),
                ]
                let value = entities.reduce(String(match.2)) { $0.replacing($1.0, with: $1.1) }
                return (String(match.1), value)
            }
        ) { one, _ in one }
    }

    @Test func signInReturnsToTheWantedPage() async throws {
        try await TestConsole.withConsole { console in
            let page = "/t/acme/places?q=a%20b"
            let login = try #require(try await console.get(page).headers[.location])
            let field = #"name="next" value="\#(page)""#
            #expect(try await console.get(login).text.contains(field))
            // A wrong link does not lose it.
            let wrong = try await console.post("/login", ["token": "x", "next": page])
            #expect(wrong.status == .forbidden && wrong.text.contains(field))
            let link = try await console.link()
            let signedIn = try await console.post("/login", ["token": link.text, "next": page])
            #expect(signedIn.status == .seeOther && signedIn.headers[.location] == page)
        }
    }

    /// A link to the console does not lead to another site after the sign-in.
    @Test(arguments: [
        "https://other.example/", "//other.example", "/\\other.example", "other", "/a\nb",
        "javascript:alert(1)",
    ]) func otherSiteIsNoWantedPage(_ next: String) async throws {
        try await TestConsole.withConsole { console in
            let encoded = next.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            #expect(try await !console.get("/login?next=\(encoded)").text.contains(#"name="next""#))
            let link = try await console.link()
            let response = try await console.post("/login", ["token": link.text, "next": next])
            #expect(response.status == .seeOther && response.headers[.location] == "/")
        }
    }

    @Test func signOutEndsTheSession() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            #expect(try await console.get("/", cookie).status == .ok)
            #expect(try await console.post("/logout", [:], cookie).status == .seeOther)
            #expect(try await console.get("/", cookie).status == .seeOther)
        }
    }

    @Test func linkOfTheSamePersonReplacesTheSessionAtOnce() async throws {
        try await TestConsole.withConsole { console in
            let first = try await console.signIn("ada")
            // An invalid link does not end the session.
            _ = try await console.post("/login", ["token": "x"], first)
            #expect(try await console.get("/", first).status == .ok)
            let link = try await console.link("ada")
            #expect(try await console.post("/login", ["token": link.text], first).status == .seeOther)
            #expect(try await console.get("/", first).status == .seeOther)
            let events = try await console.sessions.events(before: nil, limit: 3)
            #expect(events.map(\.kind) == [.signedIn, .signedOut, .linkMade])
        }
    }

    @Test func linkOfAnotherPersonAsksFirst() async throws {
        try await TestConsole.withConsole { console in
            let ada = try await console.signIn("ada")
            let link = try await console.link("bob<b>")
            for _ in 0..<2 {
                let question = try await console.post("/login", ["token": link.text], ada)
                #expect(question.status == .ok && question.headers[.setCookie] == nil)
                #expect(question.text.contains("Continue as <bdi>bob&lt;b&gt;</bdi>"))
                #expect(question.text.contains("Stay signed in as <bdi>ada</bdi>"))
                #expect(try await console.get("/", ada).status == .ok)
            }
            let bob = try await console.post("/login", ["token": link.text, "confirmed": "1"], ada)
            #expect(bob.status == .seeOther)
            #expect(try await console.get("/", ada).status == .seeOther)
            let events = try await console.sessions.events(before: nil, limit: 3)
            #expect(events.map(\.kind) == [.signedIn, .signedOut, .linkMade])
            #expect(events.map(\.name) == ["bob<b>", "ada", "bob<b>"])
            // The link is used up.
            let again = try await console.post("/login", ["token": link.text], ada)
            #expect(again.status == .forbidden)
        }
    }

    /// Another page makes the browser open a link with fewer or more rights.
    @Test func linkWithOtherRightsAsksFirst() async throws {
        try await TestConsole.withConsole { console in
            let ada = try await console.signIn("ada")
            for link in [
                try await console.link("ada", isReadOnly: true),
                try await console.link("ada", tenant: console.acme.id),
            ] {
                let question = try await console.post("/login", ["token": link.text], ada)
                #expect(question.status == .ok && question.text.contains("Continue as"))
            }
            #expect(try await console.get("/", ada).status == .ok)
        }
    }

    /// A preview of a link sends a GET request without the part after `#`. Even with the secret in the query, it uses no link up.
    @Test func openingTheLoginPageUsesNoLink() async throws {
        try await TestConsole.withConsole { console in
            let link = try await console.link()
            for method in [HTTPRequest.Method.get, .head] {
                let response = try await console.client.send(
                    method, "/login?token=\(link.text)&confirmed=1")
                #expect(response.status == .ok && response.headers[.setCookie] == nil)
            }
            #expect(try await console.post("/login", ["token": link.text]).status == .seeOther)
        }
    }

    @Test func sessionEventsAreShownOnlyToAllTenantSessions() async throws {
        try await TestConsole.withConsole { console in
            let bob = try await console.signIn("bob")
            let page = try await console.get("/sessions", bob).text
            #expect(page.contains("link created") && page.contains("signed in"))
            let eve = try await console.signIn("eve", tenant: console.acme.id)
            #expect(try await !console.get("/sessions", eve).text.contains("link created"))
        }
    }

    /// Sends invented links until the console refuses to read more of them.
    private static func flood(_ console: TestConsole) async throws -> Bool {
        for number in 0..<40 {
            let madeUp = ConsoleSecret.generate { _ in [UInt8](repeating: UInt8(number), count: 16) }
            let text = number.isMultiple(of: 2) ? "x" : madeUp.text
            if try await console.post("/login", ["token": text]).status == .tooManyRequests { return true }
        }
        return false
    }

    @Test func madeUpLinksOfOneAddressAreLimited() async throws {
        try await TestConsole.withConsole { console in
            let isRefused = try await Self.flood(console)
            #expect(isRefused)
        }
    }

    @Test func validLinkSignsInDuringFloodFromItsAddress() async throws {
        try await TestConsole.withConsole { console in
            let links = [try await console.link("ada"), try await console.link("bob")]
            #expect(try await Self.flood(console))
            for link in links {
                #expect(try await console.post("/login", ["token": link.text]).status == .seeOther)
            }
            #expect(try await console.post("/login", ["token": "x"]).status == .tooManyRequests)
        }
    }

    @Test func madeUpLinksOfOneClientDoNotCountForAnother() async throws {
        try await TestConsole.withConsole { console in
            let entrance = Entrance(console.sessions)
            let clients = try ["192.0.2.1", "192.0.2.2"].map { try #require(IPAddress($0)) }
            for _ in 0..<10 { #expect(try await entrance.link("x", from: clients[0]) == nil) }
            await #expect(throws: ConsoleRefusal.self) { try await entrance.link("x", from: clients[0]) }
            #expect(try await entrance.link("x", from: clients[1]) == nil)
        }
    }

    @Test func usedLinkIsLimitedWithoutAffectingOtherLinks() async throws {
        try await TestConsole.withConsole { console in
            let (used, valid) = (try await console.link("ada"), try await console.link("bob"))
            #expect(try await console.post("/login", ["token": used.text]).status == .seeOther)
            var last = HTTPResponse.Status.ok
            for _ in 0..<40 where last != .tooManyRequests {
                last = try await console.post("/login", ["token": used.text]).status
            }
            #expect(last == .tooManyRequests)
            #expect(try await console.post("/login", ["token": valid.text]).status == .seeOther)
        }
    }

    @Test func madeUpCookiesAndLinksCauseNoQuery() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            // From here on, any query of sessions would fail.
            try await console.execute("ALTER TABLE doorstep.console_sessions RENAME TO sessions")
            try await console.execute("ALTER TABLE doorstep.console_links RENAME TO links")
            #expect(try await console.get("/", cookie).status == .internalServerError)
            let madeUp = ConsoleSecret.generate { Array($0.prefix(16)) }
            for text in ["x", madeUp.text, String(repeating: "A", count: 43)] {
                let response = try await console.get("/", "doorstep_console=\(text)")
                #expect(response.status == .seeOther && response.headers[.location] == "/login")
                #expect(try await console.post("/login", ["token": text]).status == .forbidden)
            }
        }
    }

    /// Each part of the cookie counts: another signature for the same random bits, and the same signature for other bits.
    @Test func cookieWithAnotherCharacterIsNotTheSession() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let start = "doorstep_console=".count
            for position in [start, start + 42, start + 43, cookie.count - 1] {
                var characters = Array(cookie)
                characters[position] = characters[position] == "A" ? "B" : "A"
                #expect(try await console.get("/", String(characters)).status == .seeOther, "\(position)")
            }
            #expect(try await console.get("/", cookie).status == .ok)
        }
    }

    @Test func loginPageIsShownToSignedInUser() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            // A redirect would pass the part after the link's # on to another page.
            #expect(try await console.get("/login", cookie).status == .ok)
        }
    }

    @Test func allSessionsAreEndedTogether() async throws {
        try await TestConsole.withConsole { console in
            let (ada, bob) = (try await console.signIn("ada"), try await console.signIn("bob"))
            #expect(try await console.get("/sessions", ada).text.contains("bob"))
            #expect(try await console.post("/sessions/end", ["all": "1"], ada).status == .seeOther)
            #expect(try await console.get("/", bob).status == .seeOther)
            #expect(try await console.get("/", ada).status == .seeOther)
        }
    }

    @Test func sessionOfOneTenantCannotSeeOrEndOtherSessions() async throws {
        try await TestConsole.withConsole { console in
            let bob = try await console.signIn("bob")
            let eve = try await console.signIn("eve", tenant: console.acme.id)
            #expect(try await !console.get("/sessions", eve).text.contains("bob"))
            let bobs = try #require(
                try await console.sessions.sessions(at: Date()).first { $0.access.name.text == "bob" })
            #expect(
                try await console.post("/sessions/end", ["id": bobs.id.uuidString], eve).status == .forbidden)
            #expect(try await console.post("/sessions/end", ["all": "1"], eve).status == .forbidden)
            #expect(try await console.get("/", bob).status == .ok)
        }
    }
}
