import EmbeddedPostgreSQL
import Formats
import Foundation
import Lookups
import Persistence
import PostgreSQL
import Synchronization
import TestSupport
import Testing

/// A server without its database.
@Suite struct DatabaseOutageTests {
    private static let options = EmbeddedServerOptions(
        settings: ["shared_buffers": "8MB", "max_connections": "20"])

    /// Runs the closure with a separate PostgreSQL, because the tests kill it.
    private func withServer(
        _ body: (EmbeddedServer, TemporaryDirectory) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let server = try await start(directory)
        do {
            try await body(server, directory)
            try server.leave()
        } catch {
            try? server.leave()
            throw error
        }
    }

    private func start(_ directory: TemporaryDirectory) async throws -> EmbeddedServer {
        try await EmbeddedServer.startOrJoin(directory: directory.path("postgres"), options: Self.options)
    }

    /// Kills PostgreSQL, which looks like a power failure to its clients.
    private func kill(_ directory: TemporaryDirectory) throws {
        let file = try String(contentsOfFile: directory.path("postgres/data/postmaster.pid"), encoding: .utf8)
        let process = try #require(file.split(separator: "\n").first.flatMap { pid_t($0) })
        #expect(Foundation.kill(process, SIGKILL) == 0)
    }

    /// Sends lookups and confirmations until it is stopped.
    private final class Load: Sendable {
        private let isStopping = Atomic(false)
        private let failures = Mutex<[String]>([])
        private let lookups = Atomic(0)
        private let confirmations = Atomic(0)

        var failed: [String] { failures.withLock { $0 } }
        var confirmed: Int { confirmations.load(ordering: .relaxed) }
        var lookedUp: Int { lookups.load(ordering: .relaxed) }

        func stop() { isStopping.store(true, ordering: .relaxed) }

        /// Waits for this number of further responses to lookups.
        func lookUps(more count: Int) async throws {
            let goal = lookedUp + count
            while lookedUp < goal {
                try Task.checkCancellation()
                await Task.yield()
            }
        }

        func run(_ server: RunningServer, _ installation: Installation) async {
            await withTaskGroup { group in
                for number in 0..<4 {
                    group.addTask {
                        while !self.isStopping.load(ordering: .relaxed) {
                            await self.ask(server, installation, isConfirmation: number == 0)
                        }
                    }
                }
            }
        }

        private func ask(_ server: RunningServer, _ installation: Installation, isConfirmation: Bool) async {
            do {
                let response =
                    isConfirmation
                    ? try await server.post(
                        "/v1/confirmations", key: installation.publishable,
                        ["url": .string(MainPathTests.order), "source": "nfc", "locationAccess": "allowed"])
                    : try await server.lookUp(MainPathTests.order, key: installation.publishable)
                guard response.status == 200 else {
                    return failures.withLock { $0.append("status \(response.status)") }
                }
                if isConfirmation {
                    confirmations.add(1, ordering: .relaxed)
                } else {
                    lookups.add(1, ordering: .relaxed)
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
    }

    @Test func databaseOutageUnderLoadLosesNothing() async throws {
        try await withServer { postgres, directory in
            let installation = try await Installation.make(postgres.conninfo)
            // Four clients without pauses would soon reach the default rate limits.
            try await installation.binary.succeed(
                "tenant", "limit", Installation.tenant, "--key", "1000000", "--client", "1000000")
            let load = Load()
            let (_, status) = try await RunningServer.lend(installation.binary) { server in
                async let asking: Void = load.run(server, installation)
                defer { load.stop() }
                try await load.lookUps(more: 100)

                try kill(directory)
                try await server.log.line(saying: "serving the last lookup index")
                try await load.lookUps(more: 300)
                let ready = try await server.get("/readyz")
                #expect(ready.status == 200)
                #expect(ready["table"]?.objectValue?["source"] == "database")

                let again = try await start(directory)
                try await server.log.line(saying: "changes are read from the database again")
                // The same server process follows the database again.
                try await installation.binary.succeed(
                    "location", "import", "--tenant", Installation.tenant, "-",
                    input: "identifier,name,latitude,longitude,radius\nrestaurant_a,Restaurant A,37,-122,77\n"
                )
                while try await server.lookUp(MainPathTests.order, key: installation.publishable)["location"]?
                    .objectValue?["region"]?.objectValue?["radius"] != 77
                {
                    try Task.checkCancellation()
                }
                load.stop()
                await asking
                try again.leave()
            }
            #expect(status == 0)
            #expect(load.failed == [])
            #expect(load.confirmed > 0)
            let recorded: Int = try await ConnectionPool.withPool(
                PoolConfiguration.forBusyMachines(conninfo: postgres.conninfo)
            ) { pool in
                try await pool.withConnection { connection in
                    try await connection.execute("SELECT count(*) FROM doorstep.confirmations").one().decode(
                        at: 0)
                }
            }
            #expect(recorded == load.confirmed)
        }
    }

    @Test func serverStartsFromSavedFile() async throws {
        try await withServer { postgres, directory in
            let installation = try await Installation.make(postgres.conninfo)
            var binary = installation.binary
            binary.environment["DOORSTEP_TABLE_FILE"] = directory.path("table")
            try await SiteAssociationTests.prove("example.com", binary)
            _ = try await RunningServer.lend(binary) { server in
                let answered = try await server.lookUp(MainPathTests.order, key: installation.publishable)
                #expect(answered.status == 200)
            }
            try postgres.leave()

            let (log, status) = try await RunningServer.lend(binary) { server in
                #expect(server.log.text.contains("serving the saved lookup index"))
                let answered = try await server.lookUp(MainPathTests.order, key: installation.publishable)
                #expect(answered.status == 200)
                let unknown = try await server.lookUp(
                    MainPathTests.order, key: installation.publishable + "x")
                #expect(unknown.status == 401)
                let file = try await server.get(SiteAssociationTests.path, host: "example.com")
                #expect(file.json == SiteAssociationTests.expected)
                let ready = try await server.get("/readyz")
                #expect(ready.status == 200)
                #expect(ready["table"]?.objectValue?["source"] == "file")

                let again = try await start(directory)
                try await server.log.line(saying: "the lookup index is loaded")
                let loaded = try await server.get("/readyz")
                #expect(loaded["table"]?.objectValue?["source"] == "database")
                try again.leave()
                return server.log
            }
            #expect(status == 0)
            #expect(!log.text.contains(installation.publishable.dropFirst(8)))
        }
    }

    /// The second start finds the file again, as after a crash between the commit and the deletion of the file.
    @Test func confirmationsOfStopDuringOutageAreRecordedOnce() async throws {
        try await withServer { postgres, directory in
            let installation = try await Installation.make(postgres.conninfo)
            var binary = installation.binary
            binary.environment["DOORSTEP_TABLE_FILE"] = directory.path("table")
            let file = URL(fileURLWithPath: directory.path("table.confirmations"))
            let (log, status) = try await RunningServer.lend(binary) { server in
                try kill(directory)
                for _ in 0..<53 {
                    let answer = try await server.post(
                        "/v1/confirmations", key: installation.publishable,
                        [
                            "url": .string(MainPathTests.order), "source": "nfc", "locationAccess": "allowed",
                            "coordinate": [
                                "latitude": 37.33475, "longitude": -122.0089, "horizontalAccuracy": 12,
                            ],
                        ])
                    #expect(answer.status == 200, "\(answer)")
                }
                return server.log
            }
            #expect(status == 0)
            #expect(log.text.contains("confirmations wait in a file for the next start"), "\(log.text)")
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
            #expect(mode as? Int == 0o600)
            let saved = try Data(contentsOf: file)
            let text = String(decoding: saved, as: UTF8.self)
            #expect(text.split(separator: "\n").count == 53)
            #expect(!text.contains("37.33") && !text.contains("122.0") && !text.contains(MainPathTests.order))

            let again = try await start(directory)
            for _ in 1...2 {
                try saved.write(to: file)
                _ = try await RunningServer.lend(binary) { server in
                    try await server.log.line(saying: "confirmations of an earlier run are recorded")
                }
                #expect(!FileManager.default.fileExists(atPath: file.path))
                let listed = try await installation.binary.succeed(
                    "confirmation", "list", "--tenant", Installation.tenant, "--limit", "100", "--format",
                    "json"
                ).json()
                #expect(listed.arrayValue?.count == 53)
            }
            try again.leave()
        }
    }

    @Test func serverDoesNotStartWithoutDatabaseAndFile() async throws {
        let directory = try TemporaryDirectory()
        var binary = DoorstepBinary(databaseURL: "host=127.0.0.1 port=1 dbname=none")
        for file in ["", directory.path("none")] {
            binary.environment["DOORSTEP_TABLE_FILE"] = file
            let outcome = try await binary.run("serve", "--port", "0")
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("connect"), "\(outcome.errors)")
        }
    }

    /// A saved file is served only if it is at most a day old (or `--table-max-age` allows more) and only its owner can write it.
    @Test func outdatedOrExposedFileIsNotServed() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("table")
        var binary = DoorstepBinary(databaseURL: "host=127.0.0.1 port=1 dbname=none")
        binary.environment["DOORSTEP_TABLE_FILE"] = path
        let live = LiveLookupIndex()
        live.replace(by: LookupIndex(), from: .database, asOf: Date() - 90_000)
        try TableFile(path: path).write(#require(live.current))
        let old = try await binary.run("serve", "--port", "0")
        #expect(old.status == 1 && old.errors.contains("--table-max-age"), "\(old.errors)")
        for age in ["26", "off"] {
            binary.environment["DOORSTEP_TABLE_MAX_AGE"] = age
            let (_, status) = try await RunningServer.lend(binary) { server in
                #expect(server.log.text.contains("serving the saved lookup index"))
            }
            #expect(status == 0)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
        let exposed = try await binary.run("serve", "--port", "0")
        #expect(
            exposed.status == 1 && exposed.errors.contains("other users can write it"), "\(exposed.errors)")
    }

    @Test func damagedFileIsRejected() async throws {
        let directory = try TemporaryDirectory()
        try Data("doorstep routing table 9\nnot really".utf8).write(
            to: URL(fileURLWithPath: directory.path("table")))
        var binary = DoorstepBinary(databaseURL: "host=127.0.0.1 port=1 dbname=none")
        binary.environment["DOORSTEP_TABLE_FILE"] = directory.path("table")
        let outcome = try await binary.run("serve", "--port", "0")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("damaged"), "\(outcome.errors)")
    }
}
