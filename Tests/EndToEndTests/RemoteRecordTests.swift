import Formats
import Foundation
import LocalServers
import Synchronization
import Testing

/// Compares commands that read and change records at a server with the same commands at its database, and with the API.
@Suite(.timeLimit(.minutes(30))) struct RemoteRecordTests {
    private static let tenant = ["--tenant", Installation.tenant]
    private static let url = "https://example.com/restaurants/restaurant_a"

    /// Runs the closure with an installation, its server, and the command with a key at the server.
    private static func withServer(
        _ keyOptions: [String], resolver: String? = nil,
        _ body: (Installation, DoorstepBinary, RunningServer) async throws -> Void
    ) async throws {
        try await Installation.lend { installation in
            var serving = installation.binary
            serving.environment["DOORSTEP_TOKEN_SECRET"] = "a secret of the tests that is long enough"
            serving.environment["DOORSTEP_RESOLVER"] = resolver
            let key = try await key(installation, keyOptions)
            let (_, status) = try await RunningServer.lend(serving) { server in
                try await body(installation, remote(server, key: key), server)
            }
            #expect(status == 0)
        }
    }

    private static func key(_ installation: Installation, _ options: [String]) async throws -> String {
        let made = try await installation.binary.succeed(
            ["key", "create", "--kind", "secret"] + options + tenant
        ).json()
        return try #require(made.objectValue?["key"]?.stringValue)
    }

    private static func remote(_ server: RunningServer, key: String) -> DoorstepBinary {
        var remote = DoorstepBinary(databaseURL: "")
        remote.environment["DOORSTEP_SERVER"] = server.address
        remote.environment["DOORSTEP_KEY"] = key
        return remote
    }

    @Test func keysWithoutReadScopeRunTheirCommands() async throws {
        try await Self.withServer([]) { installation, remote, server in
            let send = ["send", "--url", Self.url, "--aps", #"{"alert":"A"}"#, "--business"]
            for command in [["lookup", Self.url], ["confirm", Self.url, "--in-region"], send] {
                for options in [[], Self.tenant] { try await remote.succeed(command + options) }
                let other = try await remote.run(command + ["--tenant", "other"])
                #expect(
                    other.status == 1 && other.errors.contains("the key belongs to the tenant 'restaurants'"))
            }
            let restricted = Self.remote(
                server, key: try await Self.key(installation, ["--location", "restaurant_a"]))
            try await restricted.succeed("lookup", Self.url)
            try await restricted.succeed(["confirm", Self.url] + Self.tenant)
            #expect(try await restricted.run("lookup", Self.url + "/../restaurant_b").status == 1)

            // The error shows its code once.
            for command in [["clip", "list"], ["experience", "list"]] {
                let refused = try await restricted.run(command)
                #expect(refused.status == 1)
                #expect(refused.errors.components(separatedBy: "forbidden").count == 2, "\(refused.errors)")
            }
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            var binary = DoorstepBinary(databaseURL: "")
            binary.environment["XDG_CONFIG_HOME"] = folder.path
            let key = try #require(restricted.environment["DOORSTEP_KEY"])
            let done = try await binary.succeed("login", "--server", server.address, input: key + "\n")
            #expect(done.output == "Logged in to restaurants at \(server.address)\n")
            try await binary.succeed("lookup", Self.url)
        }
    }

    private static let instances = [
        "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10", "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e11",
        "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e12",
    ]

    /// Runs a command in both ways.
    /// - Returns: What it printed.
    @discardableResult
    private static func same(
        _ command: [String], _ installation: Installation, _ remote: DoorstepBinary
    ) async throws -> DoorstepBinary.Outcome {
        let near = try await installation.binary.run(command + tenant)
        let far = try await remote.run(command)
        #expect(
            near.status == far.status && near.output == far.output && near.errors == far.errors,
            "\(command): \(near) and \(far)")
        return near
    }

    @Test func recordsAreEqualByCommandServerAndAPI() async throws {
        let scopes = ["read", "manage", "confirm", "register", "notify"].flatMap { ["--scope", $0] }
        try await Self.withServer(scopes) { installation, remote, server in
            let key = try #require(remote.environment["DOORSTEP_KEY"])
            for (number, id) in Self.instances.enumerated() {
                let location = number == 1 ? "restaurant_b" : "restaurant_a"
                let report: JSONValue = [
                    "url": .string("https://example.com/restaurants/\(location)"),
                    "environment": "production", "permission": "authorized",
                    "token": .string("c0ffee15bad1dea50\(number)"),
                ]
                let told = try await server.put("/v1/instances/\(id)", key: key, report)
                #expect(told.status == 201, "\(told)")
            }
            for source in ["nfc", "app_clip_code", "nfc"] {
                try await remote.succeed("confirm", Self.url, "--in-region", "--source", source)
            }
            let sent = try await remote.succeed(
                "send", "--url", Self.url, "--aps", #"{"alert":"A"}"#, "--business"
            ).json()
            let notification = try #require(sent.objectValue?["id"]?.stringValue)
            // The server writes the three records soon after its responses.
            var exported = ""
            for _ in 0..<300 where exported.split(whereSeparator: \.isNewline).count < 4 {
                exported = try await remote.succeed("confirmation", "export").output
            }
            #expect(exported.split(whereSeparator: \.isNewline).count == 4, "\(exported)")

            let audit = try await Self.same(
                ["audit", "--limit", "3", "--format", "json"], installation, remote
            ).json().arrayValue?.compactMap(\.objectValue)
            let last = try #require(audit?.last?["id"])
            #expect(audit?.count == 3)
            for options in [
                [], ["--relation", "locations"], ["--relation", "none"], ["--before", "\(last)"],
                ["--relation", "api_keys", "--limit", "1", "--format", "json"],
                ["--actor", "operator:\(NSUserName())"],
            ] {
                try await Self.same(["audit"] + options, installation, remote)
            }
            for options in [
                [], ["--format", "json"], ["--limit", "1"], ["--location", "restaurant_b"],
                ["--clip", "com.example.MyApp.Clip"], ["--url", Self.url], ["--url", "nonsense"],
            ] {
                try await Self.same(["instance", "list"] + options, installation, remote)
            }
            for options in [
                [], ["--location", "restaurant_a"], ["--from", "2026-01-01"], ["--to", "2026-01-01"],
            ] {
                try await Self.same(["confirmation", "export"] + options, installation, remote)
            }
            let listed = try await Self.same(
                ["delivery", "list", "--format", "json"], installation, remote
            ).json().arrayValue?.compactMap(\.objectValue)
            let delivery = try #require(listed?.first?["id"]?.stringValue)
            #expect(listed?.count == 2)
            for options in [
                [], ["--state", "queued"], ["--state", "expired"], ["--limit", "1"],
                ["--reason", "Unregistered"], ["--since", "2026-03-01T12:30:00Z"],
            ] {
                try await Self.same(["delivery", "list"] + options, installation, remote)
            }
            for options in [
                [notification], [notification, "--limit", "1", "--format", "json"], [delivery],
                [notification, "--after", delivery], ["nonsense"], [Self.instances[0]],
            ] {
                try await Self.same(["delivery", "trace"] + options, installation, remote)
            }

            // No delivery is a dead letter.
            for selection in [
                ["--state", "refused"], [delivery], ["--state", "queued"], [delivery, "--reason", "x"],
            ] {
                try await Self.same(["delivery", "retry"] + selection, installation, remote)
            }

            // The API returns the same.
            for (path, command) in [
                ("/v1/audit-log?limit=100", ["audit"]), ("/v1/deliveries", ["delivery", "list"]),
                ("/v1/instances?order=latest_launch", ["instance", "list"]),
            ] {
                let printed = try await remote.succeed(command + ["--format", "json"]).json()
                #expect(try await server.get(path, key: key)["data"] == printed, "\(path)")
            }
            let trace = try await remote.succeed("delivery", "trace", notification, "--format", "json").json()
            #expect(try await server.get("/v1/notifications/\(notification)", key: key).json == trace)

            let unknown = UUID().uuidString.lowercased()
            let deleted = try await remote.run("instance", "delete", Self.instances[0], unknown)
            #expect(deleted.status == 1 && deleted.errors.contains(unknown))
            #expect(!deleted.errors.contains(Self.instances[0]))
            let near = try await installation.binary.run(["instance", "delete", unknown] + Self.tenant)
            #expect(near.status == 1 && near.errors == deleted.errors)
            try await Self.same(["instance", "list"], installation, remote)
            #expect(try await server.get("/v1/instances/\(Self.instances[0])", key: key).status == 404)
        }
    }

    @Test func domainsAreVerifiedByServer() async throws {
        let records = Mutex<[String: String]>([:])
        try await LocalNameServer.lend({ name in records.withLock { $0[name] }.map { .texts([[$0]]) } }) {
            dns in
            let resolver = "127.0.0.1:\(dns.port)"
            let scopes = ["--scope", "read", "--scope", "manage"]
            try await Self.withServer(scopes, resolver: resolver) { installation, remote, _ in
                let told = try await remote.succeed("domain", "create", "example.com").output
                #expect(told.contains("'doorstep domain verify example.com'"))
                let early = try await remote.run("domain", "verify", "example.com")
                #expect(early.status == 1, "\(early)")
                #expect(early.errors.contains("TXT record _doorstep-challenge.example.com not found"))

                let claim = try await remote.succeed(
                    "domain", "show", "example.com", "--format", "json"
                ).json().arrayOrSelf.first?.objectValue
                let value = try #require(claim?["record"]?.objectValue?["value"]?.stringValue)
                records.withLock { $0["_doorstep-challenge.example.com"] = value }
                let far = try await remote.succeed("domain", "verify", "example.com")
                let near = try await installation.binary.succeed(
                    ["domain", "verify", "example.com", "--resolver", resolver] + Self.tenant)
                #expect(far.output == near.output && far.output.hasPrefix("Proved example.com by the TXT"))
                try await remote.succeed("domain", "create", "unproved.example.com")
                func all(_ binary: DoorstepBinary, _ options: [String]) async throws -> [JSONObject] {
                    let rows =
                        try await binary.succeed(
                            ["domain", "verify", "--all", "--format", "json"] + options
                        ).json().arrayValue ?? []
                    return rows.compactMap(\.objectValue).map { row in
                        var row = row
                        for name in ["checkedAt", "provedAt"] { row[name] = nil }
                        return row
                    }
                }
                let rows = try await all(remote, [])
                #expect(rows == (try await all(installation.binary, ["--resolver", resolver])))
                #expect(rows.count == 1 && rows[0]["tenant"] == "restaurants")
                records.withLock { $0 = [:] }
                #expect(try await remote.run("domain", "verify", "--all").status == 1)
                // At a server, the command refuses options that need a database.
                for options in [["--connect-to", "127.0.0.1:1"], ["--resolver", resolver]] {
                    let refused = try await remote.run(["domain", "verify", "example.com"] + options)
                    #expect(refused.status == 1 && refused.errors.contains("needs a database"))
                }
                let near2 = try await installation.binary.succeed(
                    ["domain", "create", "other.example.com"] + Self.tenant)
                #expect(
                    near2.output.contains("'doorstep domain verify --tenant restaurants other.example.com'"))
            }
        }
    }

    @Test func errorAdviceNamesWorkingCommand() async throws {
        try await Self.withServer(["--scope", "read", "--scope", "manage"]) { _, remote, server in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            var binary = DoorstepBinary(databaseURL: "")
            binary.environment["XDG_CONFIG_HOME"] = folder.path
            for command in [
                ["clip", "list"], ["clip", "list", "--tenant", "x"], ["tenant", "show"],
                ["tenant", "export", "x"], ["domain", "verify", "example.com"],
            ] {
                let fresh = try await binary.run(command)
                #expect(fresh.status == 64, "\(command): \(fresh)")
                for text in ["doorstep login --server URL", "--server", "--database-url"] {
                    #expect(fresh.errors.contains(text), "\(command): \(fresh.errors)")
                }
            }
            let silent = try await binary.run("login", "--server", server.address, input: "")
            #expect(silent.status == 1 && silent.errors.contains("standard input has no key"))
            let insecure = try await binary.run("login", "--server", "http://example.com", input: "k\n")
            #expect(insecure.status == 64 && insecure.errors.contains("it must be an https URL"))
            let keyless = try await binary.run("clip", "list", "--server", server.address)
            #expect(keyless.errors.contains("'doorstep login --server \(server.address)'"))
            #expect(try await binary.succeed("login", "--list", "--format", "json").json() == [])

            let key = try #require(remote.environment["DOORSTEP_KEY"])
            try await binary.succeed("login", "--server", server.address, input: key + "\n")
            #expect(
                try await binary.succeed("login", "--list", "--format", "json").json()
                    == [["tenant": "restaurants", "server": .string(server.address)]])
            let shown = try await binary.succeed("tenant", "show")
            let named = try await binary.succeed("tenant", "show", "restaurants")
            #expect(shown.output == named.output && shown.output.contains("restaurants"))
            #expect(
                try await binary.succeed("tenant", "update", "--name", "R").output
                    == "Updated tenant restaurants\n")
            #expect(
                try await binary.succeed("tenant", "collapse", "--by", "url").output
                    == "Notifications of restaurants collapse by: url\n")
            #expect(try await binary.succeed("tenant", "export").output.contains(#""slug":"restaurants""#))
            for command in [["clip", "list", "--tenant", "nosuch"], ["tenant", "show", "nosuch"]] {
                let other = try await binary.run(command)
                #expect(other.status == 1, "\(other)")
                #expect(
                    other.errors.contains(
                        "there is no login for the tenant 'nosuch'; there are logins for restaurants at \(server.address)"
                    ), "\(other.errors)")
            }
            var keyAlone = binary
            keyAlone.environment["DOORSTEP_KEY"] = key
            let serverless = try await keyAlone.run("clip", "list")
            #expect(serverless.status == 1 && serverless.errors.contains("DOORSTEP_SERVER"))
        }
    }
}

extension JSONValue {
    /// The items of an array, or the value alone.
    fileprivate var arrayOrSelf: [JSONValue] { arrayValue ?? [self] }
}
