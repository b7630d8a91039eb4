import Administration
import Formats
import Foundation
import Geodesy
import HTTPTestClient
import HTTPTypes
import Invocation
import NIOCore
import Notifications
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@testable import Console

@Suite struct PageTests {
    /// Every page of a tenant.
    static let paths = [
        "", "/find?q=door", "/places", "/places.cells?bbox=-180,-85,180,85&z=2", "/places/door",
        "/places/door/edit",
        "/overview", "/statistics", "/statistics.csv?by=location", "/diagnose", "/problems", "/audit",
        "/requests?code=x",
        "/confirmations", "/deliveries", "/retry?state=refused",
        "/images", "/import", "/appstore", "/urls", "/urls?at=example.com",
        "/urls/\(experience)", "/domains", "/domains/example.com", "/keys",
        "/keys/\(key)", "/webhooks", "/webhooks/\(webhook)",
        "/places/door/delete", "/urls/\(experience)/edit", "/urls/\(experience)/delete",
        "/clips", "/clips/com.example.MyApp.Clip", "/clips/com.example.MyApp.Clip/edit",
        "/clips/com.example.MyApp.Clip/delete", "/codes", "/codes/lunch", "/codes/lunch/edit",
        "/codes/lunch/delete",
        "/add/places", "/add/urls", "/add/clips", "/add/codes", "/import/template.csv",
        "/qr.svg?url=https%3A%2F%2Fexample.com%2Fdoor",
    ]
    /// Requests that change something, or start to, with any form.
    static let simpleChanges = [
        "/places/door/try", "/places/door/edit", "/places/door/delete", "/urls/\(experience)/edit",
        "/urls/\(experience)/delete", "/clips/com.example.MyApp.Clip/edit",
        "/clips/com.example.MyApp.Clip/delete",
        "/codes/lunch/edit", "/codes/lunch/delete", "/add/places", "/add/urls", "/add/clips", "/add/codes",
        "/retry", "/import",
        "/deliveries/019a0000-0000-7000-8000-000000000000/retry",
        "/deliveries/019a0000-0000-7000-8000-000000000000/cancel",
        "/import/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "/import/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855/columns",
    ]
    /// Requests that contact a tenant's site and change nothing.
    static let siteRequests: [(path: String, form: [String: String])] = [
        ("/domains/example.com/check", [:]), ("/diagnose", ["url": "https://example.com/door"]),
    ]
    static let uploads = [("/images", "image/png"), ("/import.csv", "text/csv")]

    /// Items of `acme`. The tests replace these names.
    private static let experience = "exp_YWV4YW1wbGUuY29tL2Rvb3I"
    private static let (key, webhook) = ("KEY", "WEBHOOK")

    /// Every change of a tenant's items, with a valid form.
    static func changes() -> [(path: String, form: [String: String])] {
        func form(_ fields: [String: String] = [:]) -> [String: String] {
            fields.merging(["form": UUID().uuidString]) { $1 }
        }
        return [
            ("/keys", form(["kind": "secret"])), ("/keys/\(key)/rotate", form(["overlap": "1"])),
            ("/keys/\(key)/name", ["name": "Kiosk"]),
            ("/keys/\(key)/revoke", ["hint": "HINT"]), ("/domains", ["host": "new.example.com"]),
            ("/domains/example.com/verify", [:]), ("/domains/example.com/pages", ["pages": "on"]),
            ("/webhooks", form(["url": "https://hooks.example.com", "event.key.revoked": "1"])),
            ("/webhooks/\(webhook)/change", ["state": "off"]),
            ("/webhooks/\(webhook)/change", ["event.key.revoked": "1"]),
            ("/webhooks/\(webhook)/rotate", form()), ("/webhooks/\(webhook)/test", [:]),
            ("/webhooks/\(webhook)/replay", ["hours": "1"]),
            (
                "/add/places",
                ["identifier": "x", "name": "x", "latitude": "1", "longitude": "1", "radius": "9"]
            ),
            ("/add/urls", ["url": "https://example.com/x", "clip": "com.example.MyApp.Clip"]),
            ("/add/clips", ["bundleID": "com.example.Other.Clip", "teamID": "ABCDE12345"]),
            ("/add/codes", ["code": "x", "url": "https://example.com/x"]),
            ("/urls/\(experience)/edit", ["title": "x"]), ("/urls/\(experience)/delete", [:]),
            ("/clips/com.example.MyApp.Clip/edit", ["teamID": "FGHIJ67890"]),
            ("/clips/com.example.MyApp.Clip/delete", ["cascade": "1"]),
            ("/codes/lunch/edit", ["url": "https://example.com/x"]), ("/codes/lunch/delete", [:]),
            ("/places/door/delete", ["cascade": "1"]),
        ]
    }

    /// The names of a tenant's items in paths and forms.
    struct Owned {
        let key: KeyRecord
        let webhook: WebhookID

        init(_ console: TestConsole, _ tenant: Tenant) async throws {
            key = try await console.store.createKey(
                APIKey.generate(.secret), scopes: nil, locations: nil, expiresAt: nil,
                of: tenant.id)
            webhook = try await console.webhooks.create(
                Webhook(
                    url: WebhookURL("https://hooks.example.com/\(tenant.slug)"),
                    secret: WebhookSecret.generate()),
                named: nil, events: WebhookEvent.usual, of: tenant.id, by: "operator:test"
            ).id
            let codes = try #require(ShortCode.store(in: console.store.items))
            _ = try await codes.change("lunch", of: tenant.id, by: "operator:test") { _ in
                try ShortCode(code: "lunch", url: InvocationURL(TestConsole.doorURL))
            }
            _ = try await TenantItems(console.store.items.domains, of: tenant.id, by: "operator:test").claim(
                DomainRecord(
                    name: DomainName("example.com"), challenge: "c\(tenant.slug)", claimedAt: Date()))
        }

        func put(in text: String) -> String {
            text.replacing(PageTests.key, with: key.id.description)
                .replacing(PageTests.webhook, with: webhook.description)
                .replacing("HINT", with: key.hint)
        }
    }

    /// A person who followed a wrong link goes on from the error's page.
    @Test func errorPageKeepsNavigationAndSearch() async throws {
        try await TestConsole.withConsole { console in
            let (search, nav) = (#"role="search""#, #"href="/t/acme/places""#)
            let cookie = try await console.signIn()
            let key = try await console.get("/t/acme/keys/\(UUID().uuidString.lowercased())", cookie)
            #expect(key.status == .notFound && key.text.contains(search) && key.text.contains(nav))
            let unknown = try await console.get("/nothing", cookie)
            #expect(unknown.status == .notFound && unknown.text.contains(search))
            let signedOut = try await console.get("/nothing")
            #expect(signedOut.status == .notFound && !signedOut.text.contains(search))

            let restricted = try await console.signIn(tenant: console.acme.id)
            for path in ["/t/other/places", "/t/nobody/places"] {
                let page = try await console.get(path, restricted)
                #expect(page.status == .notFound && page.text.contains(search), "\(path)")
                #expect(!page.text.contains(#"aria-label="Tenant""#), "\(path)")
            }
        }
    }

    @Test func sessionOfOneTenantSeesNoOtherTenant() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn(tenant: console.acme.id)
            let own = try await Owned(console, console.acme)
            let others = try await Owned(console, console.other)
            for path in Self.paths {
                let (ownPath, othersPath) = (own.put(in: path), others.put(in: path))
                #expect(try await console.get("/t/acme\(ownPath)", cookie).status != .notFound, "\(path)")
                #expect(try await console.get("/t/other\(othersPath)", cookie).status == .notFound, "\(path)")
                // Another tenant's item, under the path of the person's own tenant.
                guard othersPath != path else { continue }
                #expect(try await console.get("/t/acme\(othersPath)", cookie).status == .notFound, "\(path)")
            }
            for path in Self.simpleChanges {
                #expect(
                    try await console.post("/t/other\(path)", ["name": "x", "state": "refused"], cookie)
                        .status
                        == .notFound, "\(path)")
            }
            for (path, type) in Self.uploads {
                let response = try await console.send(Array("x".utf8), as: type, "/t/other\(path)", cookie)
                #expect(response.status == .notFound, "\(path)")
            }
            for (path, form) in Self.siteRequests {
                #expect(
                    try await console.post("/t/other\(path)", form, cookie).status == .notFound, "\(path)")
            }
            for (path, form) in Self.changes() {
                let form = form.mapValues { others.put(in: $0) }
                let path = others.put(in: path)
                #expect(
                    try await console.post("/t/other\(path)", form, cookie).status == .notFound, "\(path)")
                guard path.contains(others.key.id.description) || path.contains(others.webhook.description)
                else { continue }
                #expect(
                    try await console.post("/t/acme\(path)", form, cookie).status == .notFound, "\(path)")
            }
            for path in ["/tenants", "/tenants/acme", "/tenants/other", "/status"] {
                #expect(try await console.get(path, cookie).status == .notFound, "\(path)")
            }
            for path in ["/tenants/acme/limits", "/tenants/acme/quotas", "/tenants/acme/suspension"] {
                let form = ["key": "1", "state": "suspended", "slug": "acme"]
                #expect(try await console.post(path, form, cookie).status == .notFound, "\(path)")
            }
            let tenant = try await console.store.tenant(TenantSlug("acme"))
            #expect(
                tenant.limits == console.acme.limits && tenant.suspendedAt == nil && tenant.ownQuotas.isEmpty)
            #expect(try await console.post("/t/other/places/door/try", [:], cookie).status == .notFound)
            #expect(
                try await console.post("/t/other/places/door/edit", ["name": "x"], cookie).status == .notFound
            )
            let index = try await console.get("/", cookie).text
            #expect(index.contains("Acme") && !index.contains("Other"))
        }
    }

    /// Another site can make a signed-in browser send any GET request.
    @Test func getRequestsDoNotContactTenantSites() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let owned = try await Owned(console, console.acme)
            let query = "check=1&live=1&url=https%3A%2F%2Fexample.com%2Fdoor"
            let targets = Self.paths + Self.changes().map(\.path) + Self.siteRequests.map(\.path)
            for path in Set(targets) {
                let separator = path.contains("?") ? "&" : "?"
                _ = try await console.get("/t/acme\(owned.put(in: path))\(separator)\(query)", cookie)
            }
            #expect(console.siteRequests.total == 0)
        }
    }

    @Test func onlyConsoleFormsContactTenantSites() async throws {
        try await TestConsole.withConsole { console in
            _ = try await Owned(console, console.acme)
            let cookie = try await console.signIn(isReadOnly: true)
            for (path, form) in Self.siteRequests {
                for fields in [[.secFetchSite: "cross-site"], [:]] as [HTTPFields] {
                    let response = try await console.post("/t/acme\(path)", form, cookie, fields)
                    #expect(response.status == .forbidden, "\(path)")
                }
                #expect(console.siteRequests.total == 0)
            }
            for (number, (path, form)) in Self.siteRequests.enumerated() {
                #expect(try await console.post("/t/acme\(path)", form, cookie).status == .ok, "\(path)")
                #expect(console.siteRequests.total == number + 1, "\(path)")
            }
            #expect(try await console.post("/t/acme/diagnose", [:], cookie).status == .badRequest)
        }
    }

    @Test func diagnosisOffersToCheckTheSite() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let page = try await console.get("/t/acme/diagnose?url=https://example.com/door", cookie).text
            #expect(page.contains("Check the live site, too") && !page.contains("--live"))
            let live = try await console.post("/t/acme/diagnose", ["url": "https://example.com/door"], cookie)
            #expect(live.text.contains("--live") && !live.text.contains("Check the live site, too"))
        }
    }

    @Test func foreignFormsAndUploadsAreRejected() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let own = try await Owned(console, console.acme)
            let reference = WebhookReference(own.webhook, of: console.acme.id)
            let webhook = try await console.webhooks.webhook(reference)
            var forms = Self.changes().map { change in
                ("/t/acme\(own.put(in: change.path))", change.form.mapValues { own.put(in: $0) })
            }
            forms += Self.simpleChanges.map { ("/t/acme\($0)", ["name": "x", "state": "refused"]) }
            forms += Self.siteRequests.map { ("/t/acme\($0.path)", $0.form) }
            forms += [
                ("/tenants/acme/limits", ["key": "1"]), ("/tenants/acme/quotas", ["locations": "1"]),
                ("/tenants/acme/suspension", ["state": "suspended", "slug": "acme"]),
            ]
            for fields in [
                [.secFetchSite: "same-site"], [.secFetchSite: "cross-site"],
                [.origin: "https://evil.example.com"], [:],
            ] as [HTTPFields] {
                func expectRefusal(_ response: HTTPTestClient.Response, _ path: String) {
                    #expect(
                        response.status == .forbidden
                            && response.text.contains("does not come from a console page"),
                        "\(path) \(fields)")
                }
                for (path, form) in forms {
                    expectRefusal(try await console.post(path, form, cookie, fields), path)
                }
                for (path, type) in Self.uploads {
                    let file = Array("x".utf8)
                    expectRefusal(
                        try await console.send(file, as: type, "/t/acme\(path)", cookie, fields), path)
                }
            }
            #expect(console.siteRequests.total == 0)
            #expect(try await console.store.keys(of: console.acme.id) == [own.key])
            #expect(try await console.webhooks.webhook(reference) == webhook)
            let tenant = try await console.store.tenant(TenantSlug("acme"))
            #expect(
                tenant.limits == console.acme.limits && tenant.suspendedAt == nil && tenant.ownQuotas.isEmpty)
            #expect(
                try await console.store.items.locations.item(LocationIdentifier("door"), of: console.acme.id)
                    == .door)
        }
    }

    @Test func searchFindsTenantLocationAndURL() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let expected = [
                ("/?q=acme", "/t/acme/overview"), ("/?q=door", "/t/acme/places/door"),
                // A part of a name without case, a wrong letter, exchanged letters, and a URL without its scheme.
                ("/?q=THE+DO", "/t/acme/places/door"), ("/?q=the+dpor", "/t/acme/places/door"),
                ("/?q=odor", "/t/acme/places/door"), ("/?q=oTh", "/t/other/overview"),
                (
                    "/?q=example.com%2Fdoor%2F7",
                    "/t/acme/diagnose?url=https%3A%2F%2Fexample.com%2Fdoor%2F7"
                ),
                (
                    "/t/acme/find?q=example.com%2Fdoor%2F7",
                    "/t/acme/diagnose?url=https%3A%2F%2Fexample.com%2Fdoor%2F7"
                ),
                (
                    "/?q=https%3A%2F%2Fexample.com%2Fdoor%2F7",
                    "/t/acme/diagnose?url=https%3A%2F%2Fexample.com%2Fdoor%2F7"
                ),
                ("/t/acme/find?q=door", "/t/acme/places/door"),
                ("/t/acme/find?q=the+do", "/t/acme/places?q=the%20do"),
            ]
            for (path, location) in expected {
                let response = try await console.get(path, cookie)
                #expect(response.status == .seeOther && response.headers[.location] == location, "\(path)")
            }
            let nothing = try await console.get("/?q=nobody", cookie).text
            #expect(nothing.contains("No tenant, location or URL matches"))
            let similar = try await console.get("/t/acme/places?q=the+dpor", cookie).text
            #expect(similar.contains("Locations with a similar name") && similar.contains("/places/door"))
        }
    }

    /// The ID or the key's first characters stand in a log, an error or a message.
    @Test func searchFindsItemsByIDAndKeyByItsHint() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let own = try await Owned(console, console.acme)
            let (notification, deliveries) = try await console.addDeliveries(
                [("queued", nil)], of: console.acme)
            let request = "0123456789abcdef0123456789abcdef"
            try await console.execute(
                """
                INSERT INTO doorstep.refused_requests (tenant_id, entry_id, at, request_id, endpoint, status, code, key_id)
                VALUES (\(console.acme.id.uuid), gen_random_uuid(), now(), \(request), 'GET /v1/lookup', 404, 'does_not_match',
                    \(own.key.id.uuid))
                """)
            let delivery = try #require(deliveries.first)
            let pages = [
                (notification.uuidString.lowercased(), "deliveries/\(notification.uuidString.lowercased())"),
                (delivery.uuidString, "deliveries/\(delivery.uuidString.lowercased())"),
                (own.key.id.description, "keys/\(own.key.id)"), (own.key.hint, "keys/\(own.key.id)"),
                (own.key.hint + "%E2%80%A6", "keys/\(own.key.id)"),
                (own.webhook.description, "webhooks/\(own.webhook)"),
                (request, "requests?request=\(request)"),
            ]
            for (text, page) in pages {
                for path in ["/", "/t/acme/find"] {
                    let response = try await console.get("\(path)?q=\(text)", cookie)
                    #expect(response.headers[.location] == "/t/acme/\(page)", "\(path) \(text)")
                }
                let elsewhere = try await console.get("/t/other/find?q=\(text)", cookie)
                #expect(elsewhere.headers[.location] == "/t/other/places?q=\(text)")
                let restricted = try await console.signIn(tenant: console.other.id)
                let hidden = try await console.get("/?q=\(text)", restricted)
                #expect(hidden.status == .ok && hidden.text.contains("No tenant, location or URL matches"))
            }
        }
    }

    @Test func searchForIDNamesTheTenantsThatItLeavesOut() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let hint = "searched in the first 20 tenants only"
            let path = "/?q=dpk_abcdef"
            #expect(try await !console.get(path, cookie).text.contains(hint))
            for number in 0..<20 {
                _ = try await console.store.createTenant(
                    slug: TenantSlug("chain-\(number)"), name: DisplayName("Chain"))
            }
            #expect(try await console.get(path, cookie).text.contains(hint))
            #expect(try await !console.get("/?q=nobody", cookie).text.contains(hint))
        }
    }

    @Test func searchForCoordinatesListsTheNearestLocations() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let places = (0..<12).map { ("p\($0)", "Place \($0)", 10.0, 179.99 - Double($0) / 100) }
            try console.follow(places + [("east", "East", 10, -179.99)])
            for path in ["/t/acme/find", "/"] {
                let page = try await console.get("\(path)?q=10.0%2C+-179.991", cookie).text
                let names = page.matches(of: />((?:Place|East)[^<]*)</).map { String($0.1) }
                #expect(names.count == 10 && names[0].hasPrefix("East, 109."), "\(names)")
                #expect(names[1].hasPrefix("Place 0, 2.1 km") && names[9].hasPrefix("Place 8,"), "\(names)")
            }
            // Of another tenant.
            let other = try await console.get("/t/other/find?q=10.0%2C+-179.991", cookie).text
            #expect(other.contains("No tenant, location or URL matches"))
        }
    }

    @Test func locationNamesAreEscaped() async throws {
        let names = [
            "\"><img src=x onerror=alert(1)>", "</title><script>alert(1)</script>", "\u{202E}txt.exe",
            String(repeating: "𝕏", count: 128), "e\u{301}\u{301}\u{301}", "'; --",
        ]
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let items = TenantItems(console.store.items.locations, of: console.acme.id, by: "operator:test")
            for (number, name) in names.enumerated() {
                let door = try LocationRecord.door
                try await items.create(
                    LocationRecord(
                        identifier: LocationIdentifier("\(number)/\(name.prefix(100))"),
                        name: DisplayName(name),
                        region: door.region, metadata: [:]))
            }
            let list = try await console.get("/t/acme/places", cookie)
            #expect(list.status == .ok)
            #expect(!list.text.contains("<img src=x") && !list.text.contains("<script>alert"))
            #expect(list.text.contains("&quot;&gt;&lt;img src=x onerror=alert(1)&gt;"))
            let links = list.text.matches(of: /<a class="row" href="([^"]+)"/).map { String($0.1) }
            #expect(links.count == names.count + 1)
            for link in links {
                let page = try await console.get(link, cookie)
                #expect(page.status == .ok, "\(link)")
                #expect(!page.text.contains("<script>alert") && !page.text.contains("<img src=x"))
            }
        }
    }

    @Test func locationPageShowsURLsAndTriesConfirmation() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let page = try await console.get("/t/acme/places/door", cookie).text
            #expect(page.contains(TestConsole.doorURL) && page.contains("QR code of \(TestConsole.doorURL)"))
            #expect(page.contains("doorstep location show --tenant acme door"))
            let outcomes = [
                (["latitude": "52", "longitude": "13"], "inRegion"),
                (["latitude": "53", "longitude": "13"], "notInRegion"),
                (["latitude": "52", "longitude": "13", "access": "denied"], "disallowed"),
                (["latitude": "52", "longitude": "13", "source": "maps"], "disallowed"),
                ([:], "undetermined"),
            ]
            for (form, outcome) in outcomes {
                let response = try await console.post("/t/acme/places/door/try", form, cookie)
                #expect(
                    response.status == .ok && response.text.contains("<code>\(outcome)</code>"), "\(form)")
            }
            let wrong = try await console.post(
                "/t/acme/places/door/try", ["latitude": "91", "longitude": "0"], cookie)
            #expect(wrong.text.contains("Enter a latitude from"))
        }
    }

    /// The list, the filter and the chart begin with the same day, at any time.
    @Test func locationUsageFilterAgreesWithChart() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            func isUsed() async throws -> [Bool] {
                let unused = try await console.get("/t/acme/places?unused=1", cookie).text
                let list = try await console.get("/t/acme/places", cookie).text
                let place = try await console.get("/t/acme/places/door", cookie).text
                return [
                    !unused.contains("/places/door"), list.contains("<td><time"),
                    !place.contains("No confirmations in the last 30 days."),
                ]
            }
            func confirm(_ minute: String) -> Query {
                """
                INSERT INTO doorstep.confirmations
                    (tenant_id, confirmation_id, location_identifier, outcome, source, minute)
                VALUES (\(console.acme.id.uuid), gen_random_uuid(), 'door', 'inRegion', 'nfc', \(unsafeSQL: minute))
                """
            }
            // The last minute before the thirty days that end today.
            try await console.execute(
                confirm("date_trunc('day', now(), 'UTC') - interval '29 days 1 minute'"))
            #expect(try await isUsed() == [false, false, false])
            try await console.execute(confirm("date_trunc('minute', now())"))
            #expect(try await isUsed() == [true, true, true])
        }
    }

    /// Overview, statistics and the CSV file show the numbers of the database, and none of another tenant.
    @Test func overviewAndStatisticsShowStoredCounts() async throws {
        try await TestConsole.withConsole { console in
            func count(_ tenant: Tenant, _ location: String, daysAgo: Int, lookups: Int) async throws {
                try await console.execute(
                    """
                    INSERT INTO doorstep.launch_days
                        (tenant_id, day, location_identifier, experience_url, source, lookups, launch_reports)
                    VALUES (\(tenant.id.uuid), (now() AT TIME ZONE 'UTC')::date - \(daysAgo)::integer, \(location),
                        'https://example.com/door', 'nfc', \(lookups), 1)
                    """)
            }
            try await count(console.acme, "door", daysAgo: 0, lookups: 1_101)
            try await count(console.acme, "door", daysAgo: 7, lookups: 2_202)
            try await count(console.acme, "=<b>", daysAgo: 1, lookups: 4_404)
            try await count(console.acme, "door", daysAgo: 40, lookups: 8_808)
            try await count(console.other, "hall", daysAgo: 0, lookups: 5_505)
            try await console.execute(
                """
                INSERT INTO doorstep.confirmations
                    (tenant_id, confirmation_id, location_identifier, outcome, source, minute)
                VALUES (\(console.acme.id.uuid), gen_random_uuid(), 'door', 'notInRegion', 'nfc',
                    date_trunc('minute', now(), 'UTC'))
                """)
            let cookie = try await console.signIn()
            let overview = try await console.get("/t/acme/overview", cookie).text
            func row(_ title: String, _ text: String) throws -> [Substring] {
                let row = try #require(
                    text.firstMatch(of: try Regex(#"<th scope="row">\#(title)</th>(.*?)</tr>"#))?.output[1]
                        .substring)
                return row.matches(of: /<td class="number">([^<]*)<\/td>/).map { $0.1 }
            }
            #expect(try row("Today so far", overview) == ["1,101", "1", "0", "1", "0"])
            #expect(try row("The same day last week", overview) == ["2,202", "0", "0", "1", "0"])
            #expect(try row("7 days until yesterday", overview) == ["6,606", "0", "0", "2", "0"])
            #expect(overview.contains("7,707") && overview.contains("Most confirmations outside the region"))
            #expect(overview.contains("=&lt;b&gt;") && !overview.contains("5,505"))

            let statistics = try await console.get("/t/acme/statistics?by=location", cookie).text
            #expect(
                statistics.contains("3,303") && statistics.contains("4,404") && !statistics.contains("hall"))
            let file = try await console.get("/t/acme/statistics.csv?by=location", cookie)
            #expect(
                file.headers[.contentDisposition]
                    == #"attachment; filename="statistics-acme-by-location.csv""#)
            // A spreadsheet must not take the identifier for a formula.
            #expect(
                file.text.split(whereSeparator: \.isNewline) == [
                    "location,lookups,confirmations,inRegion,launchReports,delivered",
                    "'=<b>,4404,0,0,1,0", "door,3303,1,0,2,0",
                ])
            for query in [
                "to=0000-01-01", "from=x", "location=%7F", "by=weather", "from=2026-03-02&to=2026-03-01",
            ] {
                for path in ["statistics", "statistics.csv"] {
                    let refused = try await console.get("/t/acme/\(path)?\(query)", cookie)
                    #expect(refused.status == .badRequest, "\(path) \(query)")
                }
            }
            #expect(try await console.get("/t/acme/requests?key=abc", cookie).status == .badRequest)
            let none = try await console.get("/t/acme/statistics?from=2020-01-01&to=2020-01-31", cookie).text
            #expect(none.contains("Nothing was counted in this period."))
            #expect(try await console.get("/t/other/overview", cookie).text.contains("5,505"))
        }
    }

    @Test func locationChangeIsReviewedSavedAndAudited() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn("ada")
            let path = "/t/acme/places/door"
            let fields = "name=The+gate&latitude=52.003&longitude=13&radius=50"
            let review = try await console.get("\(path)/edit?\(fields)", cookie).text
            #expect(review.contains("The location moves 333.8 m.") && review.contains("do not overlap"))
            #expect(review.contains("(1 URL or short code)"))
            #expect(
                try await console.store.items.locations.item(LocationIdentifier("door"), of: console.acme.id)
                    == .door)
            let version = try #require(review.firstMatch(of: /name="version" value="([0-9a-f]+)"/)).1
            var form = ["name": "The gate", "latitude": "52.003", "longitude": "13", "radius": "50"]
            form["version"] = String(version)
            let saved = try await console.post("\(path)/edit", form, cookie)
            #expect(saved.status == .seeOther && saved.headers[.location] == "\(path)?saved=1")
            let page = try await console.get("\(path)?saved=1", cookie).text
            #expect(page.contains("Saved.") && page.contains("The gate") && page.contains("console:ada"))
            let audit = try await console.get("/t/acme/audit?actor=console%3Aada", cookie).text
            #expect(audit.contains("update locations") && audit.contains("The gate"))

            let late = try await console.post("\(path)/edit", form, cookie)
            #expect(late.status == .conflict && late.text.contains("Your changes were not saved"))
        }
    }

    @Test func invalidFieldsAreNamed() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let path = "/t/acme/places/door/edit"
            let page = try await console.get("\(path)?name=&latitude=91&longitude=0x10&radius=501", cookie)
                .text
            for field in ["name", "latitude", "longitude", "radius"] {
                #expect(page.contains("id=\"\(field)-error\""), "\(field)")
            }
            let form = ["name": "x", "latitude": "1", "longitude": "1", "radius": "0", "version": "0"]
            #expect(try await console.post(path, form, cookie).status == .unprocessableContent)
        }
    }

    @Test func readOnlySessionChangesNothing() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn(isReadOnly: true)
            let path = "/t/acme/places/door/edit"
            let review = try await console.get(
                "\(path)?name=The+gate&latitude=52&longitude=13&radius=100", cookie
            ).text
            let version = try #require(review.firstMatch(of: /name="version" value="([0-9a-f]+)"/)).1
            let form = [
                "name": "The gate", "latitude": "52", "longitude": "13", "radius": "100",
                "version": String(version),
            ]
            let response = try await console.post(path, form, cookie)
            #expect(response.status == .forbidden && response.text.contains("Nothing was changed"))
            let own = try await Owned(console, console.acme)
            for (path, form) in Self.changes() {
                let response = try await console.post(
                    "/t/acme\(own.put(in: path))", form.mapValues { own.put(in: $0) }, cookie)
                #expect(response.status == .forbidden, "\(path)")
                #expect(response.text.contains("Nothing was changed"), "\(path)")
            }
            for (path, form) in [
                ("limits", ["key": "1"]), ("suspension", ["state": "suspended", "slug": "acme"]),
            ] {
                #expect(try await console.post("/tenants/acme/\(path)", form, cookie).status == .forbidden)
            }
            #expect(try await console.store.key(own.key.id, of: console.acme.id) == own.key)
            #expect(try await console.store.keys(of: console.acme.id).count == 1)
            let tenant = try await console.store.tenant(TenantSlug("acme"))
            #expect(
                tenant.limits == console.acme.limits && tenant.suspendedAt == nil && tenant.ownQuotas.isEmpty)
            #expect(
                try await console.store.items.locations.item(LocationIdentifier("door"), of: console.acme.id)
                    == .door)
        }
    }

    @Test(arguments: [".", "..", "~", "~.", "~..", "a/b", "%2e"])
    func everyLocationIdentifierHasItsOwnPage(_ identifier: String) async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let door = try LocationRecord.door
            try await TenantItems(console.store.items.locations, of: console.acme.id, by: "operator:test")
                .create(
                    LocationRecord(
                        identifier: LocationIdentifier(identifier), name: DisplayName("Named so"),
                        region: door.region, metadata: [:]))
            try console.follow([(identifier, "Named so", 52, 13)])
            let list = try await console.get("/t/acme/places?q=named", cookie).text
            let link = try #require(list.firstMatch(of: /<a class="row" href="([^"]+)"/)).1
            let steps = link.split(separator: "/")
            #expect(!steps.contains { [".", "..", "%2e", "%2E"].contains(String($0)) }, "\(link)")
            let page = try await console.get(String(link), cookie)
            #expect(page.status == .ok && page.text.contains("Named so"), "\(link)")
            // The map uses the same filter.
            let map = try await console.get("/t/acme/places.cells?bbox=-180,-85,180,85&z=2&q=named", cookie)
            let cells = try JSONValue(parsing: Array(buffer: map.body)).objectValue?["cells"]?.arrayValue
            let component = try #require(cells?.first?.arrayValue?[3].stringValue)
            #expect(
                String(link).replacing("&amp;", with: "&").removingPercentEncoding
                    == "/t/acme/places/\(component)")
        }
    }

    @Test func locationsArePagedFilteredAndMapped() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            let items = TenantItems(console.store.items.locations, of: console.acme.id, by: "operator:test")
            var places = [("door", "The door", 52.0, 13.0)]
            for number in 100..<205 {
                places.append(("p\(number)", "Place \(number)", 0, 0))
                try await items.create(
                    LocationRecord(
                        identifier: LocationIdentifier("p\(number)"), name: DisplayName("Place \(number)"),
                        region: CircularRegion(
                            center: Coordinate(latitude: 0, longitude: 0), radius: Distance(meters: 100)),
                        metadata: [:]))
            }
            try console.follow(places)
            let first = try await console.get("/t/acme/places", cookie).text
            #expect(first.contains("100 of 106 locations") && first.contains("at 0, 0"))
            let next = try #require(first.firstMatch(of: /href="([^"]+after=[^"]+)"/)).1
            let second = try await console.get(String(next).replacing("&amp;", with: "&"), cookie).text
            #expect(
                second.contains("6 of 106 locations") && second.contains("Place 204")
                    && !second.contains("Place 100"))
            #expect(try await console.get("/t/acme/places?q=place+20", cookie).text.contains("5 locations"))
            #expect(
                try await console.get("/t/acme/places?problem=null_island", cookie).text.contains(
                    "100 of 105 locations"))
            #expect(
                try await console.get("/t/acme/places?q=nothing", cookie).text.contains(
                    "No locations match"))
            #expect(try await console.get("/t/acme/places?after=%25", cookie).status == .badRequest)

            let cells = try await console.get("/t/acme/places.cells?bbox=-180,-85,180,85&z=2", cookie)
            let json = try JSONValue(parsing: Array(buffer: cells.body))
            #expect(json.objectValue?["places"] == 106 && json.objectValue?["complete"] == true)
            #expect(json.objectValue?["cells"]?.arrayValue?.count == 2)
            #expect(json.objectValue?["bounds"] == [0, 0, 52, 13])
            #expect(
                try await console.get("/t/acme/places.cells?bbox=1,2,3&z=2", cookie).status == .badRequest)
        }
    }
}
