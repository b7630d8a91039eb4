import EmbeddedPostgreSQL
import Foundation
import PostgreSQL
import ProcessSupport
import TestSupport
import Testing

/// Each test starts its own server. The suite is serialized, because servers are expensive.
@Suite(.serialized) struct EmbeddedServerTests {
    private static let options = EmbeddedServerOptions(isDurable: false)

    private func withDirectory(
        _ name: String = "server", parentMode: Int = 0o755, _ body: (String) async throws -> Void
    ) async throws {
        let parent = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: parent, withIntermediateDirectories: true, attributes: [.posixPermissions: parentMode])
        defer { try? FileManager.default.removeItem(atPath: parent) }
        try await body("\(parent)/\(name)")
    }

    private func response(_ conninfo: String) async throws -> Int {
        let pool = ConnectionPool(PoolConfiguration.forBusyMachines(conninfo: conninfo))
        do {
            let response: Int = try await pool.withConnection { connection in
                try await connection.execute("SELECT 42").one().decode(at: 0)
            }
            await pool.close()
            return response
        } catch {
            await pool.close()
            throw error
        }
    }

    @Test func serverStopsWhenTheLastUserLeaves() async throws {
        try await withDirectory { directory in
            async let one = EmbeddedServer.startOrJoin(directory: directory, options: Self.options)
            async let two = EmbeddedServer.startOrJoin(directory: directory, options: Self.options)
            let (first, second) = try await (one, two)
            defer { try? second.leave() }
            #expect(first.conninfo == second.conninfo)
            try first.leave()
            try first.leave()
            #expect(try await response(second.conninfo) == 42)
            try second.leave()
            let error = await #expect(throws: PostgreSQLError.self) { try await response(second.conninfo) }
            #expect(error?.code == "connect_failed")

            let again = try await EmbeddedServer.startOrJoin(directory: directory, options: Self.options)
            defer { try? again.leave() }
            let answered = try await response(again.conninfo)
            #expect(answered == 42)
        }
    }

    /// The names contain characters that connection strings and configuration files escape. The first path is too long for a
    /// socket. Only the owner can enter the parent folder.
    @Test(arguments: ["a 'b\\c\", " + String(repeating: "d", count: 100), "it's \"here\" \\"])
    func serverStartsInDirectoryWithLongAndUnusualPath(name: String) async throws {
        try await withDirectory(name, parentMode: 0o700) { directory in
            let server = try await EmbeddedServer.startOrJoin(directory: directory, options: Self.options)
            defer { try? server.leave() }
            #expect(try await response(server.conninfo) == 42)
        }
    }

    @Test func dataOfUninstalledReleaseIsRejected() async throws {
        try await withDirectory { directory in
            try FileManager.default.createDirectory(
                atPath: "\(directory)/data", withIntermediateDirectories: true)
            try "9\n".write(toFile: "\(directory)/data/PG_VERSION", atomically: true, encoding: .utf8)
            try "".write(toFile: "\(directory)/lock", atomically: true, encoding: .utf8)
            await #expect(throws: EmbeddedServerError.versionNotInstalled(9)) {
                try await EmbeddedServer.startOrJoin(directory: directory)
            }
        }
    }

    @Test func committedRowsSurviveAKill() async throws {
        try await withDirectory { directory in
            // A durable server, because without `synchronous_commit` even this could be lost.
            let server = try await EmbeddedServer.startOrJoin(directory: directory)
            defer { try? server.leave() }
            let pool = ConnectionPool(PoolConfiguration.forBusyMachines(conninfo: server.conninfo))
            try await pool.withConnection { connection in
                try await connection.execute("CREATE TABLE kept AS SELECT 1")
            }
            await pool.close()
            let lines = try String(contentsOfFile: "\(directory)/data/postmaster.pid", encoding: .utf8)
            let process = try #require(lines.split(separator: "\n").first.flatMap { pid_t($0) })
            kill(process, SIGQUIT)
            while (try? await response(server.conninfo)) != nil { try Task.checkCancellation() }

            // The process ID in the file remains, and possibly the process for a while.
            let second = try await EmbeddedServer.startOrJoin(directory: directory, options: Self.options)
            defer { try? second.leave() }
            let after = ConnectionPool(PoolConfiguration.forBusyMachines(conninfo: second.conninfo))
            let count = try await after.withConnection { try await $0.execute("TABLE kept").count }
            #expect(count == 1)
            await after.close()
        }
    }

    /// In a separate process, because all threads of a process share its environment variables.
    @Test func environmentDoesNotRedirectToAnotherServer() async throws {
        await #expect(processExitsWith: .success) {
            let foreign = [
                "PGHOSTADDR": "127.0.0.2", "PGSERVICE": "elsewhere", "PGSERVICEFILE": "/nowhere",
                "PGTARGETSESSIONATTRS": "standby", "PGGSSENCMODE": "require", "PGREQUIREPEER": "somebody",
                "PGCHANNELBINDING": "require", "PGOPTIONS": "--work_mem=unreadable", "PGDATESTYLE": "none",
                "PGCLIENTENCODING": "none",
            ]
            for (name, value) in foreign { setenv(name, value, 1) }
            let tests = EmbeddedServerTests()
            try await tests.withDirectory { directory in
                let server = try await EmbeddedServer.startOrJoin(directory: directory, options: Self.options)
                defer { try? server.leave() }
                #expect(try await tests.response(server.conninfo) == 42)
                let command = ForegroundCommand(["sh", "-c", "env | grep '^PG'"])
                #expect(try await command.run(environment: [:]) == 1)
            }
        }
    }

    /// After a container's restart, the process ID may belong to another program, even if that program's arguments
    /// contain "postgres".
    @Test(arguments: ["exec sleep 60", "exec -a postgres sleep 60", "sleep 60; exit # postgres"])
    func staleProcessIDOfAnotherProgramIsIgnored(_ script: String) async throws {
        try await withDirectory { directory in
            let server = try await EmbeddedServer.startOrJoin(directory: directory, options: Self.options)
            try server.leave()
            let other = Process()
            other.executableURL = URL(fileURLWithPath: "/bin/bash")
            other.arguments = ["-c", script, "postgres"]
            try other.start()
            defer { other.terminate() }
            try "\(other.processIdentifier)\n\(directory)/data\n".write(
                toFile: "\(directory)/data/postmaster.pid", atomically: false, encoding: .utf8)

            let again = try await EmbeddedServer.startOrJoin(directory: directory, options: Self.options)
            defer { try? again.leave() }
            #expect(try await response(again.conninfo) == 42)
        }
    }
}
