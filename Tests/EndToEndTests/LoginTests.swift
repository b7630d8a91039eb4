import Formats
import Foundation
import PostgreSQL
import ProcessSupport
import TestSupport
import Testing

/// Each login of `deploy/postgres/create-logins.sql` has the rights for its task, and no others.
@Suite struct LoginTests {
    /// The environment of the database's container must not contain the passwords of the server and the administration.
    @Test func composeFileGivesDatabaseOnlyItsOwnPassword() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../deploy/compose.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(text.range(of: "\n  postgres:\n"))
        let end = try #require(text[start.upperBound...].firstMatch(of: /\n  (#|[a-z]+:\n)/)).range.lowerBound
        let names = text[start.upperBound..<end].matches(of: /\$\{([A-Z_]+)/).map { String($0.1) }
        #expect(names == ["POSTGRES_IMAGE", "POSTGRES_PASSWORD"])
    }

    @Test func everyCommandRunsWithItsOwnLogin() async throws {
        try await TestServer.withDatabase { databaseURL in
            let administration = try await TestServer.administration()
            // Drops logins of an interrupted run, because roles belong to the server, not to the database.
            try await Self.dropLogins(administration)
            // The script runs twice, as for another password.
            let logins = "deploy/postgres/create-logins.sql"
            try await Self.runFiles(["sql/roles.sql", logins, logins], databaseURL)
            let migrate = DoorstepBinary(databaseURL: databaseURL + " user=doorstep_migrate_login")
            let admin = DoorstepBinary(databaseURL: databaseURL + " user=doorstep_admin_login")
            let serve = DoorstepBinary(databaseURL: databaseURL + " user=doorstep_serve_login")

            try await migrate.succeed("migrate")
            try await migrate.succeed("migrate")
            try await admin.succeed("status")
            try await admin.succeed("tenant", "create", "t", "--name", "T")
            try await admin.succeed(
                "clip", "create", "--tenant", "t", "--team-id", "ABCDE12345", "--bundle-id",
                "com.example.App.Clip")
            try await admin.succeed(
                "location", "import", "--tenant", "t", "-",
                input: "identifier,name,latitude,longitude,radius\na,A,1,2,100\nb,B,1,2,100\n")
            try await admin.succeed(
                "experience", "import", "--tenant", "t", "-",
                input: "clip,url,location\ncom.example.App.Clip,https://example.com/a,a\n")
            try await admin.succeed(
                "experience", "add", "--tenant", "t", "--clip", "com.example.App.Clip", "--url",
                "https://example.com/at",
                "--identifier-rule", "path:1")
            for arguments in [
                ["tenant", "list"], ["clip", "list", "--tenant", "t"], ["location", "list", "--tenant", "t"],
                ["experience", "list", "--tenant", "t"], ["experience", "lint", "--tenant", "t"],
                ["location", "delete", "--tenant", "t", "b"], ["key", "list", "--tenant", "t"],
                ["domain", "claim", "--tenant", "t", "example.com"], ["domain", "list", "--tenant", "t"],
                ["domain", "verify", "--all"], ["domain", "release", "--tenant", "t", "example.com"],
                ["lookup", "--tenant", "t", "https://example.com/at/a"],
                ["confirm", "--tenant", "t", "https://example.com/a", "--source", "nfc", "--in-region"],
                ["payload", "--tenant", "t", "https://example.com/a", "--title", "Ready"],
                ["confirmation", "list", "--tenant", "t"], ["confirmation", "count", "--tenant", "t"],
                ["confirmation", "export", "--tenant", "t"],
                ["tenant", "suspend", "t"], ["tenant", "resume", "t"], ["tenant", "export", "t"],
                ["location", "export", "--tenant", "t"], ["location", "history", "--tenant", "t", "a"],
                ["experience", "export", "--tenant", "t"],
                ["code", "export", "--tenant", "t", "--format", "print"],
            ] {
                let outcome = try await admin.run(arguments)
                #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
            }
            let key = try #require(
                try await admin.succeed("key", "create", "--tenant", "t", "--kind", "publishable").json()
                    .objectValue?["key"]?.stringValue)
            let (_, status) = try await RunningServer.lend(serve) { server in
                let response = try await server.lookUp("https://example.com/a", key: key)
                #expect(response.status == 200)
                try await server.log.line(saying: "days of confirmations")
                #expect(!server.log.text.contains("not in order"))
                #expect(!server.log.text.contains("superuser"))
            }
            #expect(status == 0)
            let archive = try await admin.succeed("tenant", "export", "t").output
            try await admin.succeed("tenant", "delete", "t", "--yes")
            try await admin.succeed("tenant", "import", "-", input: archive)

            for (binary, arguments) in [
                (serve, ["tenant", "list"]), (serve, ["migrate"]), (admin, ["migrate"]),
            ] {
                let outcome = try await binary.run(arguments)
                #expect(outcome.status == 1, "\(arguments)")
                #expect(outcome.errors.contains("lacks a privilege"), "\(arguments): \(outcome.errors)")
            }
            try await Self.dropLogins(administration, owned: databaseURL)
        }
    }

    private static let logins = ["doorstep_migrate_login", "doorstep_admin_login", "doorstep_serve_login"]

    private static func runFiles(_ files: [String], _ databaseURL: String) async throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--dbname", databaseURL]
            + files.map { "--file=" + root.appendingPathComponent($0).path }
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["MIGRATE_PASSWORD": "m", "ADMIN_PASSWORD": "a", "SERVE_PASSWORD": "s"]) { $1 }
        let status = try await process.runToEnd()
        #expect(status == 0)
    }

    private static func dropLogins(
        _ administration: ConnectionPool, owned databaseURL: String? = nil
    ) async throws {
        if let databaseURL {
            let pool = ConnectionPool(
                PoolConfiguration.forBusyMachines(conninfo: databaseURL, maximumConnections: 1))
            try await pool.withConnection { connection in
                for login in logins { _ = try await connection.execute("DROP OWNED BY \(identifier: login)") }
            }
            await pool.close()
        }
        try await administration.withConnection { connection in
            for login in logins {
                _ = try await connection.execute("DROP ROLE IF EXISTS \(identifier: login)")
            }
        }
    }
}
