import Formats
import Foundation
import TestSupport
import Testing

/// Input, output and exit status of the command.
@Suite struct CommandTests {
    @Test(arguments: ["LATIN1", "SQL_ASCII"])
    func databaseInOtherEncodingIsRejectedByEachCommand(_ encoding: String) async throws {
        try await TestServer.withDatabase(encoding: encoding) { databaseURL in
            let binary = DoorstepBinary(databaseURL: databaseURL)
            for arguments in [["migrate"], ["serve", "--port", "0"], ["status"], ["tenant", "list"]] {
                let outcome = try await binary.run(arguments)
                #expect(outcome.status == 1, "\(arguments)")
                #expect(
                    outcome.errors.contains("The database's encoding must be UTF8; got \(encoding)"),
                    "\(arguments): \(outcome.errors)")
            }
        }
    }

    /// A command of the dumped help, with its subcommands.
    private struct CommandHelp: Decodable {
        let commandName: String
        let abstract: String?
        let discussion: String?
        let subcommands: [CommandHelp]?

        /// Commands whose help does not begin with a verb, or has no example.
        func incomplete(_ path: String = "") -> [String] {
            if commandName == "help" { return [] }
            let name = "\(path) \(commandName)"
            let isComplete =
                abstract?.range(of: "^[A-Z][a-z]+ (?!of )", options: .regularExpression) != nil
                && !["A ", "An ", "The ", "What ", "Where "].contains { abstract?.hasPrefix($0) == true }
                && discussion?.contains("Example: doorstep") == true
            return (isComplete ? [] : [name]) + (subcommands ?? []).flatMap { $0.incomplete(name) }
        }

        func examples() -> [String] {
            let own = (discussion ?? "").matches(of: /Example: (doorstep (?:[^\n]|\n(?!\n))*)/).map {
                String($0.1).replacing("\n", with: " ")
            }
            return own + (subcommands ?? []).filter { $0.commandName != "help" }.flatMap { $0.examples() }
        }
    }

    private struct HelpDump: Decodable {
        let command: CommandHelp
    }

    @Test func helpOfEveryCommandBeginsWithVerbAndHasExample() async throws {
        let outcome = try await DoorstepBinary(databaseURL: "").run(["--experimental-dump-help"])
        let help = try JSONDecoder().decode(HelpDump.self, from: Data(outcome.output.utf8))
        #expect(help.command.subcommands?.isEmpty == false)
        #expect(help.command.incomplete().isEmpty)
    }

    /// A command reads all its arguments before it refuses an unknown option. So no example is executed.
    @Test func argumentsOfEveryExampleAreAccepted() async throws {
        var binary = DoorstepBinary(databaseURL: "host=127.0.0.1 port=1")
        binary.environment["DOORSTEP_TENANT"] = "acme"
        let dump = try await binary.run(["--experimental-dump-help"]).output
        let examples = try JSONDecoder().decode(HelpDump.self, from: Data(dump.utf8)).command.examples()
        #expect(examples.count > 100)
        let program = try DoorstepBinary.executable().path
        let zeros = String(repeating: "0", count: 32)
        let samples = [
            ("attest-key revoke KEY-ID", "attest-key revoke \(Data(count: 32).base64EncodedString())"),
            ("WEBHOOK-ID", "wh_\(zeros)"), ("[A-Z]+-ID", UUID().uuidString), ("SHA-256", zeros + zeros),
        ]
        for example in examples where !example.hasPrefix("doorstep postgres ") {
            let text = samples.reduce(example) {
                $0.replacingOccurrences(of: $1.0, with: $1.1, options: .regularExpression)
            }
            // Without what follows a redirection. --yes: there is no terminal to ask on.
            let command = text.dropFirst("doorstep".count).split(separator: #/ [<>|] /#)[0]
            let yes = command.hasPrefix(" tenant delete ") ? "--yes" : ""
            let outcome = try await binary.run(
                ["-c", "'\(program)'\(command) \(yes) --not-an-option"], of: URL(filePath: "/bin/sh"))
            #expect(
                outcome.status == 64 && outcome.errors.hasPrefix("Error: Unknown option '--not-an-option'"),
                "\(example): \(outcome.errors)")
        }
    }

    @Test(arguments: [
        (["locaton", "list"], "There is no command 'locaton'. Did you mean 'location'?"),
        (["location", "lst"], "There is no command 'lst'. Did you mean 'list'?"),
        (["tenant", "udpate", "--name", "A"], "There is no command 'udpate'. Did you mean 'update'?"),
        (["xyz"], "Unexpected argument 'xyz'"), (["lookup", "serve"], "no database or server is named"),
    ]) func misspelledCommandIsCorrected(arguments: [String], message: String) async throws {
        let outcome = try await DoorstepBinary(databaseURL: "").run(arguments)
        #expect(outcome.status == 64 && outcome.errors.hasPrefix("Error: \(message)"), "\(outcome.errors)")
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func completionScriptIsPrinted(shell: String) async throws {
        let binary = DoorstepBinary(databaseURL: "")
        let script = try await binary.succeed("completions", shell).output
        #expect(script.contains("doorstep") && script.contains("measure-host"))
        #expect(try await binary.succeed("--generate-completion-script", shell).output == script)
    }

    @Test func versionNamesCommitAndCompiler() async throws {
        let version = try await DoorstepBinary(databaseURL: "").succeed("--version").output
        #expect(
            version.wholeMatch(
                of: /[0-9]+\.[0-9]+\.[0-9]+ \(commit [0-9a-z-]+(?: of [0-9-]{10})?, Swift 6[^)]*\)\n/) != nil,
            "\(version)")
    }

    @Test func helpIsAvailableForEveryCommand() async throws {
        let binary = DoorstepBinary(databaseURL: "")
        let nouns = ["tenant", "clip", "location", "experience", "code", "domain", "key", "webhook"]
        let verbs = ["create", "list", "show", "update", "delete"]
        for command in [
            [], ["serve"], ["settings"], ["migrate"], ["status"], ["tenant"], ["tenant", "limit"],
            ["tenant", "export"], ["tenant", "import"],
            ["location", "import"], ["location", "export"], ["location", "history"], ["location", "sign"],
            ["experience", "export"], ["experience", "lint"],
            ["key", "rotate"], ["receipt-key", "rotate"], ["confirmation", "list"],
            ["confirmation", "export"], ["confirmation", "count"], ["lookup"], ["confirm"], ["payload"],
            ["postgres"], ["code", "export"], ["diagnose"],
            ["domain", "verify"],
            ["domain", "check"], ["domain", "content", "set"], ["domain", "content", "show"],
            ["domain", "content", "remove"],
            // Aliases.
            ["experience", "add"], ["domain", "claim"], ["domain", "release"], ["key", "revoke"],
            ["webhook", "remove"],
        ] + nouns.flatMap({ noun in verbs.map { [noun, $0] } }) {
            let outcome = try await binary.run(command + ["--help"])
            #expect(outcome.status == 0, "\(command)")
            #expect(outcome.output.contains("USAGE: doorstep"), "\(command)")
        }
    }

    /// Help works without the required arguments.
    @Test(arguments: [["serve"], ["location", "show"], ["tenant", "create"]])
    func databaseOptionsAreShownByHelpDatabaseOnly(command: [String]) async throws {
        let binary = DoorstepBinary(databaseURL: "")
        let help = try await binary.run(command + ["--help"])
        #expect(help.status == 0 && help.output.contains("--help-database"))
        #expect(!help.output.contains("--database-url <") && !help.output.contains("--embedded-postgres <"))
        let database = try await binary.run(command + ["--help-database"])
        #expect(database.status == 0 && database.errors.isEmpty)
        #expect(database.output.hasPrefix("OPTIONS:"))
        #expect(database.output.contains("--database-url <conninfo>"))
        #expect(database.output.contains("--embedded-postgres <dir>"))
    }

    @Test(arguments: [
        ["tenant"], ["nonsense"], ["tenant", "create"], ["tenant", "create", "Not A Slug", "--name", "x"],
        ["key", "create", "--tenant", "x", "--kind", "other"], ["lookup", "--tenant", "x"],
        ["confirm", "--tenant", "x", "https://example.com", "--source", "telepathy"],
        ["clip", "create", "--tenant", "x", "--team-id", "short", "--bundle-id", "com.example.Clip"],
        ["tenant", "limit", "x", "--key", "0"], ["tenant", "limit", "x", "--client", "1:2:3"],
        ["key", "create", "--tenant", "x", "--kind", "publishable", "--scope", "compose"],
        ["key", "create", "--tenant", "x", "--kind", "secret", "--expires-in-days", "0"],
        ["key", "create", "--tenant", "x", "--kind", "publishable", "--location", "a"],
        ["key", "create", "--tenant", "x", "--kind", "secret", "--location", ""],
        ["key", "create", "--tenant", "x", "--kind", "secret", "--scope", "manage", "--location", "a"],
        ["tenant", "limit", "x", "--new-instances", "0"], ["tenant", "limit", "x"],
        ["serve", "--new-instance-limit", "none"],
        ["serve", "--key-limit", "none"], ["serve", "--trusted-proxy", "10.0.0.1/8"],
        ["serve", "--table-max-age", "0"], ["serve", "--table-max-age", "8761"],
        ["clip", "list"], ["serve", "--max-connections", "0"], ["serve", "--shutdown-timeout", "3601"],
        ["serve", "--apns-timeout", "301"], ["serve", "--instance-retention", "366"],
        ["serve", "--port", "99999"], ["serve", "--pool-size", "0"], ["serve", "--log-level", "loud"],
        ["location", "list", "--tenant", "x", "--limit", "0"],
        ["location", "update", "--tenant", "x", "a"],
        ["location", "update", "--tenant", "x", "a", "--metadata", "phone"],
        ["clip", "update", "--tenant", "x", "com.example.MyApp.Clip"],
        ["clip", "update", "--tenant", "x", "com.example.MyApp.Clip", "--parent-bundle-id", "no dots"],
        ["clip", "update", "--tenant", "x", "com.example.MyApp.Clip", "--app-store-id", "0"],
        ["experience", "update", "--tenant", "x", "https://example.com"],
        [
            "experience", "update", "--tenant", "x", "https://example.com", "--unbound", "--location", "a",
        ],
        ["key", "update", "--tenant", "x", "00000000-0000-0000-0000-000000000000"],
        [
            "key", "update", "--tenant", "x", "00000000-0000-0000-0000-000000000000", "--no-expiry",
            "--expires-in-days", "1",
        ],
        ["domain", "update", "--tenant", "x", "example.com"],
        ["webhook", "update", "--tenant", "x", "wh_0192f8a4c0de70008000000000000012"],
        ["webhook", "show", "--tenant", "x", "wh_x"],
        ["webhook", "replay", "--tenant", "x", "wh_0192f8a4c0de70008000000000000012"],
        ["location", "history", "--tenant", "x", "a", "--limit", "0"], ["tenant", "delete", "x"],
        ["domain", "check", "example.com", "--parent-bundle-id", "com.example.App"],
        ["code", "export", "--tenant", "x"], ["code", "export", "--tenant", "x", "--format", "json"],
        ["code", "export", "--tenant", "x", "--format", "print", "--locations"],
        ["code", "export", "--tenant", "x", "--format", "print", "--template", "https://e.com/{identifier}"],
        [
            "code", "export", "--tenant", "x", "--format", "print", "--locations", "--template",
            "https://example.com/a",
        ],
        ["code", "export", "--tenant", "x", "--format", "generator", "--background", "white"],
    ])
    func wrongUsageExitsWithStatus64(arguments: [String]) async throws {
        let outcome = try await DoorstepBinary(databaseURL: "").run(arguments)
        // Without a subcommand, the help is the requested output.
        #expect(outcome.status == (arguments == ["tenant"] ? 0 : 64))
    }

    @Test(arguments: [["tenant", "list"], ["tenant", "show", "t"], ["location", "list"], ["serve"]])
    func twoDatabasesAreRefused(command: [String]) async throws {
        var binary = DoorstepBinary(databaseURL: "")
        binary.environment["DOORSTEP_TENANT"] = "not a slug"
        let outcome = try await binary.run(command + ["--database-url", "x", "--embedded-postgres", "y"])
        #expect(
            outcome.status == 64
                && outcome.errors.hasPrefix(
                    "Error: --database-url and --embedded-postgres exclude each other"),
            "\(outcome.errors)")
    }

    @Test(arguments: [
        ("host=127.0.0.1 port=1 dbname=none password=hunter2", true),
        ("postgresql://somebody:hunter2@127.0.0.1:1/none", true),
        ("postgresql://somebody@127.0.0.1:1/none", false),
    ])
    func passwordInArgumentsGivesWarning(url: String, isShown: Bool) async throws {
        let given = try await DoorstepBinary(databaseURL: "").run("tenant", "list", "--database-url", url)
        #expect(given.status == 1)
        #expect(given.errors.components(separatedBy: "use DATABASE_URL").count == (isShown ? 2 : 1))
        #expect(!given.errors.contains("hunter2"))
        let set = try await DoorstepBinary(databaseURL: url).run("tenant", "list")
        #expect(set.status == 1 && !set.errors.contains("DATABASE_URL"))
    }

    @Test func missingDatabaseURLIsExplained() async throws {
        let outcome = try await DoorstepBinary(databaseURL: "").run("tenant", "list")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("DATABASE_URL"))
        #expect(outcome.output.isEmpty)
    }

    @Test func unreachableDatabaseIsNamedWithoutPassword() async throws {
        let binary = DoorstepBinary(databaseURL: "postgresql://someone:canary@127.0.0.1:1/none")
        let outcome = try await binary.run("tenant", "list")
        #expect(outcome.status == 1)
        #expect(!outcome.errors.contains("canary"))
        #expect(outcome.errors.contains("127.0.0.1"))
    }

    @Test func refusalIsOneLineWithStatus1() async throws {
        try await Installation.lend { installation in
            let tenant = ["--tenant", Installation.tenant]
            let clip = ["--clip", "com.example.MyApp.Clip"]
            for (arguments, text) in [
                (["tenant", "create", Installation.tenant, "--name", "Again"], "already"),
                (["clip", "list", "--tenant", "nobody"], "no tenant 'nobody'"),
                (
                    ["clip", "create"] + tenant + [
                        "--team-id", "ABCDE12345", "--bundle-id", "com.example.MyApp.Clip",
                    ],
                    "already"
                ),
                (["experience", "add"] + tenant + clip + ["--url", "http://example.com"], "https"),
                (
                    ["experience", "add"] + tenant + clip + [
                        "--url", "https://example.com/x", "--location", "none",
                    ], "none"
                ),
                (
                    ["experience", "add"] + tenant + [
                        "--clip", "com.example.Other.Clip", "--url", "https://example.com/x",
                    ],
                    "no clip"
                ),
                (
                    ["experience", "add"] + tenant + clip + [
                        "--url", "https://example.com/restaurants/restaurant_a/",
                    ],
                    "already"
                ),
                (
                    ["experience", "add"] + tenant + clip
                        + [
                            "--url", "https://example.com/x", "--location", "a", "--identifier-rule",
                            "path:1",
                        ], "not both"
                ),
                (
                    ["experience", "add"] + tenant + clip + [
                        "--url", "https://example.com/x", "--identifier-rule", "path:0",
                    ], "rule"
                ),
                (
                    ["location", "delete"] + tenant + ["restaurant_a"],
                    "in use by 1 experience (advanced https://example.com/restaurants/restaurant_a)"
                ),
                (
                    ["clip", "delete"] + tenant + ["com.example.MyApp.Clip"],
                    "in use by 2 experiences (advanced https://example.com/restaurants/restaurant_a, "
                ),
                (["location", "delete"] + tenant + ["nowhere"], "no location"),
                (["location", "import"] + tenant + ["/no/such/file.csv"], "cannot be read"),
                (
                    ["key", "revoke"] + tenant + ["00000000-0000-0000-0000-000000000000"],
                    "no key with this ID"
                ),
                (["lookup"] + tenant + ["https://other.example"], "does_not_match"),
                (["lookup"] + tenant + ["nonsense"], "invalid_url"),
            ] {
                let outcome = try await installation.binary.run(arguments)
                #expect(outcome.status == 1, "\(arguments)")
                #expect(outcome.errors.contains(text), "\(arguments): \(outcome.errors)")
                #expect(outcome.errors.split(separator: "\n").count == 1, "\(arguments): \(outcome.errors)")
            }
        }
    }

    @Test func importReadsByteOrderMarkCRLFAndQuotedLineBreaks() async throws {
        try await Installation.lend { installation in
            let csv =
                "\u{FEFF}name,identifier,radius,longitude,latitude,note\r\n\"Caf\u{E9}, \"\"Nord\"\"\",nord,50,2.347,48.8816,\"two\r\nlines\"\r\n"
            let first = try await installation.binary.succeed(
                "location", "import", "--tenant", Installation.tenant, "-", "--format", "json", input: csv)
            #expect(try first.json() == ["added": 1, "changed": 0, "removed": 0, "unchanged": 0])
            let second = try await installation.binary.succeed(
                "location", "import", "--tenant", Installation.tenant, "-", "--format", "json", input: csv)
            #expect(try second.json() == ["added": 0, "changed": 0, "removed": 0, "unchanged": 1])
            let changed = try await installation.binary.succeed(
                "location", "import", "--tenant", Installation.tenant, "-", "--format", "json",
                input: csv.replacing("50,", with: "60,"))
            #expect(try changed.json() == ["added": 0, "changed": 1, "removed": 0, "unchanged": 0])
            let listed = try await installation.binary.succeed(
                "location", "list", "--tenant", Installation.tenant, "--format", "json"
            ).json()
            let nord = listed.arrayValue?.first { $0.objectValue?["identifier"] == "nord" }?.objectValue
            #expect(nord?["name"] == "Caf\u{E9}, \"Nord\"")
            #expect(nord?["metadata"] == ["note": "two\r\nlines"])
            #expect(nord?["radius"] == 60)
        }
    }

    @Test func importWithInvalidRowsNamesThemAndChangesNothing() async throws {
        try await Installation.lend { installation in
            var rows = ["identifier,name,latitude,longitude,radius"]
            rows += (1...150).map { "bad\($0),Bad,91,0,100" }
            rows += ["good,Good,0,0,100", "good,Again,0,0,100", "short,Short,0,0"]
            let before = try await installation.binary.succeed(
                "location", "list", "--tenant", Installation.tenant)
            let outcome = try await installation.binary.run(
                "location", "import", "--tenant", Installation.tenant, "-",
                input: rows.joined(separator: "\n"))
            #expect(outcome.status == 1)
            let lines = outcome.errors.split(separator: "\n").map(String.init)
            #expect(lines.count == 102)
            #expect(
                lines[0]
                    == "-:2: bad1: latitude: a latitude is a finite number of degrees from -90 to 90; got '91'"
            )
            #expect(lines[99].hasPrefix("-:101: "))
            #expect(lines[100] == "and 52 more")
            #expect(lines[101].hasSuffix("nothing was imported: at least 152 rows are refused"))
            let after = try await installation.binary.succeed(
                "location", "list", "--tenant", Installation.tenant)
            #expect(before.output == after.output)
        }
    }

    @Test func keysAreShownOnceRotatedAndRevoked() async throws {
        try await Installation.lend { installation in
            let listed = try await installation.binary.succeed(
                "key", "list", "--tenant", Installation.tenant, "--format", "json")
            #expect(!listed.output.contains(installation.secret))
            let keys = try #require(try listed.json().arrayValue)
            #expect(keys.count == 2)
            let secret = try #require(
                keys.first { $0.objectValue?["kind"] == "secret" }?.objectValue?["id"]?.stringValue)
            let rotated = try await installation.binary.succeed(
                "key", "rotate", "--tenant", Installation.tenant, secret
            ).json()
            let successor = try #require(rotated.objectValue?["key"]?.stringValue)
            let successorID = try #require(rotated.objectValue?["id"]?.stringValue)
            _ = try await RunningServer.lend(installation.binary) { server in
                #expect(try await server.lookUp(MainPathTests.order, key: installation.secret).status == 200)
                #expect(try await server.lookUp(MainPathTests.order, key: successor).status == 200)
                try await installation.binary.succeed(
                    "key", "revoke", "--tenant", Installation.tenant, successorID)
                #expect(
                    try await server.status(of: MainPathTests.order, key: successor, becoming: 401) == 401)
                try await installation.binary.succeed("tenant", "suspend", Installation.tenant)
                #expect(
                    try await server.status(of: MainPathTests.order, key: installation.secret, becoming: 403)
                        == 403)
                try await installation.binary.succeed("tenant", "resume", Installation.tenant)
                #expect(
                    try await server.status(of: MainPathTests.order, key: installation.secret, becoming: 200)
                        == 200)
            }
        }
    }

    @Test func keyIsRevokedWhileInUse() async throws {
        try await Installation.lend { installation in
            let key = try await installation.binary.succeed(
                "key", "create", "--tenant", Installation.tenant, "--kind", "publishable"
            ).json().objectValue
            let (text, id) = (
                try #require(key?["key"]?.stringValue), try #require(key?["id"]?.stringValue)
            )
            try await installation.binary.succeed(
                "tenant", "limit", Installation.tenant, "--key", "1000000", "--client", "1000000")
            _ = try await RunningServer.lend(installation.binary) { server in
                try await withThrowingTaskGroup(of: [Int].self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            var statuses: [Int] = []
                            while statuses.filter({ $0 != 200 }).count < 20 {
                                statuses.append(
                                    try await server.lookUp(MainPathTests.order, key: text).status)
                            }
                            return statuses
                        }
                    }
                    try await installation.binary.succeed(
                        "key", "revoke", "--tenant", Installation.tenant, id)
                    // The key is valid until its revocation, and never again.
                    for try await statuses in group {
                        #expect(statuses.drop { $0 == 200 }.allSatisfy { $0 == 401 })
                    }
                }
                #expect(
                    try await server.lookUp(MainPathTests.order, key: installation.publishable).status == 200)
            }
        }
    }

    @Test func keysAreLimitedByScopesAndRates() async throws {
        try await Installation.lend { installation in
            let created = try await installation.binary.succeed(
                "key", "create", "--tenant", Installation.tenant, "--kind", "secret", "--scope", "compose",
                "--expires-in-days", "1.5")
            let composer = try #require(try created.json().objectValue?["key"]?.stringValue)
            let limited = try await installation.binary.succeed(
                "tenant", "limit", Installation.tenant, "--client", "1:2")
            #expect(
                limited.output
                    == """
                    Limits of restaurants: key default, client 1:2, new instances default, \
                    new instances of a client default

                    """)
            let further = try await installation.binary.succeed(
                "tenant", "limit", Installation.tenant, "--key", "off", "--new-instances", "7:9")
            #expect(
                further.output
                    == """
                    Limits of restaurants: key off, client 1:2, new instances 7:9, \
                    new instances of a client default

                    """)
            let (_, status) = try await RunningServer.lend(installation.binary) { server in
                #expect(try await server.lookUp(MainPathTests.order, key: composer).status == 403)
                #expect(
                    try await server.status(
                        of: MainPathTests.order, key: installation.publishable, becoming: 429)
                        == 429)
                try await installation.binary.succeed("tenant", "limit", Installation.tenant, "--reset")
                #expect(
                    try await server.status(
                        of: MainPathTests.order, key: installation.publishable, becoming: 200)
                        == 200)
            }
            #expect(status == 0)
            // Key usage is written when the server ends, at the latest.
            let keys =
                try await installation.binary.succeed(
                    "key", "list", "--tenant", Installation.tenant, "--format", "json"
                ).json().arrayValue ?? []
            let used = keys.map { key in
                let key = key.objectValue
                return
                    "\(key?["kind"]?.stringValue ?? "") \(key?["lastUsedOn"] == .null) \(key?["expiresAt"] == .null)"
            }
            #expect(used.sorted() == ["publishable false true", "secret false false", "secret true true"])
            let table = try await installation.binary.succeed("tenant", "list")
            #expect(table.output.contains("KEY LIMIT  CLIENT LIMIT"))
        }
    }

    /// A URL without a matching experience is not signed. A guessable secret is refused.
    @Test func unmatchedURLIsNotSignedAndWeakSecretIsRejected() async throws {
        try await Installation.lend { installation in
            try await installation.binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url",
                "https://bikes.example/b", "--identifier-rule", "coordinates:lat,lon,r")
            for (url, reason) in [
                ("https://bikes.example/b?lat=91&lon=2&r=50", "no_identifier"),
                ("https://bikes.example/b?lat=52&lon=2&r=501", "no_identifier"),
                ("https://other.example/b?lat=52&lon=2&r=50", "does_not_match"),
                ("http://bikes.example/b?lat=52&lon=2&r=50", "does_not_match"),
            ] {
                let outcome = try await installation.binary.run(
                    "location", "sign", "--tenant", Installation.tenant, url)
                #expect(outcome.status == 1)
                #expect(outcome.output.isEmpty)
                #expect(outcome.errors.contains(reason), "\(url): \(outcome.errors)")
            }
            var binary = installation.binary
            for secret in ["CHANGE-ME", "\(String(repeating: "x", count: 32)),short"] {
                binary.environment["DOORSTEP_SIGNING_SECRET"] = secret
                let outcome = try await binary.run("serve", "--port", "0")
                #expect(outcome.status == 1)
                #expect(outcome.errors.contains("32 bytes"))
                #expect(!outcome.errors.contains(secret))
            }
        }
    }

    @Test func lintSucceedsDespiteFindings() async throws {
        try await Installation.lend { installation in
            try await installation.binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url",
                "https://example.com/restaurants/restaurant_a2/menu")
            let outcome = try await installation.binary.succeed(
                "experience", "lint", "--tenant", Installation.tenant, "--format", "json")
            let codes = try #require(try outcome.json().arrayValue).compactMap {
                $0.objectValue?["code"]?.stringValue
            }
            #expect(codes.contains("raw_prefix_divergence"))
        }
    }
}
