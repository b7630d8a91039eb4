import Formats
import Foundation
import TestSupport
import Testing

/// Tenants and whole catalogues: exported, imported and deleted, with their history.
@Suite struct AdministrationCommandTests {
    private static let awkward = [
        #"identifier,name,latitude,longitude,radius,note,"a,b""#,
        #"a,"Café, ""Nord""",1e-7,-0.5,0.1,"two"# + "\r\n" + #"lines",x"#, "b,=1+1,90,180,500,,", "",
    ].joined(separator: "\r\n")

    private static func withFile<R>(_ body: (String) async throws -> R) async throws -> R {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("doorstep-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(path)
    }

    @Test func testTenantHasKeysOfItsOwnKind() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let created = try await binary.succeed(
                "tenant", "create", "trial", "--name", "Trial", "--test", "--format", "json"
            ).json()
            #expect(created.objectValue?["test"] == true)
            for (kind, prefix) in [("publishable", "dpk_test_"), ("secret", "dsk_test_")] {
                let key = try await binary.succeed("key", "create", "--tenant", "trial", "--kind", kind)
                    .json()
                #expect(key.objectValue?["key"]?.stringValue?.hasPrefix(prefix) == true)
            }
        }
    }

    @Test func tenantIsExportedAndImportedElsewhere() async throws {
        try await Installation.lend { installation in
            try await Self.withFile { path in
                let exported = try await installation.binary.succeed(
                    "tenant", "export", Installation.tenant, "--output", path)
                #expect(exported.output.isEmpty && exported.errors == "6 records in \(path)\n")
                let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
                #expect(permissions as? Int == 0o600)
                let printed = try await installation.binary.succeed("tenant", "export", Installation.tenant)
                #expect(try String(contentsOfFile: path, encoding: .utf8) == printed.output)

                let again = try await installation.binary.run("tenant", "import", path)
                #expect(again.status == 1 && again.errors.contains("already"))
                try await TestServer.withDatabase { databaseURL in
                    let elsewhere = DoorstepBinary(databaseURL: databaseURL)
                    try await elsewhere.succeed("migrate")
                    let imported = try await elsewhere.succeed(
                        "tenant", "import", "-", "--slug", "new", "--format", "json", input: printed.output
                    ).json()
                    #expect(
                        imported.objectValue?["rows"] == [
                            "card_images": 0, "clips": 1, "domains": 0, "experiences": 2, "locations": 2,
                            "short_codes": 0,
                        ])
                    let here = try await installation.binary.succeed(
                        "lookup", "--tenant", Installation.tenant, MainPathTests.order)
                    let there = try await elsewhere.succeed("lookup", "--tenant", "new", MainPathTests.order)
                    #expect(here.output == there.output)

                    // An import creates a new ID. With `--keep-id` it uses the ID in the file, which must be free.
                    func id(_ json: JSONValue) -> JSONValue? {
                        json.objectValue?["tenant"]?.objectValue?["id"]
                    }
                    let original = try #require(
                        try await installation.binary.succeed("tenant", "list", "--format", "json").json()
                            .arrayValue?.first?.objectValue?["id"])
                    #expect(id(imported) != original)
                    let kept = ["tenant", "import", "-", "--keep-id", "--format", "json", "--slug"]
                    let same = try await elsewhere.succeed(kept + ["same"], input: printed.output).json()
                    #expect(id(same) == original)
                    let taken = try await elsewhere.run(kept + ["third"], input: printed.output)
                    #expect(taken.status == 1 && taken.errors.contains("a tenant with the ID"))
                }
            }
        }
    }

    @Test func appIDPrefixIsStoredAndExported() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let create = ["clip", "create", "--tenant", Installation.tenant, "--team-id", "ABCDE12345"]
            let bad = try await binary.run(
                create + ["--bundle-id", "com.example.Old.Clip", "--app-id-prefix", "short"])
            #expect(bad.status == 64)
            try await binary.succeed(
                create + ["--bundle-id", "com.example.Old.Clip", "--app-id-prefix", "OLDPREFIX1"])
            let clips = try await binary.succeed(
                "clip", "list", "--tenant", Installation.tenant, "--format", "json"
            ).json().arrayValue?.compactMap(\.objectValue)
            #expect(clips?.map { $0["appIDPrefix"] } == ["ABCDE12345", "OLDPREFIX1"])
            #expect(clips?.map { $0["teamID"] } == ["ABCDE12345", "ABCDE12345"])
            let archive = try await binary.succeed("tenant", "export", Installation.tenant).output
            let records = try archive.split(separator: "\n").map { line in
                try JSONValue(parsing: Array(line.utf8)).objectValue ?? [:]
            }
            #expect(records.compactMap { $0["appIDPrefix"] } == ["ABCDE12345", "OLDPREFIX1"])
            try await binary.succeed("tenant", "import", "-", "--slug", "copy", input: archive)
            let copied = try await binary.succeed("clip", "list", "--tenant", "copy").output
            #expect(copied.contains("OLDPREFIX1"))
        }
    }

    @Test func invalidArchiveIsRejectedByLine() async throws {
        try await Installation.lend { installation in
            let archive = try await installation.binary.succeed("tenant", "export", Installation.tenant)
                .output
            let bad = archive.replacing("\"radius\":100", with: "\"radius\":1000")
            let refused = try await installation.binary.run(
                "tenant", "import", "-", "--slug", "new", input: bad)
            #expect(refused.status == 1)
            #expect(refused.errors.hasPrefix("-:4: radius: "))
            #expect(refused.errors.contains("nothing was imported: 1 row is refused"))
            let newer = archive.replacing("\"version\":2", with: "\"version\":3")
            let unknown = try await installation.binary.run("tenant", "import", "-", input: newer)
            #expect(unknown.status == 1 && unknown.errors.contains("version 3"))
            let tenants = try await installation.binary.succeed("tenant", "list", "--format", "json").json()
            #expect(tenants.arrayValue?.count == 1)
        }
    }

    @Test func deletedTenantIsForgotten() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let unasked = try await binary.run("tenant", "delete", Installation.tenant)
            #expect(unasked.status == 64 && unasked.errors.contains("--yes"))
            let unknown = try await binary.run("tenant", "delete", "nobody", "--yes")
            #expect(unknown.status == 1 && unknown.errors.contains("no tenant 'nobody'"))
            _ = try await RunningServer.lend(binary) { server in
                #expect(
                    try await server.lookUp(MainPathTests.order, key: installation.secret).status == 200)
                let deleted = try await binary.succeed("tenant", "delete", Installation.tenant, "--yes")
                #expect(
                    deleted.output.hasPrefix(
                        "Deleted tenant restaurants\nRELATION               ROWS\nexperiences            2\n")
                )
                #expect(
                    try await server.status(of: MainPathTests.order, key: installation.secret, becoming: 401)
                        == 401)
            }
            #expect(try await binary.succeed("tenant", "list", "--format", "json").json() == [])
            try await binary.succeed("tenant", "create", Installation.tenant, "--name", "Again")
            let again = try await binary.succeed(
                "tenant", "delete", Installation.tenant, "--yes", "--format", "json"
            ).json()
            #expect(again.objectValue?["rows"]?.objectValue?["tenants"] == 1)
            #expect(again.objectValue?["rows"]?.objectValue?["locations"] == 0)
        }
    }

    /// On a terminal, the command asks for the slug. script(1) provides a terminal.
    @Test(arguments: [("restaurant\n", Int32(1)), ("restaurants\n", 0)])
    func tenantDeletionAsksForSlug(typed: String, status: Int32) async throws {
        try await Installation.lend { installation in
            let command = try "'\(DoorstepBinary.executable().path)' tenant delete \(Installation.tenant)"
            let outcome = try await installation.binary.run(
                ["--quiet", "--return", "--command", command, "/dev/null"],
                of: URL(fileURLWithPath: "/usr/bin/script"),
                input: typed)
            #expect(outcome.output.contains("deletes the tenant 'restaurants' (Restaurants)"))
            #expect(outcome.status == status, "\(outcome.output)")
            let tenants = try await installation.binary.succeed("tenant", "list", "--format", "json").json()
            #expect(tenants.arrayValue?.count == (status == 0 ? 0 : 1))
        }
    }

    @Test func exportsRoundTripByteForByte() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let tenant = ["--tenant", Installation.tenant]
            _ = try await binary.run(["location", "import"] + tenant + ["-"], input: Self.awkward)
            let experiences =
                "clip,url,title,subtitle,identifier_rule,kind\n"
                + #"com.example.MyApp.Clip,https://example.com/q?a=1,"T, ""t""",s,query:l,default"#
            _ = try await binary.run(["experience", "import"] + tenant + ["-"], input: experiences)
            for (noun, start, length) in [
                (
                    "location",
                    "identifier,name,latitude,longitude,radius,\"a,b\",note\r\na,\"Café, \"\"Nord\"\"\",1e-07,-0.5,0.1,x,\"two\r\nlines\"\r\n",
                    4
                ),
                (
                    "experience",
                    "clip,url,kind,location,identifier_rule,title,subtitle\r\ncom.example.MyApp.Clip,https://example.com/q?a=1,default,,query:l,\"T, \"\"t\"\"\",s\r\n",
                    3
                ),
            ] {
                let first = try await binary.run([noun, "export"] + tenant)
                #expect(first.status == 0 && first.output.hasPrefix(start), "\(first.output)")
                let imported = try await binary.run(
                    [noun, "import", "-", "--format", "json"] + tenant, input: first.output)
                #expect(
                    try imported.json() == [
                        "added": 0, "changed": 0, "removed": 0, "unchanged": JSONValue(length),
                    ])
                try await Self.withFile { path in
                    let second = try await binary.run([noun, "export", "--output", path] + tenant)
                    #expect(second.errors == "\(length) \(noun)s in \(path)\n")
                    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(first.output.utf8))
                }
            }
            let unwritable = try await binary.run(
                ["location", "export", "--output", "/no/such/file"] + tenant)
            #expect(unwritable.status == 1 && unwritable.errors.contains("/no/such/file cannot be written"))
            // A device is written to and not replaced. Otherwise a command that root runs would replace /dev/null by a file.
            try await Self.withFile { path in
                try #require(mkfifo(path, 0o600) == 0)
                let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
                let pipe = FileHandle(fileDescriptor: reader, closeOnDealloc: true)
                try await binary.succeed(
                    "location", "export", "--output", path, "--tenant", Installation.tenant)
                let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
                #expect(type != .typeRegular)
                let expected = try await binary.run(["location", "export"] + tenant).output
                #expect(try pipe.readToEnd() == Data(expected.utf8))
            }
        }
    }

    @Test func locationHistoryListsChanges() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let tenant = ["--tenant", Installation.tenant]
            try await binary.succeed(
                "location", "import", "--tenant", Installation.tenant, "-",
                input:
                    "identifier,name,latitude,longitude,radius\nrestaurant_a,Moved,37.334722,-122.008889,120\n"
            )
            let table = try await binary.run(["location", "history", "restaurant_a"] + tenant)
            let lines = table.output.split(separator: "\n")
            #expect(lines.count == 3 && lines[0].hasPrefix("AT"))
            #expect(lines[1].contains("operator:") && lines[1].contains("update"))
            #expect(lines[1].hasSuffix(#"name: "Restaurant A" → "Moved", radius: 100 → 120"#))
            let json = try await binary.run(
                ["location", "history", "restaurant_a", "--limit", "1", "--format", "json"] + tenant
            ).json()
            let entry = try #require(json.arrayValue?.first?.objectValue)
            #expect(json.arrayValue?.count == 1)
            #expect(entry["before"]?.objectValue?["radius"] == 100)
            #expect(entry["after"]?.objectValue?["radius"] == 120)
            let unknown = try await binary.run(["location", "history", "nowhere"] + tenant)
            #expect(unknown.status == 1 && unknown.errors.contains("no location 'nowhere'"))
        }
    }

    /// An error in the last row leaves nothing imported. deploy/bench/import does the same with a million rows.
    @Test func invalidLastRowOf100000ImportsNothing() async throws {
        try await Installation.lend { installation in
            var rows = ["identifier,name,latitude,longitude,radius"]
            rows += (1...99_999).map { "p\($0),Place,1,2,100" }
            rows.append("last,Place,1,2,501")
            let outcome = try await installation.binary.run(
                "location", "import", "--tenant", Installation.tenant, "-",
                input: rows.joined(separator: "\n"))
            #expect(outcome.status == 1)
            #expect(outcome.errors.hasPrefix("-:100001: last: radius: "))
            #expect(outcome.errors.contains("nothing was imported: 1 row is refused"))
            let locations = try await installation.binary.succeed(
                "location", "list", "--tenant", Installation.tenant, "--format", "json"
            ).json()
            #expect(locations.arrayValue?.count == 2)
        }
    }
}
