import Formats
import Foundation
import Testing

/// Each setting is declared once. Other texts about settings must agree with the declaration.
@Suite struct SettingsTests {
    private static func text(_ path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    private static func declared() async throws -> [JSONObject] {
        let outcome = try await DoorstepBinary(databaseURL: "").succeed("settings", "--format", "json")
        return try #require(try outcome.json().arrayValue).compactMap(\.objectValue)
    }

    @Test func guideContainsPrintedSettingsTable() async throws {
        let table = try await DoorstepBinary(databaseURL: "").succeed("settings", "--format", "markdown")
            .output
        let count = try await Self.declared().count
        #expect(table.split(separator: "\n").count == count + 2)
        #expect(
            try Self.text("Sources/Guide/11-operations.md").contains("\n\n\(table)"),
            "put what 'doorstep settings --format markdown' prints into the guide")
    }

    /// A commented line has the default if the default is a number.
    @Test func exampleEnvironmentHasAllVariables() async throws {
        let settings = try await Self.declared()
        var named: Set<String> = []
        for line in try Self.text("deploy/env.example").split(separator: "\n") {
            guard let match = line.wholeMatch(of: /(#?)([A-Z_]+)=(.*)/) else { continue }
            let (mark, name, value) = (match.1, String(match.2), String(match.3))
            named.insert(name)
            let setting = settings.first { $0["environment"] == .string(name) }
            #expect(setting != nil, "\(name)")
            guard mark == "#", let standard = setting?["default"]?.stringValue,
                standard.first?.isNumber == true
            else { continue }
            #expect(value == standard, "\(name)")
        }
        // The file is for a server, not for the console.
        let variables = settings.compactMap { $0["environment"]?.stringValue }
            .filter { !$0.hasPrefix("DOORSTEP_CONSOLE_") }
        #expect(named == Set(variables).subtracting(["DOORSTEP_TENANT", "DOORSTEP_SERVER", "DOORSTEP_KEY"]))
    }

    @Test func everyServerFlagIsSetting() async throws {
        let help = try await DoorstepBinary(databaseURL: "").succeed("serve", "--help-hidden").output
        let flags = Set(help.matches(of: /(?m)^  (--[a-z-]+) </).map { String($0.1) })
        let declared = try await Self.declared()
        let settings = declared.compactMap { $0["flag"]?.stringValue }
        let console = declared.filter {
            $0["environment"]?.stringValue?.hasPrefix("DOORSTEP_CONSOLE_") == true
        }.compactMap { $0["flag"]?.stringValue }
        // `serve` hides `--server`, which it accepts only to refuse it.
        #expect(
            flags.subtracting(["--server"]) == Set(settings).subtracting(console + ["--tenant", "--server"]))
        let consoleHelp = try await DoorstepBinary(databaseURL: "").succeed("console", "serve", "--help")
            .output
        for flag in console { #expect(consoleHelp.contains("  \(flag) <"), "\(flag)") }
    }

    @Test(arguments: [
        ("DOORSTEP_POOL_SIZE", "0"), ("DOORSTEP_POOL_SIZE", "many"), ("DOORSTEP_PORT", "65536"),
        ("DOORSTEP_KEY_LIMIT", "1:2:3"), ("DOORSTEP_TRUSTED_PROXIES", "10.0.0.0/8,10.0.0.1/8"),
        ("DOORSTEP_TABLE_MAX_AGE", "8761"), ("DOORSTEP_LOG_LEVEL", "loud"),
        ("DOORSTEP_CONFIRMATION_RETENTION", "731"), ("DOORSTEP_APNS_PRODUCTION", "nowhere"),
    ])
    func invalidVariableIsRejectedLikeItsFlag(name: String, value: String) async throws {
        var binary = DoorstepBinary(databaseURL: "host=127.0.0.1 port=1 dbname=none")
        binary.environment[name] = value
        let outcome = try await binary.run(["serve"] + (name == "DOORSTEP_PORT" ? [] : ["--port", "1"]))
        #expect(
            outcome.status == 1 && outcome.errors.contains("the value of \(name)"), "\(outcome.errors)")
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    @Test func fileGivesSecret() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await Installation.lend { installation in
            var binary = installation.binary
            let url = try #require(binary.environment["DATABASE_URL"])
            #expect(
                FileManager.default.createFile(
                    atPath: path, contents: Data("\(url)\n".utf8), attributes: [.posixPermissions: 0o600]))
            binary.environment["DATABASE_URL_FILE"] = path
            let both = try await binary.run("tenant", "list")
            #expect(
                both.status == 1 && both.errors.contains("DATABASE_URL exclude each other"), "\(both.errors)")
            binary.environment["DATABASE_URL"] = ""
            #expect(try await binary.succeed("tenant", "list").output.contains(Installation.tenant))
            #expect(chmod(path, 0o644) == 0)
            let exposed = try await binary.run("tenant", "list")
            #expect(exposed.status == 1 && exposed.errors.contains(path), "\(exposed.errors)")
        }
    }

    @Test func unknownVariableAndSuperuserAreWarnedOf() async throws {
        try await Installation.lend { installation in
            var binary = installation.binary
            binary.environment["DOORSTEP_POOLSIZE"] = "hunter2"
            binary.environment["DOORSTEP_SOMETHING_ELSE"] = "hunter2"
            let log = try await RunningServer.lend(binary) { $0.log }.result.text
            let warnings = log.split(separator: "\n").filter {
                $0.contains("is not a setting") && !$0.contains("DOORSTEP_TEST_")
            }
            #expect(
                warnings.contains { $0.contains("nearest=DOORSTEP_POOL_SIZE variable=DOORSTEP_POOLSIZE ") },
                "\(log)")
            #expect(
                warnings.contains { $0.contains("doorstep: variable=DOORSTEP_SOMETHING_ELSE ") }, "\(log)")
            #expect(warnings.count == 2 && !log.contains("hunter2"), "\(log)")
            #expect(log.contains("the login of the database is a superuser's"), "\(log)")
        }
    }

    @Test func flagOverridesVariable() async throws {
        var binary = DoorstepBinary(databaseURL: "host=127.0.0.1 port=1 dbname=none")
        binary.environment["DOORSTEP_PORT"] = "65536"
        let outcome = try await binary.run("serve", "--port", "0")
        #expect(outcome.status != 0 && !outcome.errors.isEmpty)
        #expect(!outcome.errors.contains("DOORSTEP_PORT"), "\(outcome.errors)")
    }

    @Test func environmentNamesTenant() async throws {
        try await Installation.lend { installation in
            var binary = installation.binary
            let unnamed = try await binary.run("clip", "list")
            #expect(unnamed.status == 64 && unnamed.errors.contains("DOORSTEP_TENANT"))
            binary.environment["DOORSTEP_TENANT"] = Installation.tenant
            #expect(try await binary.succeed("clip", "list").output.contains("com.example.MyApp.Clip"))
            let other = try await binary.run("clip", "list", "--tenant", "nobody")
            #expect(other.errors.contains("no tenant 'nobody'"))
        }
    }
}
