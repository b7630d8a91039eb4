import Formats
import Foundation
import TestSupport
import Testing

/// All kinds of items are created, shown, changed and deleted with the same verbs.
@Suite struct VerbTests {
    private static let tenant = ["--tenant", Installation.tenant]
    private static let json = ["--format", "json"]

    /// Expects that `show` prints the item as `list` does, in both formats.
    private static func expectShown(
        _ noun: String, _ name: [String], _ binary: DoorstepBinary, count: Int
    ) async throws -> JSONObject {
        let options = noun == "tenant" ? [] : tenant
        let shown = try await binary.succeed([noun, "show"] + options + json + name).json()
        let listed = try await binary.succeed([noun, "list"] + options + json).json().arrayValue ?? []
        #expect(listed.count == count && listed.contains(shown), "\(noun)")
        let table = try await binary.succeed([noun, "show"] + options + name).output.split(separator: "\n")
        let list = try await binary.succeed([noun, "list"] + options).output.split(separator: "\n")
        func words(_ line: Substring?) -> [Substring] { line?.split(separator: " ") ?? [] }
        // After a tenant, a table of its quotas follows.
        #expect((table.count > 2) == (noun == "tenant") && words(table.first) == words(list.first), "\(noun)")
        #expect(list.contains { words($0) == words(table.dropFirst().first) }, "\(noun)")
        return try #require(shown.objectValue)
    }

    private static func expectGone(
        _ noun: String, _ name: [String], _ binary: DoorstepBinary
    ) async throws {
        for verb in ["show", "delete"] {
            let gone = try await binary.run([noun, verb] + tenant + name)
            #expect(gone.status == 1 && gone.errors.split(separator: "\n").count == 1, "\(noun) \(verb)")
        }
    }

    @Test func locationIsCreatedShownUpdatedAndDeleted() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let created = try await binary.succeed(
                ["location", "create", "c", "--name", "C", "--latitude", "-33.5", "--longitude", "-70.25"]
                    + [
                        "--radius", "20", "--metadata", "phone=1=2", "--metadata", "note=x", "--detail",
                        "phone=2=3",
                    ]
                    + ["--detail", "details.x=y"] + Self.tenant + Self.json
            ).json()
            let shown = try await Self.expectShown("location", ["c"], binary, count: 3)
            #expect(created == .object(shown))
            #expect(shown["latitude"] == -33.5 && shown["metadata"] == ["phone": "1=2", "note": "x"])
            #expect(shown["details"] == ["phone": "2=3", "details.x": "y"])
            let updated = try await binary.succeed(
                [
                    "location", "update", "c", "--longitude", "-71", "--metadata", "note=", "--detail",
                    "details.x=",
                ]
                    + Self.tenant + Self.json
            ).json()
            var expected = shown
            expected["longitude"] = -71
            expected["metadata"] = ["phone": "1=2"]
            expected["details"] = ["phone": "2=3"]
            #expect(updated == .object(expected))
            #expect(try await Self.expectShown("location", ["c"], binary, count: 3) == expected)
            for arguments in [["--radius", "501"], ["--latitude", "nan"], ["--name", ""]] {
                let refused = try await binary.run(["location", "update", "c"] + Self.tenant + arguments)
                #expect(refused.status == 1, "\(arguments)")
            }
            // An import would read such a column as a field of the location.
            for own in ["radius=5", "details.x=y"] {
                let refused = try await binary.run(
                    ["location", "update", "c", "--metadata", own] + Self.tenant)
                #expect(refused.status == 64)
            }
            let none = try await binary.succeed(
                ["location", "update", "c", "--detail", "phone="] + Self.tenant + Self.json
            ).json()
            #expect(none.objectValue?["details"] == nil)
            let deleted = try await binary.succeed(["location", "delete", "c"] + Self.tenant + Self.json)
            #expect(try deleted.json() == ["deleted": "c", "rows": ["locations": 1]])
            try await Self.expectGone("location", ["c"], binary)
        }
    }

    /// A restaurant closes: its items are gone, and all other items stay.
    @Test func usedLocationIsDeletedByCascade() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let delete = ["location", "delete", "restaurant_a"] + Self.tenant
            _ = try await RunningServer.lend(binary) { server in
                #expect(
                    try await server.lookUp(MainPathTests.order, key: installation.secret).status == 200)
                let refused = try await binary.run(delete)
                #expect(refused.status == 1 && refused.output.isEmpty)
                let deleted = try await binary.succeed(delete + ["--cascade"])
                #expect(deleted.output == "Deleted location restaurant_a and 1 experience\n")
                #expect(
                    try await server.status(of: MainPathTests.order, key: installation.secret, becoming: 404)
                        == 404)
            }
            let history = try await binary.succeed(["location", "history", "restaurant_a"] + Self.tenant)
            #expect(history.output.contains("delete"))
            let left = try await binary.succeed(["experience", "list"] + Self.tenant + Self.json).json()
            #expect(left.arrayValue?.map { $0.objectValue?["location"] } == ["restaurant_b"])
        }
    }

    @Test func experienceIsCreatedShownUpdatedAndDeleted() async throws {
        try await Installation.lend { installation in
            let (binary, url) = (installation.binary, "https://example.com/menu")
            let created = try await binary.succeed(
                ["experience", "create", "--clip", "com.example.MyApp.Clip", "--url", url, "--title", "Menu"]
                    + ["--location", "restaurant_a"] + Self.tenant + Self.json
            ).json()
            let shown = try await Self.expectShown("experience", [url], binary, count: 3)
            #expect(created == .object(shown) && shown["location"] == "restaurant_a")
            let updated = try await binary.succeed(
                ["experience", "update", url, "--identifier-rule", "path:1"] + Self.tenant + Self.json)
            var expected = shown
            expected["location"] = .null
            expected["identifierRule"] = "path:1"
            #expect(try updated.json() == .object(expected))
            try await binary.succeed(
                ["experience", "update", url, "--location", "restaurant_a"] + Self.tenant)
            #expect(
                try await Self.expectShown("experience", [url], binary, count: 3)["identifierRule"] == .null)
            try await binary.succeed(["experience", "update", url, "--location", ""] + Self.tenant)
            #expect(try await Self.expectShown("experience", [url], binary, count: 3)["location"] == .null)
            try await binary.succeed(
                ["experience", "update", url, "--identifier-rule", "path:1"] + Self.tenant)
            try await binary.succeed(["experience", "update", url, "--unbound", "--title", ""] + Self.tenant)
            expected["identifierRule"] = .null
            expected["title"] = .null
            #expect(try await Self.expectShown("experience", [url], binary, count: 3) == expected)
            // An experience of another kind with the same URL stays.
            try await Self.expectGone("experience", [url, "--kind", "default"], binary)
            let deleted = try await binary.succeed(["experience", "delete", url] + Self.tenant)
            #expect(deleted.output == "Deleted advanced experience \(url)\n")
            try await Self.expectGone("experience", [url], binary)
        }
    }

    @Test func clipIsShownUpdatedAndDeleted() async throws {
        try await Installation.lend { installation in
            let (binary, clip) = (installation.binary, "com.example.MyApp.Clip")
            let shown = try await Self.expectShown("clip", [clip], binary, count: 1)
            try await binary.succeed(
                ["clip", "update", clip, "--team-id", "ZZZZZ12345", "--no-multi-business"] + Self.tenant)
            var expected = shown
            expected["teamID"] = "ZZZZZ12345"
            // The prefix follows the team's ID.
            expected["appIDPrefix"] = "ZZZZZ12345"
            expected["multiBusiness"] = false
            #expect(try await Self.expectShown("clip", [clip], binary, count: 1) == expected)
            let refused = try await binary.run(
                ["clip", "update", clip, "--parent-bundle-id", "com.example.Other"] + Self.tenant)
            #expect(
                refused.status == 1 && refused.errors.contains("does not begin with 'com.example.Other.'"))
            try await binary.succeed(
                ["clip", "update", clip, "--parent-bundle-id", "com.example"] + Self.tenant)
            expected["parentBundleID"] = "com.example"
            #expect(try await Self.expectShown("clip", [clip], binary, count: 1) == expected)
            try await binary.succeed(["clip", "update", clip, "--parent-bundle-id", ""] + Self.tenant)
            expected["parentBundleID"] = shown["parentBundleID"]
            #expect(try await Self.expectShown("clip", [clip], binary, count: 1) == expected)
            try await binary.succeed(
                [
                    "clip", "create", "--team-id", "ABCDE12345", "--bundle-id", "com.solo.App.my.Clip",
                    "--parent-bundle-id", "com.solo.App",
                ] + Self.tenant)
            let made = try await binary.succeed(
                ["clip", "show", "com.solo.App.my.Clip"] + Self.tenant + Self.json)
            #expect(try made.json().objectValue?["parentBundleID"] == "com.solo.App")
            try await binary.succeed(["clip", "delete", "com.solo.App.my.Clip"] + Self.tenant)
            let delete = ["clip", "delete", clip] + Self.tenant
            #expect(try await binary.run(delete).status == 1)
            let deleted = try await binary.succeed(delete + ["--cascade"] + Self.json).json()
            #expect(deleted == ["deleted": .string(clip), "rows": ["experiences": 2, "clips": 1]])
            try await Self.expectGone("clip", [clip], binary)
        }
    }

    /// Cells are exported unchanged unless `--spreadsheet-safe` is given. Headers count as cells.
    @Test func exportsForSpreadsheetsHoldNoFormula() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            try await binary.succeed(
                ["location", "import", "-"] + Self.tenant,
                input: "identifier,name,latitude,longitude,radius,=x\nrestaurant_a,=1+1,1,-122.1,10,@y\n")
            try await binary.succeed(
                [
                    "experience", "update", "https://example.com/restaurants/restaurant_a", "--title",
                    "+1+1",
                ] + Self.tenant)
            for (noun, stored, safe) in [
                (
                    "location", "restaurant_a,=1+1,1,-122.1,10,@y\r\n",
                    "restaurant_a,'=1+1,1,-122.1,10,'@y\r\n"
                ),
                ("experience", ",+1+1,", ",'+1+1,"),
            ] {
                let export = [noun, "export"] + Self.tenant
                let plain = try await binary.succeed(export).output
                #expect(plain.contains(stored) && !plain.contains("'"), "\(plain)")
                let changed = try await binary.succeed(export + ["--spreadsheet-safe"]).output
                #expect(changed.contains(safe), "\(changed)")
                #expect(!changed.contains(",=") && !changed.contains(",@") && !changed.contains(",+"))
            }
            let confirmations = ["confirmation", "export", "--spreadsheet-safe"] + Self.tenant
            #expect(
                try await binary.succeed(confirmations).output
                    == "minute,location,outcome,source,id,attestation\r\n")
        }
    }

    @Test func shortCodeIsCreatedShownUpdatedAndDeleted() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let url = ["--url", "https://example.com/restaurants/restaurant_a/order/1"]
            try await binary.succeed(["code", "create", "c"] + url + Self.tenant)
            #expect(try await binary.run(["code", "create", "c"] + url + Self.tenant).status == 1)
            let shown = try await Self.expectShown("code", ["c"], binary, count: 1)
            #expect(shown == ["code": "c", "url": .string(url[1])])
            try await binary.succeed(
                ["code", "update", "c", "--url", "https://example.com/2"] + Self.tenant)
            #expect(
                try await Self.expectShown("code", ["c"], binary, count: 1)["url"] == "https://example.com/2")
            try await binary.succeed(["code", "delete", "c"] + Self.tenant)
            try await Self.expectGone("code", ["c"], binary)
        }
    }

    @Test func domainKeyAndTenantAreManagedBySameVerbs() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            try await binary.succeed(["domain", "create", "example.com"] + Self.tenant)
            #expect(
                try await Self.expectShown("domain", ["example.com"], binary, count: 1)["content"] == .null)
            let content = #"{"webcredentials": {"apps": ["ABCDE12345.com.example.Other"]}}"#
            let update = ["domain", "update", "example.com"] + Self.tenant
            let kept = try await binary.succeed(update + ["--content", "-"] + Self.json, input: content)
            #expect(
                try kept.json().objectValue?["content"]
                    == ["webcredentials": ["apps": ["ABCDE12345.com.example.Other"]]])
            try await binary.succeed(update + ["--no-content"])
            #expect(
                try await Self.expectShown("domain", ["example.com"], binary, count: 1)["content"] == .null)
            try await binary.succeed(["domain", "delete", "example.com"] + Self.tenant)
            try await Self.expectGone("domain", ["example.com"], binary)

            let keys = try await binary.succeed(["key", "list"] + Self.tenant + Self.json).json()
            let id = try #require(keys.arrayValue?.first?.objectValue?["id"]?.stringValue)
            #expect(try await Self.expectShown("key", [id], binary, count: 2)["expiresAt"] == .null)
            try await binary.succeed(["key", "update", id, "--expires-in-days", "1"] + Self.tenant)
            #expect(try await Self.expectShown("key", [id], binary, count: 2)["expiresAt"] != .null)
            try await binary.succeed(["key", "update", id, "--no-expiry"] + Self.tenant)
            #expect(try await Self.expectShown("key", [id], binary, count: 2)["expiresAt"] == .null)
            // The record of a deleted key stays.
            let deleted = try await binary.succeed(["key", "delete", id] + Self.tenant + Self.json).json()
            let revoked = try await Self.expectShown("key", [id], binary, count: 2)
            #expect(revoked["status"] == "revoked")
            #expect(deleted.objectValue?["revokedAt"] == revoked["revokedAt"])

            try await binary.succeed("tenant", "update", Installation.tenant, "--name", "Bistros")
            #expect(
                try await Self.expectShown("tenant", [Installation.tenant], binary, count: 1)["name"]
                    == "Bistros")
        }
    }

    /// The command migrates an embedded PostgreSQL itself. Other databases need `migrate`.
    @Test(.timeLimit(.minutes(30))) func embeddedPostgreSQLIsMigratedAutomatically() async throws {
        let directory = try TemporaryDirectory()
        let place = ["--embedded-postgres", directory.path("postgres")]
        let binary = DoorstepBinary(databaseURL: "")
        let created = try await binary.run(["tenant", "create", "acme", "--name", "Acme"] + place)
        #expect(created.status == 0, "\(created.errors)")
        #expect(
            try await binary.succeed(["tenant", "list"] + place + Self.json).json().arrayValue?.count == 1)
        let migrated = try await binary.succeed(["migrate"] + place + Self.json).json()
        #expect(migrated.objectValue?["applied"] == [])
        try await TestServer.withDatabase { databaseURL in
            let binary = DoorstepBinary(databaseURL: databaseURL)
            let refused = try await binary.run("tenant", "create", "acme", "--name", "Acme")
            let status = try await binary.run("status")
            #expect(refused.status == 1 && status.status == 1)
        }
    }
}
