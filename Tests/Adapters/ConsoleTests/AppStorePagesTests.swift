import Administration
import Foundation
import HTTPTestClient
import HTTPTypes
import PostgreSQL
import Tenancy
import Testing

@testable import Console

/// The stored results of App Store checks. The pages send no requests.
@Suite struct AppStorePagesTests {
    private static let clip = "com.example.MyApp.Clip"
    private static let path = "/t/acme/appstore/\(clip)"

    /// Connects the clip, optionally with the result of a check.
    private static func connect(
        _ console: TestConsole, rows: Int = 0, failure: String? = nil
    ) async throws {
        let tenant = console.acme.id.uuid
        try await console.execute(
            """
            INSERT INTO doorstep.app_store_connections (tenant_id, bundle_id, key_id, issuer_id, sealed_secret)
            VALUES (\(tenant), \(clip), 'ABCDE12345', NULL, convert_to(repeat('x', 64), 'UTF8'))
            """)
        guard rows > 0 else { return }
        try await console.execute(
            """
            INSERT INTO doorstep.app_store_checks
                (tenant_id, bundle_id, due_at, checked_at, counts, summary, findings_digest, failure)
            VALUES (\(tenant), \(clip), now(), '2026-11-24T08:00:00Z', '{}',
                '{"inStep": false, "counts": {"create": 3, "update": 1, "in_step": 0}, "findings": {"unlisted": 2},
                  "places": {"matched": 7}, "release": {"published": false, "version": "1.3", "state": "IN_REVIEW"},
                  "missing": ["https://example.com/<gone>"]}',
                sha256(''), \(failure))
            """,
            """
            INSERT INTO doorstep.app_store_check_rows (tenant_id, bundle_id, url, row_json)
            SELECT \(tenant), \(clip), 'https://example.com/' || lpad(n::text, 4, '0'),
                '{"step": "update", "id": "<b>17", "changes": [{"path": "/attributes/<i>", "old": null, "new": "x&y"}],
                  "findings": [{"code": "place_rewritten", "detail": "<script>"}]}'
            FROM generate_series(1, \(rows)) AS n
            """)
    }

    @Test func planIsShownAsLastSeen() async throws {
        try await TestConsole.withConsole { console in
            try await Self.connect(console, rows: 101, failure: "unauthorized<b>")
            let cookie = try await console.signIn()
            let list = try await console.get("/t/acme/appstore", cookie).text
            #expect(list.contains(Self.path) && list.contains("2026-11-24 08:00:00"))
            #expect(
                list.contains("App Store Connect could not be read") && list.contains("unauthorized&lt;b&gt;")
            )
            let page = try await console.get(Self.path, cookie)
            #expect(page.status == .ok)
            for text in [
                "https://example.com/&lt;gone&gt;", "/attributes/&lt;i&gt;", "x&amp;y", "&lt;b&gt;17",
                "&lt;script&gt;",
                "place_rewritten", "https://example.com/0100", "not on the App Store: 1.3 is IN_REVIEW",
                "doorstep appstore plan --tenant acme --clip \(Self.clip)",
            ] {
                #expect(page.text.contains(text), "\(text)")
            }
            #expect(!page.text.contains("<script>") && !page.text.contains("https://example.com/0101"))
            let rest = try await console.get("\(Self.path)?after=https://example.com/0100", cookie).text
            #expect(rest.contains("https://example.com/0101") && !rest.contains("https://example.com/0100<"))
        }
    }

    /// A check that is older than the last change at Apple contradicts the numbers beside it.
    @Test func checkOlderThanTheLastChangeIsOutOfDate() async throws {
        try await TestConsole.withConsole { console in
            try await Self.connect(console, rows: 1)
            let cookie = try await console.signIn()
            func areOutOfDate() async throws -> [Bool] {
                let list = try await console.get("/t/acme/appstore", cookie).text
                let plan = try await console.get(Self.path, cookie).text
                return [list, plan].map { $0.contains("out of date") }
            }
            for (sent, expected) in [("2026-11-24T07:59:59Z", false), ("2026-11-24T08:00:01Z", true)] {
                try await console.execute(
                    """
                    INSERT INTO doorstep.app_store_experiences
                        (tenant_id, bundle_id, url, phase, remote_id, content, sent_at)
                    VALUES (\(console.acme.id.uuid), \(Self.clip), \("https://example.com/" + sent), 'created', \(sent), '{}',
                        \(sent)::text::timestamptz)
                    """)
                #expect(try await areOutOfDate() == [expected, expected], "\(sent)")
            }
        }
    }

    @Test func uncheckedClipSaysSoAndUnknownClipIsNotFound() async throws {
        try await TestConsole.withConsole { console in
            let cookie = try await console.signIn()
            #expect(try await console.get(Self.path, cookie).status == .notFound)
            try await Self.connect(console)
            let page = try await console.get(Self.path, cookie)
            #expect(page.status == .ok && page.text.contains("never checked"))
            #expect(try await console.get("/t/other/appstore/\(Self.clip)", cookie).status == .notFound)
        }
    }
}
