import Formats
import Foundation
import LocalServers
import Synchronization
import Testing

/// Compares commands at a server over HTTP with the same commands at its database.
@Suite struct RemoteCommandTests {
    /// Runs the closure with a server, a tenant in its database, and the command with a key of another tenant at the server.
    private static func withServer(
        _ body: (Installation, DoorstepBinary, RunningServer) async throws -> Void
    ) async throws {
        try await Installation.lend { installation in
            for tenant in ["near", "far"] {
                try await installation.binary.succeed("tenant", "create", tenant, "--name", "The same")
            }
            let scopes = ["read", "manage", "lookup", "confirm", "compose", "notify"].flatMap {
                ["--scope", $0]
            }
            // Both tenants have a key, so that their quotas are used equally.
            let create = ["key", "create", "--kind", "secret"] + scopes
            try await installation.binary.succeed(create + ["--tenant", "near"])
            let made = try await installation.binary.succeed(create + ["--tenant", "far"]).json()
            let key = try #require(made.objectValue?["key"]?.stringValue)
            var serving = installation.binary
            serving.environment["DOORSTEP_TOKEN_SECRET"] = "a secret of the tests that is long enough"
            serving.environment["DOORSTEP_OUTBOUND_ALLOW"] = "127.0.0.1"
            let (_, status) = try await RunningServer.lend(serving) { server in
                var remote = DoorstepBinary(databaseURL: "")
                remote.environment["DOORSTEP_SERVER"] = server.address
                remote.environment["DOORSTEP_KEY"] = key
                try await body(installation, remote, server)
            }
            #expect(status == 0)
        }
    }

    private static let clip = ["--clip", "com.example.MyApp.Clip"]
    private static let url = "https://example.com/a"

    /// The arguments, without the options for a server or a database.
    private static let commands: [[String]] = [
        ["clip", "list"], ["clip", "show", "com.example.MyApp.Clip"],
        ["clip", "create", "--team-id", "ABCDE12345", "--bundle-id", "com.example.MyApp.Clip"],
        ["clip", "create", "--team-id", "ABCDE12345", "--bundle-id", "com.example.MyApp.Clip"],
        ["clip", "update", "com.example.MyApp.Clip", "--team-id", "FGHIJ67890", "--multi-business"],
        ["clip", "update", "com.example.MyApp.Clip", "--app-id-prefix", "KLMNO12345"],
        ["clip", "show", "com.example.MyApp.Clip", "--format", "json"],
        ["clip", "update", "com.example.Other.Clip", "--multi-business"], ["clip", "list"],
        [
            "location", "create", "a", "--name", "Café", "--latitude=-1.5", "--longitude", "2", "--radius",
            "100", "--metadata", "own-note=1", "--detail", "phone=1 & 2",
        ],
        [
            "location", "create", "b/ %2F+", "--name", "B", "--latitude", "0", "--longitude", "2", "--radius",
            "1",
        ],
        ["location", "create", "a", "--name", "A", "--latitude", "0", "--longitude", "2", "--radius", "1"],
        ["location", "create", "c", "--name", "A", "--latitude", "0", "--longitude", "2", "--radius", "501"],
        ["location", "show", "b/ %2F+"], ["location", "show", "none"],
        ["location", "update", "a", "--radius", "250", "--detail", "phone=", "--metadata", "own-note=2"],
        ["location", "update", "none", "--radius", "250"],
        ["location", "list"], ["location", "list", "--limit", "1"], ["location", "list", "--after", "a"],
        ["location", "list", "--format", "json"],
        ["experience", "create", "--url", url, "--location", "a", "--title", "A"] + clip,
        ["experience", "create", "--url", url, "--location", "a"] + clip,
        ["experience", "create", "--url", "https://example.com/b", "--location", "none"] + clip,
        ["experience", "create", "--url", "https://example.com/b", "--clip", "com.example.Other.Clip"],
        ["experience", "create", "--url", "https://example.com", "--kind", "demo"] + clip,
        ["experience", "create", "--url", "https://example.com", "--kind", "default"] + clip,
        ["experience", "create", "--url", "https://example.com/c", "--kind", "default"] + clip,
        ["experience", "update", url, "--title", "", "--subtitle", "B", "--location", "b/ %2F+"],
        ["experience", "update", "https://example.com/none", "--unbound"],
        ["experience", "show", url], ["experience", "list"], ["experience", "list", "--format", "json"],
        ["code", "create", "x y", "--url", url], ["code", "create", "x y", "--url", url],
        ["code", "update", "x y", "--url", "https://example.com/a/b"], ["code", "show", "x y"],
        ["code", "list"], ["code", "update", "z", "--url", url],
        ["lookup", "\(url)/b?x=1"], ["lookup", "https://example.org/"], ["lookup", "nonsense"],
        ["confirm", url], ["confirm", url, "--latitude", "0", "--longitude=2", "--source", "nfc"],
        ["confirm", url, "--no-in-region"], ["confirm", url, "--latitude", "nan", "--longitude", "1"],
        ["confirm", url, "--latitude", "50", "--longitude", "2", "--horizontal-accuracy", "10.5"],
        ["confirm", url, "--error-code", "1"], ["confirm", "https://example.org/", "--in-region"],
        ["payload", url, "--title", "A", "--headers", #"{"id":"6A1F2C7E-51C5-4A0B-9BF1-0A3C5E6D7F80"}"#],
        ["payload", "https://example.org/", "--title", "A"], ["payload", url, "--aps", #"{"alert":1}"#],
        ["send", "--url", "https://example.org/", "--aps", "{}", "--business"],
        ["send", "--url", url, "--aps", #"{"alert":"A"}"#, "--instance", "nobody"],
        ["diagnose", "\(url)/b?x=1"], ["diagnose", "nonsense", "--format", "json"],
        ["location", "delete", "b/ %2F+"], ["location", "delete", "b/ %2F+", "--cascade"],
        ["location", "delete", "b/ %2F+"], ["experience", "delete", url],
        ["experience", "delete", "https://example.com", "--kind", "demo"],
        ["code", "delete", "x y"], ["code", "delete", "x y", "--format", "json"],
        ["clip", "delete", "com.example.MyApp.Clip"],
        ["clip", "delete", "com.example.MyApp.Clip", "--cascade", "--format", "json"],
        ["clip", "delete", "com.example.MyApp.Clip"], ["location", "list"],
    ]

    @Test(.timeLimit(.minutes(30))) func remoteCommandsBehaveLikeLocalOnes() async throws {
        try await Self.withServer { installation, remote, _ in
            for arguments in Self.commands {
                let near = try await installation.binary.run(arguments + ["--tenant", "near"])
                let far = try await remote.run(arguments)
                Self.expectTheSame(near, far, arguments)
                // Both commands have changed the database in the same way.
                for noun in ["location", "experience"] {
                    let (left, right) = (
                        try await installation.binary.succeed(noun, "export", "--tenant", "near"),
                        try await installation.binary.succeed(noun, "export", "--tenant", "far")
                    )
                    #expect(left.output == right.output, "\(arguments)")
                }
            }
        }
    }

    /// Expects equal outcomes. A server's refusal also has a request ID.
    private static func expectTheSame(
        _ near: DoorstepBinary.Outcome, _ far: DoorstepBinary.Outcome, _ arguments: [String]
    ) {
        let areErrorsTheSame =
            near.errors == far.errors
            || !near.errors.isEmpty && far.errors.hasPrefix(near.errors.dropLast() + " (")
                && far.errors.contains("request ")
        #expect(
            near.status == far.status && near.output == far.output && areErrorsTheSame,
            "\(arguments): \(near) and \(far)")
    }

    private static let places = """
        identifier,name,latitude,longitude,radius,details.phone,own-note
        a,Café,1,2,100,1 & 2,"1, or 2"
        b/ %2F+,B,1,2,100,,
        c,"C ""c"" d",1,2,100,,

        """
    private static let shops = """
        clip,url,kind,location,identifier_rule,title,subtitle
        com.example.MyApp.Clip,https://example.com/b,advanced,,path:1,,
        com.example.MyApp.Clip,https://example.com/a,advanced,a,,A,a
        com.example.MyApp.Clip,https://example.com/a,default,,,,

        """
    private static let codes = "code,url\nx y,https://example.com/a\nz,https://example.com/b/1\n"

    /// The arguments and the standard input of imports.
    private static let imports: [([String], String?)] = [
        (["location", "import", "-", "--dry-run"], places), (["location", "import", "-"], places),
        (["location", "import", "-", "--format", "json"], places),
        (["location", "import", "-"], places.replacing("Café", with: "Cafe")),
        (["location", "import", "-", "--dry-run", "--format", "json"], places),
        (["location", "import", "-"], "identifier,name\na,A\n"),
        (["location", "import", "-"], places + "d,D,91,0,1,,\nd,,0,0,1,,\na,A,1,2,3,,\n"),
        (["location", "import", "/nowhere/at/all.csv"], nil),
        (["clip", "create", "--team-id", "ABCDE12345", "--bundle-id", "com.example.MyApp.Clip"], nil),
        (["experience", "import", "-", "--dry-run"], shops), (["experience", "import", "-"], shops),
        (["experience", "import", "-", "--dry-run"], shops.replacing(",A,a", with: ",,")),
        (["code", "import", "-"], codes), (["code", "import", "-", "--dry-run", "--prune"], "code,url\n"),
        (["location", "import", "-", "--prune"], "identifier,name,latitude,longitude,radius\n"),
        (["location", "import", "-", "--prune", "--dry-run"], "identifier,name,latitude,longitude,radius\n"),
        (
            ["location", "import", "-", "--prune", "--allow-removals", "3"],
            "identifier,name,latitude,longitude,radius\n"
        ),
        (["location", "export"], nil), (["experience", "export"], nil), (["tenant", "show"], nil),
        (["domain", "list"], nil), (["domain", "show", "example.com"], nil),
        (["domain", "content", "set", "example.com", "-"], "{}"),
        (["confirmation", "list"], nil), (["confirmation", "count", "--from", "2026-01-01"], nil),
    ]

    @Test(.timeLimit(.minutes(30))) func remoteImportsAndExportsMatchLocalOnes() async throws {
        try await Self.withServer { installation, remote, _ in
            for (arguments, input) in Self.imports {
                let isOfTenants = arguments[0] == "tenant"
                let near = try await installation.binary.run(
                    arguments + (isOfTenants ? ["near"] : ["--tenant", "near"]), input: input)
                let far = try await remote.run(arguments + (isOfTenants ? ["far"] : []), input: input)
                // IDs, times and slugs differ between the tenants.
                if !isOfTenants { Self.expectTheSame(near, far, arguments) }
                #expect(near.status == far.status)
                for noun in ["location", "experience"] {
                    let (left, right) = (
                        try await installation.binary.succeed(noun, "export", "--tenant", "near"),
                        try await installation.binary.succeed(noun, "export", "--tenant", "far")
                    )
                    #expect(left.output == right.output, "\(arguments)")
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(30))) func remoteCommandsManageDomainsAndKeys() async throws {
        try await Self.withServer { installation, remote, _ in
            let claimed = try await remote.succeed("domain", "create", "example.com", "--format", "json")
                .json()
            let again = try await remote.succeed("domain", "claim", "example.com", "--format", "json").json()
            #expect(claimed == again && claimed.objectValue?["status"] == "claimed")
            let content = #"{"webcredentials":{"apps":["ABCDE12345.com.example"]}}"#
            try await remote.succeed("domain", "content", "set", "example.com", "-", input: content)
            for command in [["list"], ["show", "example.com"], ["content", "show", "example.com"]] {
                let (near, far) = (
                    try await installation.binary.succeed(["domain"] + command + ["--tenant", "far"]),
                    try await remote.succeed(["domain"] + command)
                )
                #expect(near.output == far.output && !near.output.isEmpty)
            }
            try await remote.succeed("domain", "content", "remove", "example.com")
            #expect(try await remote.run("domain", "content", "remove", "example.com").status == 1)
            try await remote.succeed("domain", "delete", "example.com")
            #expect(try await remote.run("domain", "delete", "example.com").status == 1)

            // The key may not manage keys.
            let refused = try await remote.run("key", "list")
            #expect(refused.status == 1 && refused.errors.contains("manage_keys"))
            let made = try await installation.binary.succeed(
                "key", "create", "--tenant", "far", "--kind", "secret", "--scope", "read", "--scope",
                "manage_keys"
            ).json()
            var manager = remote
            manager.environment["DOORSTEP_KEY"] = made.objectValue?["key"]?.stringValue
            let created = try await manager.succeed(
                "key", "create", "--kind", "secret", "--scope", "read", "--expires-in-days", "1", "--name",
                "Report script"
            ).json().objectValue
            let id = try #require(created?["id"]?.stringValue)
            #expect(created?["key"]?.stringValue?.hasPrefix("dsk_") == true && created?["kind"] == "secret")
            let wider = try await manager.run("key", "create", "--kind", "secret", "--scope", "manage")
            #expect(wider.status == 1 && wider.errors.contains("wider_key"))
            for command in [["list"], ["show", id]] {
                let arguments = ["key"] + command + ["--format", "json"]
                let near = try await installation.binary.succeed(arguments + ["--tenant", "far"]).json()
                let far = try await manager.succeed(arguments).json()
                #expect(Self.keys(near) == Self.keys(far))
            }
            let rotated = try await manager.succeed("key", "rotate", id, "--overlap", "0.5").json()
            #expect(rotated.objectValue?["key"]?.stringValue?.hasPrefix("dsk_") == true)
            let updated = try await manager.succeed("key", "update", id, "--expires-in-days", "2")
            #expect(updated.output == "Updated key \(id)\n")
            let key = try await manager.succeed("key", "show", id, "--format", "json").json().objectValue
            #expect(key?["name"] == "Report script")
            for (name, member) in [("Café", "Café"), ("", .null)] as [(String, JSONValue)] {
                let json = try await manager.succeed("key", "update", id, "--name", name, "--format", "json")
                #expect(try json.json().objectValue?["name"] == member)
                #expect(try json.json().objectValue?["expiresAt"] != .null)
            }
            #expect(try await manager.succeed("key", "revoke", id).output == "Revoked key \(id)\n")
            let shown = try await manager.succeed("key", "show", id, "--format", "json").json()
            #expect(shown.objectValue?["status"] == "revoked")
            let update = try await manager.run("key", "update", id, "--no-expiry")
            #expect(update.status == 1 && update.errors.contains("key_not_active"))
        }
    }

    @Test(.timeLimit(.minutes(30))) func remoteCommandsManageWebhooks() async throws {
        try await Self.withServer { _, remote, _ in
            let taken = Mutex<[String]>([])
            try await LocalWebServer.lend({ request in
                taken.withLock { $0.append(request.path) }
                return .init("", status: 204)
            }) { receiver in
                func webhook(_ words: String...) async throws -> JSONValue {
                    try await remote.succeed(["webhook"] + words + ["--format", "json"]).json()
                }
                let url = "http://127.0.0.1:\(receiver.port)/hooks"
                let made = try await webhook("create", url, "--event", "key.revoked", "--name", "Orders")
                let id = try #require(made.objectValue?["id"]?.stringValue)
                let secret = try #require(made.objectValue?["secret"]?.stringValue)
                let shown = try #require(try await webhook("list").arrayValue?.first)
                #expect(
                    shown.objectValue?["secret"] == nil && shown.objectValue?["events"] == ["key.revoked"])
                #expect(try await webhook("show", id) == shown && shown.objectValue?["name"] == "Orders")
                let unnamed = try await webhook("update", id, "--name", "")
                #expect(unnamed.objectValue?["name"] == .null)
                let off = try await webhook("update", id, "--disable", "--event", "domain.lapsed")
                #expect(
                    off.objectValue?["enabled"] == false && off.objectValue?["events"] == ["domain.lapsed"])
                let refused = try await remote.run(["webhook", "test", id])
                #expect(refused.status == 1 && refused.errors.contains("disabled"), "\(refused.errors)")
                #expect(try await webhook("update", id, "--enable").objectValue?["enabled"] == true)
                let rotated = try await webhook("rotate", id).objectValue?["secret"]?.stringValue
                #expect(rotated?.hasPrefix("whsec_") == true && rotated != secret)

                let message = try #require(try await webhook("test", id).objectValue?["message"])
                var logged: [JSONValue] = []
                repeat {
                    await Task.yield()
                    logged = try await webhook("messages", id).arrayValue ?? []
                } while logged.first?.objectValue?["state"] != "taken"
                #expect(logged.count == 1 && logged[0].objectValue?["id"] == message)
                #expect(logged[0].objectValue?["type"] == "doorstep.test")
                let again = try await webhook("replay", id, "--message", message.stringValue ?? "")
                #expect(again.objectValue?["queued"] == 1)
                while taken.withLock({ $0.count }) < 2 { await Task.yield() }
                #expect(
                    try await webhook("replay", id, "--since", "2026-03-01T12:30:00Z").objectValue?["queued"]
                        == 1)
                #expect(try await webhook("delete", id).objectValue?["deleted"] == .string(id))
                #expect(try await webhook("list") == [])
            }
        }
    }

    /// The keys by ID, without the day of their last use, which may change between two commands.
    private static func keys(_ printed: JSONValue) -> [String: JSONObject] {
        let keys = printed.arrayValue?.compactMap(\.objectValue) ?? [printed.objectValue ?? [:]]
        return keys.reduce(into: [:]) { all, key in
            var key = key
            key["lastUsedOn"] = nil
            all[key["id"]?.stringValue ?? ""] = key
        }
    }

    @Test(.timeLimit(.minutes(30))) func remoteCommandOutsideKeyOrServerIsRejected() async throws {
        try await Self.withServer { installation, remote, server in
            let other = try await remote.run("clip", "list", "--tenant", "near")
            #expect(other.status == 1 && other.errors.contains("the key belongs to the tenant 'far'"))
            let same = try await remote.run("clip", "list", "--tenant", "far")
            #expect(same.status == 0)
            // A flag that names a database has precedence over the environment.
            let database = try await remote.run(
                "location", "list", "--tenant", Installation.tenant, "--database-url",
                installation.databaseURL)
            #expect(database.status == 0 && database.output.contains("restaurant_a"))
            let excluded = try await remote.run(
                "clip", "list", "--server", server.address, "--database-url", installation.databaseURL)
            #expect(excluded.status == 64)
            let local = try await remote.run("location", "history", "a", "--server", server.address)
            #expect(local.status == 1 && local.errors.contains("needs a database"))
            // The same holds if the environment also names a database.
            var both = remote
            both.environment["DATABASE_URL"] = installation.databaseURL
            let unclear = try await both.run("location", "history", "a", "--tenant", "far")
            #expect(unclear.status == 1 && unclear.errors.contains("needs a database"))
            for command in [["tenant", "create", "new", "--name", "New"], ["tenant", "list"], ["migrate"]] {
                let refused = try await both.run(command + ["--server", server.address])
                #expect(refused.status == 64 && refused.errors.contains("needs a database"))
            }
            // The same holds if the environment names the server and no flag names a database.
            for command in [["tenant", "list"], ["status"], ["migrate"]] {
                let refused = try await both.run(command)
                #expect(refused.status == 1 && refused.errors.contains("needs a database"), "\(command)")
            }
            try await both.succeed("tenant", "list", "--database-url", installation.databaseURL)

            // The key in the environment is sent only to the server in the environment, in any spelling of its address.
            let port = server.address.split(separator: ":").last ?? ""
            try await remote.succeed("clip", "list", "--server", "HTTP://127.0.0.1:\(port)/")
            let elsewhere = try await remote.run("clip", "list", "--server", "http://localhost:\(port)")
            #expect(
                elsewhere.status != 0 && elsewhere.errors.contains("no key"), "\(elsewhere.errors)")
            var unbound = remote
            unbound.environment["DOORSTEP_SERVER"] = nil
            try await unbound.succeed("clip", "list", "--server", server.address)

            let insecure = try await remote.run("clip", "list", "--server", "http://example.com")
            #expect(insecure.status == 64)

            var wrong = remote
            wrong.environment["DOORSTEP_KEY"] = installation.publishable
            let publishable = try await wrong.run("clip", "list")
            #expect(
                publishable.status == 1 && publishable.output.isEmpty && publishable.errors.contains("read"))
            wrong.environment["DOORSTEP_KEY"] = "dsk_none"
            let unknown = try await wrong.run("clip", "list")
            #expect(unknown.status == 1 && !unknown.errors.contains("dsk_none"))
            wrong.environment["DOORSTEP_SERVER"] = "http://127.0.0.1:1"
            let away = try await wrong.run("clip", "list")
            #expect(away.status == 1 && away.errors.contains("the server cannot be reached"))
        }
    }

    @Test(.timeLimit(.minutes(30))) func loginStoresKeyUntilLogout() async throws {
        try await Self.withServer { _, remote, server in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            var binary = DoorstepBinary(databaseURL: "")
            binary.environment["XDG_CONFIG_HOME"] = folder.path
            let key = try #require(remote.environment["DOORSTEP_KEY"])
            #expect(try await binary.run("clip", "list").status == 64)

            let refused = try await binary.run("login", "--server", server.address, input: "dsk_none\n")
            #expect(refused.status == 1)
            let done = try await binary.succeed("login", "--server", server.address, input: key + "\n")
            #expect(done.output == "Logged in to far at \(server.address)\n")
            let file = folder.appendingPathComponent("doorstep/logins.json").path
            let permissions = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
            #expect(permissions as? Int == 0o600)

            let whoami = try await binary.succeed("whoami", "--format", "json")
            #expect(!whoami.output.contains(key))
            let shown = try whoami.json().objectValue
            #expect(shown?["server"] == .string(server.address) && shown?["tenant"] == "far")
            #expect(shown?["kind"] == "secret" && shown?["locations"] == .null)
            #expect(shown?["scopes"]?.arrayValue?.contains("manage") == true)
            let created = try await binary.succeed(
                "clip", "create", "--team-id", "ABCDE12345", "--bundle-id", "com.example.MyApp.Clip")
            #expect(created.output == "Created clip com.example.MyApp.Clip\n")
            #expect(try await remote.succeed("clip", "list").output.contains("com.example.MyApp.Clip"))
            #expect(try await binary.run("clip", "list", "--tenant", "near").status != 0)

            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            let exposed = try await binary.run("clip", "list")
            #expect(exposed.status != 0 && !exposed.errors.contains(key))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            #expect(try await binary.succeed("logout").output == "Forgot 1 key\n")
            #expect(try await binary.run("whoami").status == 64)
            #expect(try await binary.run("clip", "list").status == 64)

            // Two concurrent logins do not overwrite each other.
            let addresses = [server.address, server.address.replacing("127.0.0.1", with: "localhost")]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for address in addresses {
                    group.addTask { [binary] in
                        _ = try await binary.succeed("login", "--server", address, input: key + "\n")
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await binary.succeed("logout").output == "Forgot 2 keys\n")
            // A file that could not be read again is not written.
            let long = """
                {"logins": [{"server": "https://example.com", "tenant": "t", "key": "\(String(repeating: "k", count: 65_400))"}]}
                """
            try Data(long.utf8).write(to: URL(filePath: file))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            let full = try await binary.run("login", "--server", server.address, input: key + "\n")
            #expect(full.status == 1 && full.errors.contains(file))
            #expect(try String(contentsOfFile: file, encoding: .utf8) == long)
        }
    }
}
