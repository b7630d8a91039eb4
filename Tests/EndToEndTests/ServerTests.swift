import EmbeddedPostgreSQL
import Formats
import Foundation
import Persistence
import PostgreSQL
import ProcessSupport
import TestSupport
import Testing

/// The server process: its requirements, its protocols and its end.
@Suite struct ServerTests {
    @Test func unmigratedDatabaseIsRejected() async throws {
        try await TestServer.withDatabase { databaseURL in
            let outcome = try await DoorstepBinary(databaseURL: databaseURL).run("serve", "--port", "0")
            #expect(outcome.status == 1)
            #expect(
                outcome.errors.contains(
                    "has schema version 0, and this program needs \(Schema.migrations.count): run 'doorstep migrate'"
                ), "\(outcome.errors)")
        }
    }

    /// This happens after a rollback to an older version, or during an upgrade.
    @Test func newerCompatibleDatabaseIsServed() async throws {
        try await Installation.lend { installation in
            let (known, later) = (Schema.migrations.count, Schema.migrations.count + 1)
            let pool = ConnectionPool(
                PoolConfiguration.forBusyMachines(conninfo: installation.databaseURL, maximumConnections: 1))
            try await pool.withConnection { connection in
                _ = try await connection.execute(
                    """
                    INSERT INTO doorstep.schema_migrations (version, name, checksum, compatible_from)
                    VALUES (\(later), 'later', '', \(known))
                    """)
            }
            await pool.close()
            let migrated = try await installation.binary.succeed("migrate")
            #expect(migrated.output.contains("(version \(later))"))
            let (_, status) = try await RunningServer.lend(installation.binary) { server in
                let lookedUp = try await server.lookUp(MainPathTests.order, key: installation.publishable)
                #expect(lookedUp.status == 200)
                #expect(server.log.text.contains("database=\(later) needed=\(known)"), "\(server.log.text)")
            }
            #expect(status == 0)
        }
    }

    @Test func newerIncompatibleDatabaseIsRejected() async throws {
        try await Installation.lend { installation in
            let pool = ConnectionPool(
                PoolConfiguration.forBusyMachines(conninfo: installation.databaseURL, maximumConnections: 1))
            try await pool.withConnection { connection in
                _ = try await connection.execute(
                    """
                    INSERT INTO doorstep.schema_migrations (version, name, checksum) VALUES (9999, 'later', '')
                    """)
            }
            await pool.close()
            for command in ["serve", "migrate", "status"] {
                let outcome = try await installation.binary.run(command)
                #expect(outcome.status == 1, "\(command)")
                #expect(outcome.errors.contains("9999"), "\(command): \(outcome.errors)")
            }
        }
    }

    /// The login of `serve` is a member of doorstep_app, doorstep_router and doorstep_manager only.
    @Test func serverNeedsOnlyItsRoles() async throws {
        try await Installation.lend { installation in
            let login = "serve_\(ProcessInfo.processInfo.processIdentifier)"
            let administration = try await TestServer.administration()
            try await administration.withConnection { connection in
                _ = try await connection.execute(
                    """
                    CREATE ROLE \(identifier: login) LOGIN IN ROLE doorstep_app, doorstep_router, doorstep_manager
                    """)
            }
            var binary = installation.binary
            binary.environment["DATABASE_URL"] = installation.databaseURL + " user=\(login)"
            let (_, status) = try await RunningServer.lend(binary) { server in
                let lookedUp = try await server.lookUp(MainPathTests.order, key: installation.publishable)
                #expect(lookedUp.status == 200)
                let confirmed = try await server.post(
                    "/v1/confirmations", key: installation.publishable,
                    ["url": .string(MainPathTests.order), "source": "nfc", "locationAccess": "allowed"])
                #expect(confirmed.status == 200)
            }
            #expect(status == 0)
            let refused = try await binary.run("tenant", "create", "other", "--name", "Other")
            #expect(refused.status == 1)
            try await administration.withConnection { connection in
                _ = try await connection.execute("DROP ROLE \(identifier: login)")
            }
        }
    }

    @Test func tlsServerSpeaksHTTP2() async throws {
        try await Installation.lend { installation in
            let directory = try TemporaryDirectory()
            let (certificate, key) = (directory.path("certificate.pem"), directory.path("key.pem"))
            try await Self.run([
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days",
                "2", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate,
            ])
            var binary = installation.binary
            binary.environment["DOORSTEP_OPERATIONS_PORT"] = "0"
            let (_, status) = try await RunningServer.lend(binary, tls: (certificate, key)) { server in
                let response = try await server.lookUp(MainPathTests.order, key: installation.publishable)
                #expect(response.status == 200)
                #expect(response.version == "HTTP/2.0")
                let routed = try await server.get("/openapi.json")
                #expect(routed.status == 200 && routed.version == "HTTP/2.0")
                // Monitors use plain HTTP on a separate port.
                #expect(try await server.get("/readyz").status == 404)
                let monitors = "http://127.0.0.1:\(try await server.log.port(saying: "answering monitors"))"
                #expect(try await server.text("/readyz", at: monitors).contains("\"status\":\"ok\""))
                #expect(try await server.text("/metrics", at: monitors).contains("doorstep_http_connections"))
            }
            #expect(status == 0)
        }
    }

    @Test func logIsJSONWithoutTerminalAndBeginsWithVersion() async throws {
        try await Installation.lend { installation in
            var binary = installation.binary
            binary.environment["DOORSTEP_LOG_FORMAT"] = ""
            let log = try await RunningServer.lend(binary) { server in
                _ = try await server.get("/v1/lookup?url=x", key: installation.publishable)
                return server.log
            }.0
            let lines = log.text.split(separator: "\n")
            let line = try #require(lines.first)
            let first = try #require(try JSONValue(parsing: line.utf8).objectValue)
            #expect(first["message"] == "doorstep serve starts" && first["level"] == "notice")
            #expect(first["version"] != nil && first["commit"] != nil && first["swift"] != nil)
            for line in lines {
                #expect(try JSONValue(parsing: line.utf8).objectValue?["time"] != nil, "\(line)")
            }
        }
    }

    @Test func promtoolAcceptsMetrics() async throws {
        try await Installation.lend { installation in
            let directory = try TemporaryDirectory()
            let metrics = try await RunningServer.lend(installation.binary) { server in
                for _ in 0..<3 {
                    let found = try await server.lookUp(MainPathTests.order, key: installation.publishable)
                    #expect(found.status == 200)
                    #expect(try await server.get("/v1/lookup").status == 401)
                }
                return try await server.text("/metrics")
            }.0
            let file = directory.path("metrics")
            try metrics.write(toFile: file, atomically: true, encoding: .utf8)
            try await Self.run(["sh", "-c", "promtool check metrics <\(file)"])

            let lines = metrics.split(separator: "\n")
            let names = Set(lines.filter { !$0.hasPrefix("#") }.map { $0.prefix { $0 != "{" && $0 != " " } })
            #expect(names.allSatisfy { $0.hasPrefix("doorstep_") || $0.hasPrefix("process_") }, "\(names)")
            func value(_ series: String) -> Double? {
                lines.first { $0.hasPrefix(series + " ") }.flatMap { Double($0.dropFirst(series.count + 1)) }
            }
            #expect(value("doorstep_database_up") == 1)
            #expect(value("doorstep_database_pool_limit{pool=\"requests\"}") == 4)
            #expect(value("doorstep_database_pool_waiting{pool=\"management\"}") == 0)
            #expect(try #require(value("process_resident_memory_bytes")) > 10_000_000)
            #expect(try #require(value("process_open_fds")) > 3)
            #expect(try #require(value("process_start_time_seconds")) > 1_700_000_000)
            let requests = #"doorstep_http_requests_total{endpoint="/v1/lookup",method="GET",status="#
            #expect(value(requests + "\"200\"}") == 3 && value(requests + "\"401\"}") == 3)
            // All methods and statuses of an endpoint share the buckets: 11, the last one, sum and count.
            let histogram = lines.filter {
                $0.hasPrefix("doorstep_http_request_duration_seconds") && $0.contains("\"/v1/lookup\"")
            }
            #expect(histogram.count == 14, "\(histogram)")
        }
    }

    /// RFC 9325 §4, RFC 9113 §9.2.2.
    @Test func tls12OffersOnlyForwardSecretAEADCipherSuites() async throws {
        try await Installation.lend { installation in
            let directory = try TemporaryDirectory()
            for (algorithm, accepted, refused) in [
                (
                    ["rsa:2048"], ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-CHACHA20-POLY1305"],
                    [
                        "AES128-SHA", "AES256-SHA", "AES128-GCM-SHA256", "AES256-GCM-SHA384",
                        "ECDHE-RSA-AES128-SHA",
                    ]
                ),
                (
                    ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], ["ECDHE-ECDSA-AES256-GCM-SHA384"],
                    ["ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA"]
                ),
            ] {
                let tls = (certificate: directory.path("certificate.pem"), key: directory.path("key.pem"))
                try await Self.makeCertificate(tls, algorithm)
                let (_, status) = try await RunningServer.lend(installation.binary, tls: tls) { server in
                    let address = server.address.dropFirst("https://".count)
                    for suite in accepted + refused {
                        let process = Process()
                        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                        process.arguments = [
                            "openssl", "s_client", "-tls1_2", "-alpn", "h2", "-cipher", suite, "-connect",
                            String(address),
                        ]
                        process.standardInput = FileHandle.nullDevice
                        process.standardOutput = FileHandle.nullDevice
                        process.standardError = FileHandle.nullDevice
                        let isAgreedOn = try await process.runToEnd() == 0
                        #expect(isAgreedOn == accepted.contains(suite), "\(suite)")
                    }
                }
                #expect(status == 0)
            }
        }
    }

    private static func makeCertificate(
        _ tls: (certificate: String, key: String), _ algorithm: [String], days: Int = 2
    ) async throws {
        try await run(
            ["openssl", "req", "-x509", "-newkey"] + algorithm + [
                "-nodes", "-days", "\(days)", "-subj", "/CN=localhost", "-keyout", tls.key, "-out",
                tls.certificate,
            ])
    }

    /// Without a handler, SIGHUP would end the process.
    @Test func hangupRereadsTheCertificate() async throws {
        try await Installation.lend { installation in
            let directory = try TemporaryDirectory()
            let tls = (certificate: directory.path("certificate.pem"), key: directory.path("key.pem"))
            let curve = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
            try await Self.makeCertificate(tls, curve)
            let (_, status) = try await RunningServer.lend(installation.binary, tls: tls) { server in
                try await server.log.line(saying: "the certificate expires soon")
                try await Self.makeCertificate(tls, curve, days: 90)
                server.hangUp()
                try await server.log.line(saying: "SIGHUP: ")
                try await server.log.line(saying: "new connections use the changed certificate")
                #expect(try await server.get("/livez").status == 200)
            }
            #expect(status == 0)
        }
    }

    @Test func unusableCertificateOrPortIsNamed() async throws {
        try await Installation.lend { installation in
            let directory = try TemporaryDirectory()
            let key = directory.path("key.pem")
            #expect(
                FileManager.default.createFile(
                    atPath: key, contents: Data("x".utf8), attributes: [.posixPermissions: 0o600]))
            let unusable = try await installation.binary.run(
                "serve", "--tls-certificate", "/none.pem", "--tls-key", key)
            #expect(
                unusable.status == 1 && unusable.errors.contains("cannot read /none.pem"),
                "\(unusable.errors)")
            _ = try await RunningServer.lend(installation.binary) { server in
                let port = String(server.address.split(separator: ":").last ?? "")
                let used = try await installation.binary.run("serve", "--host", "127.0.0.1", "--port", port)
                #expect(
                    used.status == 1
                        && used.errors.contains(
                            "cannot listen on 127.0.0.1 port \(port): Address already in use"),
                    "\(used.errors)")
            }
        }
    }

    @Test(arguments: [0o644, 0o604, 0o620]) func exposedTLSKeyIsRejected(mode: Int) async throws {
        let directory = try TemporaryDirectory()
        let key = directory.path("key.pem")
        #expect(
            FileManager.default.createFile(
                atPath: key, contents: Data("x".utf8), attributes: [.posixPermissions: mode]))
        let outcome = try await DoorstepBinary(databaseURL: "host=/none").run(
            "serve", "--tls-certificate", "x.pem", "--tls-key", key)
        #expect(outcome.status == 1)
        // The group may read the file, and must not write it.
        #expect(outcome.errors.contains("\(key) contains secrets"), "\(outcome.errors)")
    }

    @Test(arguments: ["--tls-key", "--tls-certificate"])
    func tlsKeyWithoutCertificateIsRejected(flag: String) async throws {
        let outcome = try await DoorstepBinary(databaseURL: "host=/none").run("serve", flag, "x.pem")
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("--tls-certificate and --tls-key require each other"))
    }

    /// The response to invalid bytes, or to too many bytes, is a problem. The server continues.
    @Test func malformedRequestGetsProblemResponse() async throws {
        try await Installation.lend { installation in
            let (_, status) = try await RunningServer.lend(installation.binary) { server in
                for (bytes, code) in [
                    (
                        Array(
                            "GET /\(String(repeating: "a", count: 1 << 20)) HTTP/1.1\r\nHost: x\r\n\r\n".utf8),
                        "header_too_large"
                    ),
                    (
                        Array(
                            "GET /livez HTTP/1.1\r\nHost: x\r\nA: \(String(repeating: "a", count: 40_000))\r\n\r\n"
                                .utf8),
                        "header_too_large"
                    ),
                    ([0, 1, 2, 3, 13, 10, 13, 10], "malformed_request"),
                    (Array("GET /livez HTTP/9.9\r\n\r\n".utf8), "malformed_request"),
                    (
                        Array(
                            "POST /v1/payloads HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
                                .utf8), "malformed_request"
                    ),
                ] {
                    let response = try await RawConnection(server.address).exchange(bytes)
                    #expect(response.contains("\"code\":\"\(code)\""), "\(response)")
                }
                #expect(try await server.get("/livez").status == 200)
            }
            #expect(status == 0)
        }
    }

    /// The console tells by these records whether a server runs.
    @Test func serverRecordsThatItRunsAndEnds() async throws {
        try await Installation.lend { installation in
            func servers() async throws -> [JSONValue] {
                let status = try await installation.binary.succeed("status", "--queues", "--format", "json")
                return try #require(try status.json().objectValue?["servers"]?.arrayValue)
            }
            let (_, status) = try await RunningServer.lend(installation.binary) { server in
                // The first record is written beside the first requests.
                var running: [JSONValue] = []
                while running.isEmpty {
                    running = try await servers().filter { $0.objectValue?["running"] == true }
                }
                #expect(running.count == 1 && running[0].objectValue?["endedAt"] == .null)
            }
            #expect(status == 0)
            let ended = try await servers()
            #expect(ended.count == 1 && ended[0].objectValue?["running"] == false)
            #expect(ended[0].objectValue?["endedAt"] != .null)
        }
    }

    /// A request that began before the shutdown gets its response.
    @Test func begunRequestIsCompletedBeforeShutdown() async throws {
        try await Installation.lend { installation in
            let body = JSONValue.object([
                "url": .string(MainPathTests.order), "source": "nfc", "locationAccess": "allowed",
            ]).serialized()
            let head = """
                POST /v1/confirmations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(installation.publishable)\r
                Content-Type: application/json\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n
                """
            let (response, status) = try await RunningServer.lend(installation.binary) { server in
                // The bytes that precede a response have arrived at the server, too.
                let before = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
                return try await RawConnection(server.address).exchange(
                    Array((before + head).utf8) + body.prefix(10), then: Array(body.dropFirst(10)),
                    after: { server.terminate() })
            }
            #expect(response.matches(of: /200 OK/).count == 2)
            #expect(response.contains("undetermined"))
            #expect(status == 0)
        }
    }

    /// An executed request gets its response, whatever follows on the connection.
    @Test func responsesKeepOrderOfRequests() async throws {
        try await Installation.lend { installation in
            _ = try await RunningServer.lend(installation.binary) { server in
                let text = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
                let response = try await RawConnection(server.address).exchange(
                    Array((text + text + "GARBAGE\r\n\r\n").utf8))
                let statuses = response.matches(of: /HTTP\/1\.1 (\d+)/).map { String($0.output.1) }
                #expect(statuses == ["200", "200", "400"])
                // The response to HEAD has no body. Clients would read a body as the next response.
                for path in ["/v1/confirmations", "/nope", "/livez"] {
                    let head = "HEAD \(path) HTTP/1.1\r\nHost: x\r\n\r\n"
                    let response = try await RawConnection(server.address).exchange(
                        Array((head + text + "GARBAGE\r\n\r\n").utf8))
                    #expect(response.matches(of: /HTTP\/1\.1 \d+/).count == 3)
                    #expect(
                        response.matches(of: /\r\n\r\n(HTTP|\{|$)/).map { $0.output.1 } == [
                            "HTTP", "{", "{",
                        ],
                        "\(path)")
                }
            }
        }
    }

    /// The server reads a refused body for a short time, so that the response arrives, and then closes.
    @Test func unwantedBodyIsCutOff() async throws {
        try await Installation.lend { installation in
            _ = try await RunningServer.lend(installation.binary) { server in
                for head in ["POST /nope", "POST /v1/payloads"] {
                    let connection = try await RawConnection(server.address)
                    try await connection.send(
                        Array("\(head) HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000000\r\n\r\n".utf8))
                    // Only the server closes the connection. The client never does.
                    let response = try await connection.receiveToEnd()
                    #expect(response.contains("HTTP/1.1 4"))
                }
            }
        }
    }

    @Test func waitingClientReceives100Continue() async throws {
        try await Installation.lend { installation in
            _ = try await RunningServer.lend(installation.binary) { server in
                let body = JSONValue.object([
                    "url": .string(MainPathTests.order), "source": "nfc", "locationAccess": "allowed",
                ]).serialized()
                let head = """
                    POST /v1/confirmations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(installation.publishable)\r
                    Content-Type: application/json\r\nContent-Length: \(body.count)\r\nExpect: 100-continue\r
                    Connection: close\r\n\r\n
                    """
                let response = try await RawConnection(server.address).exchange(Array(head.utf8), then: body)
                #expect(response.hasPrefix("HTTP/1.1 100 Continue\r\n"))
                #expect(response.contains("HTTP/1.1 200 OK"))
            }
        }
    }

    private static func run(_ words: [String]) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.standardError = FileHandle.nullDevice
        let status = try await process.runToEnd()
        guard status == 0 else { throw DoorstepBinary.Failed(description: "\(words) ended with \(status)") }
    }
}

/// A folder that is deleted with this value.
final class TemporaryDirectory: Sendable {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}
