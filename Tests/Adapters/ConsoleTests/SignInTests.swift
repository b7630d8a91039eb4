import Administration
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Persistence
import Testing

@testable import Console

@Suite struct SignInTests {
    @Test func aLinkSignsInOnceAndTheCookieIsForTheConsoleAlone() async throws {
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
            #expect(again.text.contains("was used already"))
        }
    }

    @Test func aWholeLinkMayBePasted() async throws {
        try await TestConsole.withConsole { console in
            let link = try await console.link()
            let answer = try await console.post(
                "/login", ["token": " http://127.0.0.1:8081/login#\(link.text) "])
            #expect(answer.status == .seeOther)
        }
    }

    @Test func aLinkThatIsTooOldAndOneThatNeverWasSignNobodyIn() async throws {
        try await TestConsole.withConsole { console in
            let old = try await console.link(at: Date(timeIntervalSinceNow: -ConsoleSession.linkLifetime - 1))
            #expect(try await console.post("/login", ["token": old.text]).status == .forbidden)
            let madeUp = ConsoleSecret.generate()
            #expect(try await console.post("/login", ["token": madeUp.text]).status == .forbidden)
            #expect(try await console.post("/login", ["token": "x"]).status == .forbidden)
            #expect(try await console.post("/login", [:]).status == .forbidden)
        }
    }

    @Test func whoHasNotSignedInSeesNothing() async throws {
        try await TestConsole.withConsole { console in
            for path in ["/", "/sessions", "/t/acme/places", "/t/acme/places/door", "/t/acme/audit"] {
                for cookie in [nil, "doorstep_console=x", "doorstep_console="] {
                    let answer = try await console.get(path, cookie)
                    #expect(answer.status == .seeOther && answer.headers[.location] == "/login", "\(path)")
                }
            }
            #expect(try await console.get("/login").status == .ok)
        }
    }

    @Test func whoSignsOutIsOutEverywhere() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            #expect(try await console.get("/", cookie).status == .ok)
            #expect(try await console.post("/logout", [:], cookie).status == .seeOther)
            #expect(try await console.get("/", cookie).status == .seeOther)
        }
    }

    @Test func signingInAgainEndsTheSessionThatTheBrowserHad() async throws {
        try await TestConsole.withConsole { console in
            let first = try await console.signIn("ada")
            // A link that does not hold ends nothing.
            _ = try await console.post("/login", ["token": "x"], first)
            #expect(try await console.get("/", first).status == .ok)
            let link = try await console.link("bob")
            #expect(try await console.post("/login", ["token": link.text], first).status == .seeOther)
            #expect(try await console.get("/", first).status == .seeOther)
            let events = try await console.sessions.events(before: nil, limit: 3)
            #expect(events.map(\.kind) == [.signedIn, .signedOut, .linkMade])
            #expect(events.map(\.name) == ["bob", "ada", "bob"])
        }
    }

    @Test func whatHappenedIsShownToWhoSeesAllTenants() async throws {
        try await TestConsole.withConsole { console in
            let bob = try await console.signIn("bob")
            let page = try await console.get("/sessions", bob).text
            #expect(page.contains("a link was made") && page.contains("signed in"))
            let eve = try await console.signIn("eve", tenant: console.acme.id)
            #expect(try await !console.get("/sessions", eve).text.contains("a link was made"))
        }
    }

    @Test func oneAddressTriesNoMoreThanSomeLinks() async throws {
        try await TestConsole.withConsole { console in
            var last = HTTPResponse.Status.ok
            for _ in 0..<40 where last != .tooManyRequests {
                last = try await console.post("/login", ["token": "x"]).status
            }
            #expect(last == .tooManyRequests)
        }
    }

    @Test func theLoginPageIsShownToWhoIsSignedInToo() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            // A redirection would take what stands after the link's # to another page.
            #expect(try await console.get("/login", cookie).status == .ok)
        }
    }

    @Test func allSessionsAreEndedAtOnce() async throws {
        try await TestConsole.withConsole { console in
            let (ada, bob) = (try await console.signIn("ada"), try await console.signIn("bob"))
            #expect(try await console.get("/sessions", ada).text.contains("bob"))
            #expect(try await console.post("/sessions/end", ["all": "1"], ada).status == .seeOther)
            #expect(try await console.get("/", bob).status == .seeOther)
            #expect(try await console.get("/", ada).status == .seeOther)
        }
    }

    @Test func whoSeesOneTenantHasToDoWithTheirOwnSessionAlone() async throws {
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
