import APNsSimulator
import Formats
import Foundation
import PostgreSQL
import ProcessSupport
import TestSupport
import Testing

/// `doorstep doctor` on a complete and correct set-up, and with one fault each.
@Suite(.timeLimit(.minutes(30))) struct DoctorTests {
    private struct SetUp {
        var binary: DoorstepBinary
        let database: MigratedDatabase
        let directory: TemporaryDirectory
        let key: ProviderKey
        var arguments = ["doctor"]
        /// The limit of open files; nil for the limit of the tests.
        var openFiles: Int?

        /// Executes statements as the superuser.
        func execute(_ script: String) async throws {
            try await database.withSuperuser { pool in
                try await pool.withConnection { try await $0.execute(script: script) }
            }
        }

        func set(_ mode: Int, of file: String) throws {
            try FileManager.default.setAttributes(
                [.posixPermissions: mode], ofItemAtPath: directory.path(file))
        }

        func findings() async throws -> (status: Int32, list: [JSONObject]) {
            let arguments = arguments + ["--json"]
            let outcome: DoorstepBinary.Outcome
            if let openFiles {
                outcome = try await binary.run(
                    [
                        "-c", "ulimit -n \(openFiles) && exec \"$0\" \"$@\"",
                        try DoorstepBinary.executable().path,
                    ]
                        + arguments, of: URL(fileURLWithPath: "/bin/sh"))
            } else {
                outcome = try await binary.run(arguments)
            }
            let list = try #require(try outcome.json().arrayValue, "\(outcome)").compactMap(\.objectValue)
            // The environment of the tests.
            return (
                outcome.status,
                list.filter { $0["detail"]?.stringValue?.hasPrefix("DOORSTEP_TEST_") != true }
            )
        }
    }

    /// Runs the closure with a server's login, secrets, keys, certificate and files, and an APNs that responds.
    private static func withSetUp(_ body: (inout SetUp) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let key = ProviderKey(in: directory)
        try await MigratedDatabase.withDatabase { database in
            try await APNsSimulator.withSimulator(key.simulator) { simulator in
                var binary = DoorstepBinary(databaseURL: database.conninfo(as: .serve))
                binary.environment.merge(try key.settings(for: simulator)) { $1 }
                try key.writeList(
                    """
                    {"keys": [{"team": "\(ProviderKey.team)", "id": "\(ProviderKey.id)", "file": "AuthKey.p8",
                        "environments": ["production"]}]}
                    """)
                try await makeCertificate(in: directory, days: 90)
                binary.environment.merge([
                    "DOORSTEP_TLS_CERTIFICATE": directory.path("certificate.pem"),
                    "DOORSTEP_TLS_KEY": directory.path("key.pem"),
                    "DOORSTEP_RECEIPT_KEYS": directory.path("receipts.json"),
                    "DOORSTEP_TABLE_FILE": directory.path("table"),
                    "DOORSTEP_MAX_CONNECTIONS": "100", "DOORSTEP_APP_STORE": "http://127.0.0.1:1",
                ]) { $1 }
                try await binary.succeed("receipt-key", "create")
                var setUp = SetUp(binary: binary, database: database, directory: directory, key: key)
                try await body(&setUp)
            }
        }
    }

    private static func makeCertificate(in directory: TemporaryDirectory, days: Int) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "\(days)", "-subj", "/CN=localhost", "-keyout", directory.path("key.pem"), "-out",
            directory.path("certificate.pem"),
        ]
        process.standardError = FileHandle.nullDevice
        #expect(try await process.runToEnd() == 0)
    }

    @Test func goodSetUpHasNoFault() async throws {
        try await Self.withSetUp { setUp in
            let (status, findings) = try await setUp.findings()
            let faults = findings.filter { $0["status"] != "ok" }
            #expect(status == 0 && faults == [], "\(faults)")
            let checks = Set(findings.compactMap { $0["check"]?.stringValue })
            #expect(
                checks == [
                    "listening", "signing secret", "token secret", "attestation root", "receipt keys",
                    "APNs keys",
                    "outbound connections", "settings", "environment", "certificate", "table file", "disk",
                    "descriptors", "database", "login", "writes", "row-level security", "replication",
                    "clock",
                    "connections", "schema", "sealed data", "App Store Connect", "APNs",
                ])
            // The text output has the same findings, and no secrets.
            let text = try await setUp.binary.run("doctor")
            #expect(text.status == 0 && text.output.contains("ok       schema: version "), "\(text)")
            for secret in ["DOORSTEP_TOKEN_SECRET", "DOORSTEP_SIGNING_SECRET"] {
                #expect(!text.output.contains(setUp.binary.environment[secret] ?? "-"))
            }
        }
    }

    /// A fault of the set-up, and the finding that must name it.
    private struct Fault: Sendable {
        let name: String
        let check: String
        var status = "failed"
        let seed: @Sendable (inout SetUp) async throws -> Void
    }

    private static let faults: [Fault] = [
        Fault(name: "unknown variable", check: "environment", status: "warning") {
            $0.binary.environment["DOORSTEP_POOLSIZE"] = "4"
        },
        Fault(name: "invalid setting", check: "settings") {
            $0.binary.environment["DOORSTEP_POOL_SIZE"] = "0"
        },
        Fault(name: "short secret", check: "signing secret") {
            $0.binary.environment["DOORSTEP_SIGNING_SECRET"] = "short"
        },
        Fault(name: "missing secret", check: "token secret", status: "warning") {
            $0.binary.environment["DOORSTEP_TOKEN_SECRET"] = ""
        },
        Fault(name: "TLS key that others read", check: "listening") { try $0.set(0o644, of: "key.pem") },
        Fault(name: "certificate that expires soon", check: "certificate", status: "warning") {
            try await makeCertificate(in: $0.directory, days: 2)
        },
        Fault(name: "APNs key that others read", check: "APNs keys") {
            try $0.set(0o644, of: "AuthKey.p8")
        },
        Fault(name: "APNs out of reach", check: "APNs") {
            $0.binary.environment["DOORSTEP_APNS_PRODUCTION"] = "127.0.0.1:1"
        },
        Fault(name: "missing receipt keys", check: "receipt keys") {
            try FileManager.default.removeItem(atPath: $0.directory.path("receipts.json"))
        },
        Fault(name: "table file that others write", check: "table file") {
            #expect(FileManager.default.createFile(atPath: $0.directory.path("table"), contents: Data()))
            try $0.set(0o666, of: "table")
        },
        Fault(name: "no folder for uploads", check: "disk") {
            $0.binary.environment["TMPDIR"] = $0.directory.path("none")
        },
        Fault(name: "few open files", check: "descriptors", status: "warning") { $0.openFiles = 128 },
        Fault(name: "database out of reach", check: "database") {
            $0.binary.environment["DATABASE_URL"] = "host=127.0.0.1 port=1 dbname=none"
        },
        Fault(name: "superuser's login", check: "login", status: "warning") {
            $0.binary.environment["DATABASE_URL"] = $0.database.conninfo
        },
        Fault(name: "login without roles", check: "login") {
            $0.binary.environment["DATABASE_URL"] = $0.database.conninfo(as: .app)
        },
        Fault(name: "table without row-level security", check: "row-level security") {
            try await $0.execute("ALTER TABLE doorstep.clips NO FORCE ROW LEVEL SECURITY")
        },
        Fault(name: "old schema", check: "schema") {
            try await $0.execute(
                "DELETE FROM doorstep.schema_migrations WHERE version = (SELECT max(version) FROM doorstep.schema_migrations)"
            )
        },
        Fault(name: "more connections than allowed", check: "connections") {
            $0.binary.environment["DOORSTEP_POOL_SIZE"] = "1000"
        },
        Fault(name: "foreign token secret", check: "sealed data") {
            try await $0.execute("INSERT INTO doorstep.token_secrets (secret_id) VALUES ('\\x01020304')")
        },
        Fault(name: "App Store Connect out of reach", check: "App Store Connect") {
            try await $0.execute(
                """
                SET session_replication_role = replica;
                INSERT INTO doorstep.app_store_connections (tenant_id, bundle_id, key_id, sealed_secret)
                VALUES (gen_random_uuid(), 'com.example.App.Clip', 'ABCDE12345', sha512('s'))
                """)
        },
    ]

    @Test func seededFaultIsFound() async throws {
        #expect(Self.faults.count >= 10)
        for fault in Self.faults {
            try await Self.withSetUp { setUp in
                try await fault.seed(&setUp)
                let (status, findings) = try await setUp.findings()
                let found = findings.filter { $0["check"] == .string(fault.check) && $0["status"] != "ok" }
                #expect(
                    found.first?["status"] == .string(fault.status), "\(fault.name): \(findings)")
                #expect(found.first?["remedy"]?.stringValue?.isEmpty == false, "\(fault.name)")
                #expect((status == 0) == (fault.status == "warning"), "\(fault.name): \(findings)")
                let others = findings.filter {
                    $0["status"] == "failed" && $0["check"] != .string(fault.check)
                }
                if fault.status == "warning" { #expect(others == [], "\(fault.name)") }
            }
        }
    }

    /// A standby that replays nothing is still a standby.
    @Test func standbyIsNamedByDoctorServerAndResponses() async throws {
        let directory = try TemporaryDirectory()
        let place = ["--embedded-postgres", directory.path("postgres")]
        let binary = DoorstepBinary(databaseURL: "")
        try await binary.succeed(["tenant", "create", "acme", "--name", "Acme"] + place)
        let made = try await binary.succeed(
            ["key", "create", "--tenant", "acme", "--kind", "secret", "--scope", "manage"] + place
        ).json()
        let key = try #require(made.objectValue?["key"]?.stringValue)
        let signal = directory.path("postgres/data/standby.signal")
        #expect(
            FileManager.default.createFile(
                atPath: signal, contents: nil, attributes: [.posixPermissions: 0o666]))

        let outcome = try await binary.run(["doctor", "--json"] + place)
        let findings = try #require(try outcome.json().arrayValue, "\(outcome)").compactMap(\.objectValue)
        let writes = try #require(findings.first { $0["check"] == "writes" }, "\(findings)")
        #expect(outcome.status == 1 && writes["status"] == "failed", "\(writes)")
        #expect(writes["remedy"]?.stringValue?.contains("target_session_attrs") == true, "\(writes)")

        _ = try await RunningServer.lend(binary, flags: place) { server in
            let ready = try await server.get("/readyz")
            let state = ready["writes"]?.objectValue
            #expect(ready.status == 200 && state?["status"] == "refused", "\(ready)")
            #expect(state?["reason"]?.stringValue?.contains("target_session_attrs") == true, "\(ready)")
            #expect(server.log.text.contains("the database is a standby"), "\(server.log.text)")
            let refused = try await server.put(
                "/v1/locations/a", key: key,
                ["name": "A", "latitude": 1, "longitude": 2, "radius": 100])
            #expect(refused.status == 503 && refused["cause"] == "read_only", "\(refused)")
        }
    }

    @Test func databaseURLIsRequired() async throws {
        let outcome = try await DoorstepBinary(databaseURL: "").run("doctor")
        #expect(outcome.status == 1 && outcome.output.contains("failed   database: "), "\(outcome)")
    }
}
