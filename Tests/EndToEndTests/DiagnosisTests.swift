import Foundation
import JSON
import PostgreSQL
import Testing

/// What the lint and the diagnosis say of a real catalogue.
@Suite struct DiagnosisTests {
    private static let tenant = ["--tenant", Installation.tenant]

    private static func checks(
        _ installation: Installation, _ url: String
    ) async throws -> (status: Int32, checks: [String: JSONObject]) {
        let outcome = try await installation.binary.run(["diagnose", url, "--format", "json"] + tenant)
        let json = try #require(try outcome.json().objectValue)
        #expect(json["ok"] == .bool(outcome.status == 0) && json["url"] == .string(url))
        var checks: [String: JSONObject] = [:]
        for check in json["checks"]?.arrayValue?.compactMap(\.objectValue) ?? [] {
            checks[check["check"]?.stringValue ?? ""] = check
        }
        return (outcome.status, checks)
    }

    private static func prove(
        _ host: String, _ installation: Installation, isProved: Bool = true
    ) async throws {
        let pool = ConnectionPool(
            PoolConfiguration(conninfo: installation.databaseURL, maximumConnections: 1))
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

    @Test func anInvocationThatReachesItsBusiness() async throws {
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
            #expect(lines.count == 12 && lines[0].hasPrefix("CHECK"))
            #expect(lines.filter { $0.hasPrefix("advice") }.count == 3)
            #expect(lines.dropFirst().allSatisfy { $0.contains("  ok  ") })
        }
    }

    @Test func whatFailsIsSaid() async throws {
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
                ("https://example.com/any", "location", "warning", "no_identifier"),
                ("https://example.com/any", "payload", "warning", "not_business_specific"),
                ("https://example.com/q?l=restaurant_a", "payload", "warning", "not_business_specific"),
                ("https://example.com/q?l=restaurant_a", "domain", "failed", "not_claimed"),
            ] {
                let (ended, checks) = try await Self.checks(installation, url)
                #expect(ended == 1, "\(url)")
                #expect(checks[check]?["status"] == .string(status), "\(url) \(checks)")
                #expect(checks[check]?["reason"] == .string(reason), "\(url) \(checks)")
            }
            try await Self.prove("example.com", installation, isProved: false)
            let (ended, checks) = try await Self.checks(installation, "https://example.com/q?l=restaurant_a")
            #expect(ended == 1 && checks["domain"]?["reason"] == "not_proved")
            #expect(checks["location"]?["detail"] == "Restaurant A; query:l reads 'restaurant_a'")
        }
    }

    @Test func lintLooksAtAllThatIsRegistered() async throws {
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
                "unbound https://example.com/any", "not_business_specific https://example.com/h",
                "unknown_identifier https://example.com/q?l=missing", "dead_short_code dead",
                "dead_short_code again", "null_island island", "small_radius island",
                "repeated_coordinates twin", "unreachable_location island", "unreachable_location twin",
            ] {
                #expect(texts.contains(text), "\(text) in \(texts)")
            }
            #expect(!texts.contains("dead_short_code good"))
            #expect(!texts.contains("unreachable_location restaurant_a"))
            // A rule that reads any identifier reaches every location.
            try await installation.binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url",
                "https://example.com/p", "--identifier-rule", "path:1")
            let reached = try await installation.binary.succeed(
                "experience", "lint", "--tenant", Installation.tenant, "--limit", "1000")
            #expect(!reached.output.contains("unreachable_location"))
            let limited = try await installation.binary.succeed(
                "experience", "lint", "--tenant", Installation.tenant, "--limit", "1")
            #expect(
                limited.output.split(separator: "\n").count == 2 && limited.errors.contains("more: --limit"))
        }
    }
}
