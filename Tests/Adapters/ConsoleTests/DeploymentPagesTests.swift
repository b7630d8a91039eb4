import Administration
import Foundation
import HTTPTestClient
import HTTPTypes
import Invocation
import Lookups
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing
import ValueFixtures

@testable import Console

/// Pages about all tenants, and the tree of URLs.
@Suite struct DeploymentPagesTests {
    @Test func tenantIsLimitedSuspendedAndResumed() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn("ada")
            let slug = console.acme.slug
            let limits = [
                "key": "50", "client": "5:25", "new-instances": "", "client-new-instances": "",
                "seen": "- - - -",
            ]
            #expect(try await console.get("/tenants/acme", cookie).text.contains("value=\"- - - -\""))
            let saved = try await console.post("/tenants/acme/limits", limits, cookie)
            #expect(saved.headers[.location] == "/tenants/acme?done=limited")
            var expected = RequestLimits()
            (expected.key, expected.client) = (RateLimit("50"), RateLimit("5:25"))
            #expect(try await console.store.tenant(slug).limits == expected)
            // The limits have changed since the form was loaded.
            let late = try await console.post("/tenants/acme/limits", limits, cookie)
            #expect(late.status == .conflict && late.text.contains("The limits have changed"))
            #expect(try await console.get("/tenants/acme", cookie).text.contains("value=\"50:200 5:25 - -\""))
            let list = try await console.get("/tenants", cookie).text
            #expect(list.contains("50:200") && list.contains("5:25") && list.contains("Other"))
            for text in ["0", "x", "1:0", "1:2:3"] {
                let response = try await console.post("/tenants/acme/limits", ["key": text], cookie)
                #expect(
                    response.status == .unprocessableContent && response.text.contains("key-error"), "\(text)"
                )
            }
            #expect(try await console.store.tenant(slug).limits == expected)

            let path = "/tenants/acme/suspension"
            for typed in ["", "other", "ACME"] {
                let form = ["state": "suspended", "slug": typed]
                #expect(try await console.post(path, form, cookie).status == .badRequest)
            }
            #expect(try await console.store.tenant(slug).suspendedAt == nil)
            let form = ["state": "suspended", "slug": "acme"]
            #expect(try await console.post(path, form, cookie).status == .seeOther)
            #expect(try await console.store.tenant(slug).suspendedAt != nil)
            #expect(try await console.get("/tenants/acme", cookie).text.contains("Resume this tenant"))
            #expect(try await console.post(path, ["state": "resumed"], cookie).status == .seeOther)
            #expect(try await console.store.tenant(slug).suspendedAt == nil)
            #expect(try await console.post(path, ["state": "x"], cookie).status == .badRequest)
        }
    }

    @Test func quotasOfATenantAreShownAndChanged() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn("ada")
            let page = try await console.get("/tenants/acme", cookie).text
            #expect(page.contains("of 1,000,000") && page.contains("name=\"quota-short_codes\""))
            let form = [
                "seen": "-", "quota-locations": "5000:64MiB", "quota-images": "off", "quota-total": "",
            ]
            let saved = try await console.post("/tenants/acme/quotas", form, cookie)
            #expect(saved.headers[.location] == "/tenants/acme?done=limited")
            let tenant = try await console.store.tenant(console.acme.slug)
            #expect(
                tenant.ownQuotas == [
                    .locations: Quota(rows: 5_000, bytes: 64 << 20),
                    .images: Quota(rows: Quota.off, bytes: Quota.off),
                ])
            let shown = try await console.get("/tenants/acme", cookie).text
            #expect(shown.contains("of 5,000") && shown.contains("--quota locations=5000:64MiB"))
            let late = try await console.post("/tenants/acme/quotas", form, cookie)
            #expect(late.status == .conflict && late.text.contains("The quotas have changed"))
            for text in ["x", "1:2:3", "-1"] {
                let response = try await console.post("/tenants/acme/quotas", ["quota-keys": text], cookie)
                #expect(
                    response.status == .unprocessableContent && response.text.contains("quota-keys-error"))
            }
        }
    }

    @Test func outdatedLookupIndexIsReported() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let words = "The lookup index is"
            #expect(try await !console.get("/t/acme/places", cookie).text.contains(words))
            console.table.confirm(asOf: Date().addingTimeInterval(-600))
            #expect(try await console.get("/t/acme/places", cookie).text.contains("\(words) 60"))
            #expect(try await !console.get("/login", cookie).text.contains(words))
        }
    }

    @Test func otherTenantsAreLinkedAtTheSamePage() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            #expect(try await console.get("/t/acme/keys", cookie).text.contains("href=\"/?section=keys\""))
            #expect(try await console.get("/?section=keys", cookie).text.contains("href=\"/t/other/keys\""))
            let limited = try await console.signIn("eve", tenant: console.acme.id)
            #expect(try await !console.get("/t/acme/keys", limited).text.contains("Other tenants"))
        }
    }

    @Test func statusShowsLookupIndexMigrationsQueuesAndDetours() async throws {
        var settings = ConsoleServer.Settings()
        settings.apnsDetours = ["APNs production is 127.0.0.1:2197"]
        try await TestConsole.withConsole(settings) { console in
            let cookie = try await console.signIn()
            let page = try await console.get("/status", cookie).text
            for text in [
                "1 of 2", "out of date", "seconds ago", "door&lt;b&gt;", "Deliveries of notifications",
            ] {
                #expect(page.contains(text), "\(text)")
            }
            // Every page shows this.
            for path in ["/", "/t/acme/places", "/sessions"] {
                #expect(
                    try await console.get(path, cookie).text.contains("APNs production is 127.0.0.1:2197"))
            }
        }
    }

    /// Without a running server, the status, the overview and a webhook's test say so.
    @Test func missingServersAreReportedAndRunningOnesListed() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let own = try await PageTests.Owned(console, console.acme)
            let pages = ["/status", "/t/acme/overview", "/t/acme/webhooks/\(own.webhook)?done=tested"]
            func expect(_ words: String?) async throws {
                for path in pages {
                    let page = try await console.get(path, cookie).text
                    if let words {
                        #expect(page.contains(words), "\(path)")
                    } else {
                        #expect(!page.contains("No server has been seen"), "\(path)")
                    }
                }
            }
            try await expect("No server has been seen.")
            try await console.execute(
                """
                INSERT INTO doorstep.servers (server_id, host, version, started_at, seen_at)
                VALUES (gen_random_uuid(), 'one<b>', '1.2.3', '2026-11-01T08:00:00Z', '2026-11-01T09:00:00Z')
                """)
            try await expect("No server has been seen since <time datetime=\"2026-11-01T09:00:00Z\"")
            #expect(try await console.get("/status", cookie).text.contains("not seen"))
            try await console.execute("UPDATE doorstep.servers SET seen_at = now()")
            try await expect(nil)
            let status = try await console.get("/status", cookie).text
            #expect(status.contains("one&lt;b&gt;") && status.contains("1.2.3") && status.contains("running"))
            try await console.execute("UPDATE doorstep.servers SET ended_at = now()")
            try await expect("No server has been seen since ")
            #expect(try await console.get("/status", cookie).text.contains("ended"))
        }
    }

    @Test func urlsAreShownAsTreeWithWinningExperience() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let items = TenantItems(console.store.items.experiences, of: console.acme.id, by: "operator:test")
            var rows = LookupIndex()
            try rows.set(.tenants, .tenant(console.acme.id))
            try rows.set(.clips, .clip(console.acme.id, "com.example.MyApp.Clip", isMultiBusiness: false))
            try rows.set(
                .experiences, .experience(console.acme.id, "advanced", TestConsole.doorURL, location: "door"))
            for (number, path) in ["a/b", "a/<i>", "door/deep"].enumerated() {
                let url = try URLPrefix("https://example.com/\(path)")
                try await items.create(
                    ExperienceRecord(
                        Experience(url: url, kind: .advanced, clip: BundleID("com.example.MyApp.Clip")),
                        title: "Title \(number)"))
                try rows.set(
                    .experiences,
                    .experience(console.acme.id, "advanced", url.canonical, title: "Title \(number)"))
            }
            // The same clip has a default experience with the door's URL. The advanced one takes precedence.
            try rows.set(.experiences, .experience(console.acme.id, "default", TestConsole.doorURL))
            console.table.replace(by: rows, from: .database, asOf: Date())
            let page = try await console.get("/t/acme/urls", cookie).text
            #expect(page.contains("5 experiences") && page.contains("Title 0") && page.contains("7 of 30"))
            #expect(page.contains("%3Ci%3E") && !page.contains("<i>"))
            #expect(page.contains("Another experience is chosen at this URL: "))
            let part = try await console.get("/t/acme/urls?at=example.com%2Fa", cookie).text
            #expect(part.contains("2 experiences") && !part.contains("Title 2"))
            #expect(try await console.get("/t/acme/urls?at=example.com%2Fz", cookie).status == .notFound)

            let id = ExperienceID(.advanced, try URLPrefix(TestConsole.doorURL)).text
            let experience = try await console.get("/t/acme/urls/\(id)", cookie).text
            #expect(
                experience.contains("QR code of \(TestConsole.doorURL)")
                    && experience.contains("is not proved"))
            #expect(try await console.get("/t/acme/urls/exp_x", cookie).status == .notFound)
        }
    }

    /// The table of the test has an experience and pages at a host that `other` has proved.
    @Test func landingPagePreviewShowsTheServedPage() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let url = "https://proved.example.com/hall"
            try await TenantItems(console.store.items.experiences, of: console.other.id, by: "operator:test")
                .create(
                    ExperienceRecord(
                        Experience(
                            url: URLPrefix(url), kind: .advanced, clip: BundleID("com.example.MyApp.Clip"))))
            let id = ExperienceID(.advanced, try URLPrefix(url)).text
            let page = try await console.get("/t/other/urls/\(id)", cookie).text
            #expect(page.contains("bytes, as servers send it now"))
            #expect(page.contains("Other tenant") && page.contains("com.example.MyApp.Clip"))
        }
    }
}
