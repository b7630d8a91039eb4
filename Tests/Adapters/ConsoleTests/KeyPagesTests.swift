import Administration
import Foundation
import HTTPTestClient
import HTTPTypes
import Invocation
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@testable import Console

@Suite struct KeyPagesTests {
    private func form(_ fields: [String: String]) -> [String: String] {
        fields.merging(["form": UUID().uuidString]) { $1 }
    }

    /// The only key on a page.
    private func key(in response: HTTPTestClient.Response) -> String? {
        response.text.firstMatch(of: /d[sp]k_(test_)?[A-Za-z0-9]{20,}/).map { String($0.0) }
    }

    @Test func keyIsShownOnceAndAppearsInNoURL() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn("ada")
            let form = form([
                "kind": "secret", "scope.lookup": "1", "scope.compose": "1", "locations": "door\n",
                "days": "30", "name": " Kiosk ",
            ])
            let response = try await console.post("/t/acme/keys", form, cookie)
            #expect(response.status == .ok && response.headers[.location] == nil)
            #expect(response.headers[.cacheControl] == "no-store")
            let text = try #require(self.key(in: response))
            let key = try APIKey(text)
            let record = try #require(try await console.store.keys(of: console.acme.id).first)
            #expect(record.hint == key.hint && record.kind == .secret && record.name?.text == "Kiosk")
            #expect(record.scopes == [Scopes(.lookup), Scopes(.compose)])
            #expect(record.locations == [try LocationIdentifier("door")])
            let end = try #require(record.expiresAt)
            #expect(abs(end.timeIntervalSinceNow - 30 * 86_400) < 60)

            // Reloading the page sends its form again.
            let again = try await console.post("/t/acme/keys", form, cookie)
            #expect(again.status == .conflict && self.key(in: again) == nil)
            #expect(try await console.store.keys(of: console.acme.id).count == 1)
            for path in ["/t/acme/keys", "/t/acme/keys/\(record.id)", "/t/acme/audit", "/sessions"] {
                let page = try await console.get(path, cookie)
                #expect(page.status == .ok && !page.text.contains(text), "\(path)")
            }
            let events = try await console.sessions.events(before: nil, limit: 1)
            #expect(events.first?.kind == .keyShown && events.first?.name == "ada")
            let entries = try await console.store.auditLog.page(
                of: console.acme.id, before: nil, limit: 1, where: [:]
            ).entries
            #expect(entries.first?.actor == "console:ada" && entries.first?.relation == "api_keys")
        }
    }

    @Test func keyOfTestTenantIsMarked() async throws {
        try await TestConsole.withConsole { console in
            _ = try await console.store.createTenant(
                slug: TenantSlug("trial"), name: DisplayName("Trial"), isTest: true)
            let cookie = try await console.signIn()
            for path in ["/t/trial/keys", "/tenants"] {
                #expect(try await console.get(path, cookie).text.contains(">test</span>"), "\(path)")
            }
            #expect(try await !console.get("/t/acme/keys", cookie).text.contains(">test</span>"))
            let response = try await console.post("/t/trial/keys", form(["kind": "publishable"]), cookie)
            let key = try APIKey(#require(self.key(in: response)))
            #expect(key.isTest && key.kind == .publishable)
        }
    }

    @Test(
        arguments: [
            (["kind": "publishable", "scope.manage": "1"], "scopes"),
            (["kind": "publishable", "locations": "door"], "locations"),
            (["kind": "secret", "locations": "door\ndoor"], "locations"),
            (["kind": "secret", "locations": "nowhere"], "locations"),
            (["kind": "secret", "locations": "door", "scope.manage": "1"], "scopes"),
            (["kind": "secret", "days": "0"], "days"), (["kind": "secret", "days": "36501"], "days"),
            (["kind": "secret", "days": "soon"], "days"), (["kind": "secret", "name": "a\u{7}"], "name"),
        ] as [([String: String], String)])
    func invalidKeyFormIsRejectedWithReason(_ fields: [String: String], _ name: String) async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let response = try await console.post("/t/acme/keys", form(fields), cookie)
            #expect(response.status == .unprocessableContent && response.text.contains("class=\"error\""))
            // The error is at the top, and refers to the field.
            #expect(response.text.contains("Correct these fields"))
            #expect(response.text.contains(/aria-describedby="[^"]*-error"/))
            #expect(key(in: response) == nil)
            #expect(try await console.store.keys(of: console.acme.id).isEmpty)
        }
    }

    @Test func formWithoutTokenCreatesNoKey() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let response = try await console.post("/t/acme/keys", ["kind": "secret"], cookie)
            #expect(response.status == .badRequest)
            #expect(try await console.store.keys(of: console.acme.id).isEmpty)
        }
    }

    /// If nothing was created, the form may be sent again: the error page has the same fields.
    @Test func failedFormMayBeSubmittedAgain() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn("ada")
            var fields = form(["kind": "secret", "locations": "nowhere"])
            #expect(try await console.post("/t/acme/keys", fields, cookie).status == .unprocessableContent)
            fields["locations"] = nil
            // If the display of the key cannot be recorded, the key is not created.
            try await console.execute(
                "REVOKE INSERT (event, name) ON doorstep.console_events FROM doorstep_admin")
            #expect(try await console.post("/t/acme/keys", fields, cookie).status == .internalServerError)
            #expect(try await console.store.keys(of: console.acme.id).isEmpty)
            try await console.execute(
                "GRANT INSERT (event, name) ON doorstep.console_events TO doorstep_admin")
            let response = try await console.post("/t/acme/keys", fields, cookie)
            #expect(response.status == .ok && key(in: response) != nil)
            #expect(try await console.post("/t/acme/keys", fields, cookie).status == .conflict)
        }
    }

    @Test func validKeysAreListedFirst() async throws {
        try await TestConsole.withConsole { console in
            let old = try await console.store.createKey(
                APIKey.generate(.secret), scopes: nil, expiresAt: nil, of: console.acme.id)
            try await console.execute(
                """
                INSERT INTO doorstep.api_keys (tenant_id, key_id, kind, digest, hint, scopes, created_at, revoked_at)
                SELECT tenant_id, gen_random_uuid(), kind, sha256(convert_to(n::text, 'UTF8')), 'dsk_gone', scopes,
                    now() + make_interval(secs => n), now()
                FROM doorstep.api_keys, generate_series(1, 250) AS n
                """)
            let cookie = try await console.signIn()
            let page = try await console.get("/t/acme/keys", cookie).text
            #expect(page.contains(old.hint) && page.contains("Showing 200"))
            let first = try await console.store.newestKeys(of: console.acme.id, limit: 3)
            #expect(first.count == 3 && first.first?.id == old.id)
            #expect(first[1].createdAt > first[2].createdAt)
        }
    }

    @Test func rotatedKeyIsShownOnceAndOldKeyExpiresAfterOverlap() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            _ = try await console.post("/t/acme/keys", form(["kind": "secret"]), cookie)
            let old = try #require(try await console.store.keys(of: console.acme.id).first)
            let path = "/t/acme/keys/\(old.id)"
            for overlap in ["", "-1", "8761", "x"] {
                let response = try await console.post("\(path)/rotate", form(["overlap": overlap]), cookie)
                #expect(response.status == .unprocessableContent, "\(overlap)")
            }
            let rotation = form(["overlap": "2"])
            let response = try await console.post("\(path)/rotate", rotation, cookie)
            #expect(response.status == .ok && key(in: response) != nil)
            #expect(try await console.post("\(path)/rotate", rotation, cookie).status == .conflict)
            #expect(
                try await console.post("\(path)/rotate", form(["overlap": "2"]), cookie).status == .conflict)
            let keys = try await console.store.keys(of: console.acme.id)
            #expect(keys.count == 2)
            let end = try #require(keys.first { $0.id == old.id }?.expiresAt)
            #expect(abs(end.timeIntervalSinceNow - 7_200) < 60)
        }
    }

    @Test func keyIsRenamed() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let key = try await console.store.createKey(
                APIKey.generate(.secret), named: try DisplayName("Kiosk"), scopes: nil, expiresAt: nil,
                of: console.acme.id)
            let path = "/t/acme/keys/\(key.id)"
            let renamed = try await console.post("\(path)/name", ["name": " <b>Café</b> "], cookie)
            #expect(renamed.status == .seeOther)
            #expect(try await console.store.key(key.id, of: console.acme.id).name?.text == "<b>Café</b>")
            for page in [path, "/t/acme/keys"] {
                #expect(try await console.get(page, cookie).text.contains("&lt;b&gt;Café&lt;/b&gt;"))
            }
            for name in ["a\u{7}b", String(repeating: "a", count: 129)] {
                #expect(try await console.post("\(path)/name", ["name": name], cookie).status == .badRequest)
            }
            #expect(try await console.post("\(path)/name", ["name": ""], cookie).status == .seeOther)
            #expect(try await console.store.key(key.id, of: console.acme.id).name == nil)
        }
    }

    @Test func keyIsRevokedAfterTypingItsPrefix() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            _ = try await console.post("/t/acme/keys", form(["kind": "publishable"]), cookie)
            let key = try #require(try await console.store.keys(of: console.acme.id).first)
            let path = "/t/acme/keys/\(key.id)"
            for hint in ["", "dpk_", key.hint.uppercased()] {
                #expect(
                    try await console.post("\(path)/revoke", ["hint": hint], cookie).status
                        == .unprocessableContent)
            }
            #expect(try await console.store.key(key.id, of: console.acme.id).revokedAt == nil)
            let response = try await console.post("\(path)/revoke", ["hint": key.hint], cookie)
            #expect(response.status == .seeOther && response.headers[.location] == "/t/acme/keys?revoked=1")
            #expect(try await console.store.key(key.id, of: console.acme.id).revokedAt != nil)
            let list = try await console.get("/t/acme/keys?revoked=1", cookie).text
            #expect(list.contains("Key revoked.") && list.contains("revoked</span>"))
            // A revoked key has no actions.
            #expect(try await !console.get(path, cookie).text.contains("/rotate"))
            #expect(
                try await console.post("\(path)/rotate", form(["overlap": "1"]), cookie).status == .conflict)
        }
    }

    @Test func unknownKeyIsNotFound() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            for id in ["x", UUID().uuidString] {
                #expect(try await console.get("/t/acme/keys/\(id)", cookie).status == .notFound)
                #expect(
                    try await console.post("/t/acme/keys/\(id)/revoke", ["hint": "dsk_"], cookie).status
                        == .notFound)
            }
        }
    }
}
