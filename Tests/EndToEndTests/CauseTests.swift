import EmbeddedPostgreSQL
import Formats
import Foundation
import PostgreSQL
import ProcessSupport
import TestSupport
import Testing

/// The causes of 5xx, each by a real fault of the database, in the response and the log. `ServerLogTests` has the held lock,
/// `DoctorTests` the standby.
@Suite(.timeLimit(.minutes(30))) struct CauseTests {
    private static func managingKey(_ installation: Installation) async throws -> String {
        let made = try await installation.binary.succeed(
            "key", "create", "--tenant", Installation.tenant, "--kind", "secret", "--scope", "manage",
            "--scope", "read"
        ).json()
        return try #require(made.objectValue?["key"]?.stringValue)
    }

    private static func expect(
        _ cause: String, in response: RunningServer.Answer, _ log: ServerLog
    ) async throws {
        #expect(response.status == 503 && response["code"] == "unavailable", "\(response)")
        #expect(response["cause"] == .string(cause), "\(response)")
        let id = try #require(response["requestID"]?.stringValue)
        let line = try await log.line(saying: id)
        #expect(line.contains("cause=\(cause) ") && line.contains(" warning "), "\(line)")
    }

    /// A statement that runs for longer than a server waits.
    @Test func slowStatementIsCauseInResponseAndLog() async throws {
        try await Installation.lend { installation in
            let key = try await Self.managingKey(installation)
            try await ConnectionPool.withPool(
                PoolConfiguration.forBusyMachines(conninfo: installation.databaseURL, maximumConnections: 1)
            ) { pool in
                try await pool.withConnection {
                    try await $0.execute(
                        script: """
                            CREATE FUNCTION doorstep.sleep() RETURNS trigger LANGUAGE plpgsql
                                AS 'BEGIN PERFORM pg_sleep(3600); RETURN NEW; END';
                            CREATE TRIGGER sleep BEFORE UPDATE ON doorstep.locations
                                FOR EACH ROW EXECUTE FUNCTION doorstep.sleep()
                            """)
                }
            }
            _ = try await RunningServer.lend(installation.binary) { server in
                let response = try await server.patch(
                    "/v1/locations/restaurant_a", key: key, ["name": "Other"])
                try await Self.expect("statement_timeout", in: response, server.log)
            }
        }
    }

    private static func run(_ arguments: String...) async throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        return try await process.runToEnd()
    }

    /// The table of locations is on a small file system, which another file fills.
    @Test func fullDiskIsCauseInResponseAndLog() async throws {
        let directory = try TemporaryDirectory()
        let disk = directory.path("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        try #require(
            try await Self.run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk) == 0,
            "run this test as root: it mounts a small file system")
        let result: Result<Void, any Error>
        do {
            result = .success(try await Self.fillDisk(disk, in: directory))
        } catch {
            result = .failure(error)
        }
        #expect(try await Self.run("umount", disk) == 0)
        try result.get()
    }

    private static func fillDisk(_ disk: String, in directory: TemporaryDirectory) async throws {
        let postgres = try await EmbeddedServer.startOrJoin(
            directory: directory.path("postgres"),
            options: EmbeddedServerOptions(settings: ["shared_buffers": "8MB", "max_connections": "20"]))
        defer { try? postgres.leave() }
        let installation = try await Installation.make(postgres.conninfo)
        let key = try await managingKey(installation)

        let tables = disk + "/tables"
        try FileManager.default.createDirectory(atPath: tables, withIntermediateDirectories: false)
        let owner = try FileManager.default.attributesOfItem(atPath: directory.path("postgres/data"))
        try FileManager.default.setAttributes(
            [.ownerAccountID: try #require(owner[.ownerAccountID])], ofItemAtPath: tables)
        try await ConnectionPool.withPool(
            PoolConfiguration.forBusyMachines(conninfo: postgres.conninfo, maximumConnections: 1)
        ) { pool in
            try await pool.withConnection {
                try await $0.execute("CREATE TABLESPACE small LOCATION '\(unsafeSQL: tables)'")
                try await $0.execute("ALTER TABLE doorstep.locations SET TABLESPACE small")
            }
        }

        _ = try await RunningServer.lend(installation.binary) { server in
            let filler = disk + "/filler"
            #expect(try await run("dd", "if=/dev/zero", "of=\(filler)", "bs=4096") != 0)
            func create(_ number: Int) async throws -> RunningServer.Answer {
                try await server.put(
                    "/v1/locations/new_\(number)", key: key,
                    [
                        "name": .string("Location \(number) \(String(repeating: "x", count: 100))"),
                        "latitude": 37, "longitude": -122, "radius": 50,
                    ])
            }
            // The last page of the table has room for some rows.
            var number = 0
            var response: RunningServer.Answer
            repeat {
                number += 1
                response = try await create(number)
            } while response.status < 300 && number < 1_000
            try await expect("disk_full", in: response, server.log)
            let metrics = try await server.text("/metrics")
            #expect(metrics.contains("method=\"PUT\",status=\"503\"} 1\n"))

            // The server goes on when there is room again.
            try FileManager.default.removeItem(atPath: filler)
            let again = try await create(number)
            #expect((200..<300).contains(again.status), "\(again)")
        }
    }
}
