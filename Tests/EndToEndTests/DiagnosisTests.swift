import Formats
import Foundation
import LocalServers
import PostgreSQL
import TestSupport
import Testing

/// Results of lint and diagnosis for a real catalogue.
@Suite struct DiagnosisTests {
    private static let tenant = ["--tenant", Installation.tenant]

    private static func checks(
        _ installation: Installation, _ url: String, _ options: [String] = []
    ) async throws -> (status: Int32, checks: [String: JSONObject]) {
        let (status, _, checks) = try await diagnosis(installation, url, options)
        return (status, checks)
    }

    private static func diagnosis(
        _ installation: Installation, _ url: String, _ options: [String] = []
    ) async throws -> (status: Int32, verdict: JSONObject, checks: [String: JSONObject]) {
        let outcome = try await installation.binary.run(
            ["diagnose", url, "--format", "json"] + options + tenant)
        let json = try #require(try outcome.json().objectValue)
        #expect(json["ok"] == .bool(outcome.status == 0) && json["url"] == .string(url))
        var checks: [String: JSONObject] = [:]
        let all = json["checks"]?.arrayValue?.compactMap(\.objectValue) ?? []
        let isFailed = all.map { $0["status"] == "failed" }
        #expect(isFailed.contains(true) == (outcome.status == 1))
        #expect(isFailed.drop { $0 }.allSatisfy { !$0 }, "failed points come first: \(all)")
        for check in all {
            let name = check["check"]?.stringValue ?? ""
            checks[name == "launch" ? "launch " + (check["value"]?.stringValue ?? "") : name] = check
        }
        return (outcome.status, try #require(json["verdict"]?.objectValue), checks)
    }

    private static func register(
        _ installation: Installation, _ url: String, _ options: String...
    ) async throws {
        try await installation.binary.succeed(
            ["experience", "add", "--clip", "com.example.MyApp.Clip", "--url", url] + options + tenant)
    }

    private static func prove(
        _ host: String, _ installation: Installation, isProved: Bool = true
    ) async throws {
        let pool = ConnectionPool(
            PoolConfiguration.forBusyMachines(conninfo: installation.databaseURL, maximumConnections: 1))
        try await pool.withTransaction { transaction in
            let tenant: String = try await transaction.execute("SELECT tenant_id::text FROM doorstep.tenants")
                .one()
                .decode(at: 0)
            try await transaction.execute("SELECT set_config('doorstep.tenant_id', \(tenant), true)")
            try await transaction.execute(
                """
                INSERT INTO doorstep.domains (tenant_id, host, challenge, proved_at, method)
                VALUES (\(tenant)::uuid, \(host), 'x', CASE WHEN \(isProved) THEN now() END,
                    CASE WHEN \(isProved) THEN 'dns' END)
                ON CONFLICT (tenant_id, host) DO UPDATE
                    SET proved_at = excluded.proved_at, method = excluded.method
                """)
        }
        await pool.close()
    }

    @Test func matchingInvocationPassesAllChecks() async throws {
        try await Installation.lend { installation in
            try await installation.binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url",
                "https://example.com/restaurants", "--identifier-rule", "path:1")
            try await Self.prove("example.com", installation)
            let (status, checks) = try await Self.checks(
                installation, "HTTPS://example.com/restaurants/restaurant_a/x/")
            #expect(status == 0)
            #expect(checks["url"]?["value"] == "https://example.com/restaurants/restaurant_a/x")
            #expect(checks["experience"]?["value"] == "https://example.com/restaurants/restaurant_a")
            #expect(checks["next"]?["value"] == "https://example.com/restaurants")
            #expect(checks["location"]?["value"] == "restaurant_a")
            #expect(checks["location"]?["detail"] == "Restaurant A; the experience is bound to it")
            #expect(checks["domain"]?["status"] == "ok")
            #expect(checks["association"]?["value"] == "ABCDE12345.com.example.MyApp.Clip")
            #expect(checks["code"]?["reason"] == "code_unfit")
            #expect(checks["payload"]?["value"] == "https://example.com/restaurants/restaurant_a/x")

            let table = try await installation.binary.succeed(
                "diagnose", "--tenant", Installation.tenant, MainPathTests.order)
            let lines = table.output.split(separator: "\n")
            #expect(lines.count == 22 && lines[1].hasPrefix("CHECK"))
            #expect(lines[0] == "\(MainPathTests.order) leads to Restaurant A")
            // 142 bits in a code; without the first word about 101.
            let advice = lines.filter { $0.hasPrefix("advice") }
            #expect(advice.count == 1 && advice[0].contains("https://example.com/restaurant_a/order/1234"))
            #expect(advice[0].contains("saves about 41 bits by path_word"))
            #expect(lines.filter { $0.hasPrefix("launch") }.count == 8)
            #expect(!lines.contains { $0.contains("  failed  ") })
            let warnings = lines.filter { $0.contains("  warning  ") }
            #expect(warnings.count == 1 && warnings[0].contains(" of 128 bits"), "\(warnings)")
        }
    }

    /// The HTTP response equals the output of the command.
    @Test func httpDiagnosisEqualsCommandOutput() async throws {
        try await Installation.lend { installation in
            let made = try await installation.binary.succeed(
                "key", "create", "--tenant", Installation.tenant, "--kind", "secret", "--scope", "read"
            ).json()
            let key = try #require(made.objectValue?["key"]?.stringValue)
            let (_, status) = try await RunningServer.lend(installation.binary) { server in
                for url in [
                    MainPathTests.order, "https://example.com/nowhere?l=1", "nonsense", "http://a.example",
                ] {
                    let said = try await installation.binary.run(
                        ["diagnose", url, "--format", "json"] + Self.tenant
                    ).json()
                    let query = try #require(url.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
                    let response = try await server.get("/v1/diagnosis?url=\(query)", key: key)
                    #expect(response.status == 200 && response.json == said, "\(url)")
                }
            }
            #expect(status == 0)
        }
    }

    /// The five points that iOS checks. Only Apple knows two of them, and the site's points are checked only with `--live`.
    @Test func diagnosisReportsFivePointsOfIOS() async throws {
        try await Installation.lend { installation in
            try await Self.prove("example.com", installation)
            let (_, checks) = try await Self.checks(installation, MainPathTests.order)
            let points = checks.values.filter { $0["ios"] != .null }
            #expect(
                Set(points.compactMap { $0["ios"]?.stringValue }) == [
                    "advanced experience registered (optional)", "clip published", "URL associated",
                    "fits into an App Clip Code", "Smart App Banner on the website (optional)",
                ])
            #expect(checks["advanced_experience"]?["status"] == "ok")
            #expect(checks["code"]?["status"] == "warning" && checks["code"]?["reason"] == "code_too_long")
            for name in ["published", "smart_app_banner"] {
                #expect(checks[name]?["status"] == "unknown", "\(name)")
            }
            #expect(checks["association"]?["status"] == "ok")
            for (launch, status) in [
                ("website", "ok"), ("messages", "ok"), ("qr_code_or_nfc_tag", "ok"),
                ("app_clip_code", "no"),
                ("maps", "ok"), ("spotlight", "ok"), ("link_presentation", "ok"), ("opened_by_app", "no"),
            ] {
                #expect(checks["launch \(launch)"]?["status"] == .string(status), "\(launch)")
            }

            try await installation.binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url", "https://example.com/any", "--kind", "default", "--location", "restaurant_a")
            let (_, link) = try await Self.checks(
                installation, "https://appclip.apple.com/id?=com.example.MyApp.Clip&k=v")
            #expect(link["experience"]?["value"] == "https://example.com/any")
            #expect(link["advanced_experience"]?["status"] == "no")
            // [Apple]
            #expect(
                link["advanced_experience"]?["detail"]?.stringValue?.contains(
                    "on iOS 16.3 and earlier, a default experience works only from websites and Messages")
                    == true
            )
            #expect(link["association"]?["status"] == "ok" && link["code"]?["reason"] == "code_unfit")
            for (launch, status) in [
                ("website", "no"), ("messages", "ok"), ("app_clip_code", "no"), ("maps", "no"),
                ("spotlight", "ok"), ("opened_by_app", "ok"),
            ] {
                #expect(link["launch \(launch)"]?["status"] == .string(status), "\(launch)")
            }

            let listed = try await installation.binary.succeed(
                "experience", "lint", "--launches", "--tenant", Installation.tenant, "--format", "json")
            let rows = try #require(try listed.json().arrayValue).compactMap(\.objectValue)
            #expect(rows.map { $0["url"] }.contains("https://example.com/any") && rows.count == 3)
            for row in rows {
                let isAdvanced = row["kind"] == "advanced"
                #expect(row["website"] == (isAdvanced ? "with_association" : "yes"))
                #expect(row["app_clip_code"] == (isAdvanced ? row["app_clip_code"] : "no"))
                #expect(row["opened_by_app"] == (isAdvanced ? "no" : "yes"))
                #expect(row["spotlight"] == (isAdvanced ? "yes" : "not_by_place"))
                #expect(row["parameters"] == true)
            }
        }
    }

    /// Checks the association file that the site serves, and the tag in its page. The domain need not be proved.
    @Test func liveDiagnosisChecksSite() async throws {
        let file = #"{"appclips":{"apps":["ABCDE12345.com.example.MyApp.Clip"]}}"#
        let tag =
            "<meta name='apple-itunes-app' content='app-id=1, app-clip-bundle-id=com.example.MyApp.Clip'>"
        let html = [("Content-Type", "text/html")]
        try await Installation.lend { installation in
            for (association, page, expected) in [
                (
                    LocalWebServer.Page(file), LocalWebServer.Page("<html>\(tag)", headers: html),
                    [
                        "association": "ok", "smart_app_banner": "ok", "domain": "warning",
                        "launch website": "ok",
                    ]
                ),
                (
                    .init(#"{"appclips":{"apps":["ABCDE12345.com.example.Other.Clip"]}}"#),
                    .init(tag.replacing("MyApp", with: "Other"), headers: html),
                    [
                        "association": "failed", "smart_app_banner": "warning", "domain": "warning",
                        "launch website": "no", "launch messages": "no", "launch qr_code_or_nfc_tag": "no",
                        "launch app_clip_code": "no", "launch maps": "no", "launch spotlight": "no",
                        "launch link_presentation": "no", "launch opened_by_app": "no",
                    ]
                ),
                (
                    .init(file), .init("<html>", headers: html),
                    [
                        "association": "ok", "smart_app_banner": "no", "launch website": "no",
                        "launch messages": "ok",
                    ]
                ),
                (
                    .init("\u{FEFF}" + file), .init("", status: 500, headers: html),
                    [
                        "association": "unknown", "smart_app_banner": "unknown", "launch website": "unknown",
                        "launch messages": "unknown", "launch maps": "unknown", "launch opened_by_app": "no",
                    ]
                ),
                (
                    .init(file, headers: html), .init("<html>", headers: html),
                    ["association": "failed", "smart_app_banner": "no"]
                ),
                (
                    .init("", status: 404), .init("", status: 302, headers: [("Location", "/x")]),
                    ["association": "failed", "smart_app_banner": "unknown"]
                ),
                (
                    .init(file), .init(String(repeating: " ", count: 300_000) + tag, headers: html),
                    ["association": "ok", "smart_app_banner": "no"]
                ),
            ] as [(LocalWebServer.Page, LocalWebServer.Page, [String: String])] {
                let (status, checks) = try await TestCertificate.lend(for: ["example.com"]) { certificate in
                    try await LocalWebServer.lend(
                        over: certificate,
                        { request in
                            guard request.host == "example.com" else { return nil }
                            return request.path == "/.well-known/apple-app-site-association"
                                ? association : request.path == "/restaurants/restaurant_a?x=1" ? page : nil
                        }
                    ) { server in
                        try await Self.checks(
                            installation, "https://example.com/restaurants/restaurant_a?x=1#top",
                            [
                                "--live", "--ca-file", certificate.path, "--connect-to",
                                "127.0.0.1:\(server.port)",
                            ])
                    }
                }
                for (name, expected) in expected {
                    #expect(checks[name]?["status"] == .string(expected), "\(name): \(checks)")
                }
                #expect(status == (expected["association"] == "failed" ? 1 : 0))
                #expect(checks["published"]?["reason"] == "known_to_apple")
            }
            let away = try await Self.checks(
                installation, MainPathTests.order, ["--live", "--connect-to", "127.0.0.1:1"])
            #expect(away.status == 1 && away.checks["association"]?["status"] == "failed")
            #expect(away.checks["smart_app_banner"]?["status"] == "unknown")
            let usage = try await installation.binary.run(
                ["diagnose", MainPathTests.order, "--connect-to", "127.0.0.1:1"] + Self.tenant)
            #expect(usage.status == 64)
        }
    }

    /// The verdict combines the lookup of the same URL with the association.
    @Test func verdictCombinesLookupAndAssociation() async throws {
        try await Installation.lend { installation in
            // A generic experience that matches every URL, and a rule that does not match a mistyped path.
            try await Self.register(installation, "https://example.com")
            try await Self.register(installation, "https://example.com/r", "--identifier-rule", "path:1")
            for (isProved, code, reason, status) in [
                (false, "launch_unknown", JSONValue.string("not_asked"), Int32(0)), (true, "leads", .null, 0),
            ] {
                if isProved { try await Self.prove("example.com", installation) }
                let found = try await Self.diagnosis(installation, "https://example.com/r/restaurant_a")
                #expect(found.status == status && found.verdict["code"] == .string(code))
                #expect(found.verdict["reason"] == reason && found.verdict["location"] == "restaurant_a")
                #expect(found.verdict["text"]?.stringValue?.hasPrefix("leads to Restaurant A") == true)
            }
            for (url, reason, nearest) in [
                (
                    "https://example.com/rest/restaurant_a", "no_identifier",
                    "https://example.com/restaurants/restaurant_a"
                ),
                ("https://example.com/re/r0001", "no_identifier", "https://example.com/r"),
                ("https://exmaple.com/r", "does_not_match", "https://example.com/r"),
                ("https://example.com/r/nobody", "unknown_identifier", nil),
                ("nonsense", "not_absolute", nil),
            ] {
                let found = try await Self.diagnosis(installation, url)
                #expect(found.status == 1 && found.verdict["code"] == "no_location", "\(url)")
                #expect(found.verdict["reason"] == .string(reason), "\(found.verdict)")
                #expect(found.verdict["nearest"]?.stringValue == nearest, "\(found.verdict)")
                let text = try #require(found.verdict["text"]?.stringValue)
                #expect(
                    text.hasPrefix("leads to no location: ") && (nearest.map { text.contains($0) } ?? true))
                guard url != "nonsense" else { continue }
                let lookup = try await installation.binary.run(["lookup", url] + Self.tenant)
                #expect(lookup.status == 1, "\(url): \(lookup.output)")
            }
            let lines = try await installation.binary.run(
                ["diagnose", "https://example.com/re/r0001"] + Self.tenant
            ).output.split(separator: "\n")
            #expect(lines[0].hasPrefix("https://example.com/re/r0001 leads to no location: "))
            #expect(lines[2].hasPrefix("location") && lines[2].contains("  failed  "))
        }
    }

    /// If a website names another clip, neither kind of experience is launched there. [Apple]
    @Test func launchVerdictsFollowAssociation() async throws {
        try await Installation.lend { installation in
            try await Self.register(
                installation, "https://example.com/menu", "--kind", "default", "--location", "restaurant_a")
            let other = LocalWebServer.Page(#"{"appclips":{"apps":["ABCDE12345.com.example.Other.Clip"]}}"#)
            for url in ["https://example.com/menu", "https://example.com/restaurants/restaurant_a"] {
                let found = try await TestCertificate.lend(for: ["example.com"]) { certificate in
                    try await LocalWebServer.lend(over: certificate, { _ in other }) { server in
                        try await Self.diagnosis(
                            installation, url,
                            [
                                "--live", "--ca-file", certificate.path, "--connect-to",
                                "127.0.0.1:\(server.port)",
                            ])
                    }
                }
                #expect(found.status == 1 && found.verdict["code"] == "not_launched")
                #expect(
                    found.verdict["text"]?.stringValue?.hasPrefix(
                        "leads to Restaurant A, but iPhones will not launch it: clip_listed: ") == true)
                let launches = found.checks.filter { $0.key.hasPrefix("launch ") }
                #expect(launches.count == 8)
                for (name, check) in launches { #expect(check["status"] == "no", "\(url) \(name)") }
            }
        }
    }

    @Test func failedCheckIsReportedWithReason() async throws {
        try await Installation.lend { installation in
            for (url, rule) in [("https://example.com/p", "path:1"), ("https://example.com/q", "query:l")] {
                try await installation.binary.succeed(
                    "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                    "--url", url, "--identifier-rule", rule)
            }
            try await installation.binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url",
                "https://example.com/any")
            for (url, check, status, reason) in [
                ("nonsense", "url", "failed", "not_absolute"),
                ("http://example.com/p/restaurant_a", "url", "failed", "unmatchable_url"),
                ("https://other.example", "experience", "failed", "does_not_match"),
                ("https://other.example", "payload", "warning", "does_not_match"),
                ("https://example.com/p", "location", "failed", "no_identifier"),
                ("https://example.com/q?l=nowhere", "location", "failed", "unknown_identifier"),
                ("https://example.com/any", "location", "failed", "no_identifier"),
                ("https://example.com/any", "payload", "warning", "not_business_specific"),
                ("https://example.com/q?l=restaurant_a", "payload", "warning", "not_business_specific"),
                ("https://example.com/q?l=restaurant_a", "domain", "warning", "not_claimed"),
            ] {
                let (ended, checks) = try await Self.checks(installation, url)
                #expect(ended == (url.hasSuffix("=restaurant_a") ? 0 : 1), "\(url)")
                #expect(checks[check]?["status"] == .string(status), "\(url) \(checks)")
                #expect(checks[check]?["reason"] == .string(reason), "\(url) \(checks)")
            }
            let (_, early) = try await Self.checks(installation, "https://example.com/any")
            #expect(
                early["advanced_experience"]?["status"] == "ok"
                    && early["location"]?["detail"]?.stringValue?
                        .contains("neither a location nor an identifier rule") == true
            )
            try await Self.prove("example.com", installation, isProved: false)
            let (ended, checks) = try await Self.checks(installation, "https://example.com/q?l=restaurant_a")
            #expect(ended == 0 && checks["domain"]?["reason"] == "not_proved")
            #expect(checks["location"]?["detail"] == "Restaurant A; query:l reads 'restaurant_a'")
        }
    }

    /// `lint` finds the same.
    @Test func diagnosisNamesMissingDefaultExperience() async throws {
        try await Installation.lend { installation in
            let link = "https://appclip.apple.com/id?p=com.example.MyApp.Clip"
            let missing = try await Self.diagnosis(installation, link)
            #expect(missing.status == 1 && missing.verdict["reason"] == "no_identifier")
            #expect(missing.checks["experience"]?["status"] == "warning")
            #expect(missing.checks["experience"]?["reason"] == "missing_default_experience")
            for text in [missing.verdict["text"], missing.checks["location"]?["detail"]] {
                #expect(text?.stringValue?.contains("has no default experience") == true, "\(missing)")
            }
            try await Self.register(
                installation, "https://example.com/menu", "--kind", "default", "--location", "restaurant_a")
            let found = try await Self.diagnosis(installation, link)
            #expect(found.status == 0 && found.verdict["location"] == "restaurant_a")
            #expect(found.checks["experience"]?["status"] == "ok", "\(found.checks)")
        }
    }

    @Test func lintChecksWholeCatalogue() async throws {
        try await Installation.lend { installation in
            try await installation.binary.succeed(
                "location", "import", "--tenant", Installation.tenant, "-",
                input:
                    "identifier,name,latitude,longitude,radius\nisland,Lost,0,0,5\ntwin,Twin,37.334722,-122.008889,50\n"
            )
            try await installation.binary.succeed(
                "code", "import", "--tenant", Installation.tenant, "-",
                input:
                    "code,url\ngood,https://example.com/restaurants/restaurant_a\ndead,https://example.com/nowhere\nagain,https://example.com/h?c=good\n"
            )
            for (url, rule) in [
                ("https://example.com/h", "hash:c"), ("https://example.com/q?l=missing", "query:l"),
            ] {
                try await installation.binary.succeed(
                    "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                    "--url", url, "--identifier-rule", rule)
            }
            try await installation.binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url",
                "https://example.com/any")
            let found = try await installation.binary.succeed(
                "experience", "lint", "--tenant", Installation.tenant, "--format", "json")
            let texts = try #require(try found.json().arrayValue).compactMap(\.objectValue).map { finding in
                [finding["code"], finding["shortCode"], finding["location"], finding["url"]]
                    .compactMap { $0?.stringValue }.prefix(2).joined(separator: " ")
            }
            for text in [
                "unbound https://example.com/any",
                "unknown_identifier https://example.com/q?l=missing", "dead_short_code dead",
                "dead_short_code again", "null_island island", "small_radius island",
                "repeated_coordinates twin", "unreachable_location island", "unreachable_location twin",
            ] {
                #expect(texts.contains(text), "\(text) in \(texts)")
            }
            #expect(!texts.contains("dead_short_code good"))
            #expect(!texts.contains("unreachable_location restaurant_a"))
            // A rule that accepts any identifier can lead to every location.
            try await installation.binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url",
                "https://example.com/p", "--identifier-rule", "path:1")
            let reached = try await installation.binary.succeed(
                "experience", "lint", "--tenant", Installation.tenant, "--limit", "1000")
            #expect(!reached.output.contains("unreachable_location"))
            // It names the business to no notification.
            let unnamed = reached.output.split(separator: "\n").map { $0.split(separator: " ") }
                .filter { $0.first == "not_business_specific" }.map { $0[2] }
            #expect(unnamed == ["island", "twin"])
            let limited = try await installation.binary.succeed(
                "experience", "lint", "--tenant", Installation.tenant, "--limit", "1")
            #expect(
                limited.errors.contains("dead_short_code: 2, 1 more: --limit 2\n")
                    && limited.errors.contains("null_island: 1\n"))
            // The limit applies to each code, so that no code hides another.
            let codes = limited.output.split(separator: "\n").dropFirst().compactMap {
                $0.split(separator: " ").first
            }
            #expect(
                codes.count == Set(codes).count && codes.contains("small_radius") && codes.contains("unbound")
            )
        }
    }
}
