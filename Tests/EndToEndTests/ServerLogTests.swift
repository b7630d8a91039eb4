import APNsSimulator
import Crypto
import Formats
import Foundation
import LocalServers
import PostgreSQL
import TestSupport
import Testing

/// The log of the built server: formats, causes of errors, and the secrets that it must not contain.
@Suite(.timeLimit(.minutes(30))) struct ServerLogTests {
    private static let instance = "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10"

    @Test(arguments: ["text", "logfmt", "json"]) func accessLogIsReadInEachFormat(format: String) async throws
    {
        try await Installation.lend { installation in
            var binary = installation.binary
            binary.environment["DOORSTEP_LOG_FORMAT"] = format
            binary.environment["DOORSTEP_ACCESS_LOG"] = "cut"
            // Lines of requests are not affected by this level.
            binary.environment["DOORSTEP_LOG_LEVEL"] = "notice"
            let log = try await RunningServer.lend(binary) { server in
                let found = try await server.lookUp(MainPathTests.order, key: installation.publishable)
                #expect(found.status == 200)
                return server.log
            }.result.text
            let line = try #require(
                log.split(separator: "\n").first { $0.contains("/v1/lookup") }.map(String.init))
            let fields = try #require(try Self.fields(of: line, format), "\(line)")
            #expect(
                fields["route"] == "/v1/lookup" && fields["method"] == "GET" && fields["status"] == "200",
                "\(line)")
            #expect(fields["client"] == "127.0.0.0/24", "\(line)")
            for name in ["bytes", "duration_us", "tenant", "key", "request_id"] {
                #expect(fields[name]?.isEmpty == false, "\(name) in \(line)")
            }
            #expect(!line.contains("restaurant_a") && !line.contains(installation.publishable))
        }
    }

    /// The fields of a line: members of JSON, or pairs `name=value` whose values may be JSON strings.
    private static func fields(of line: String, _ format: String) throws -> [String: String]? {
        if format == "json" {
            return try JSONValue(parsing: line.utf8).objectValue?.reduce(into: [:]) {
                $0[$1.key] = $1.value.stringValue
            }
        }
        var fields: [String: String] = [:]
        for match in line.matches(of: /([a-z_]+)=("(?:[^"\\]|\\.)*"|[^ "]+)/) {
            let value = String(match.2)
            fields[String(match.1)] =
                value.hasPrefix("\"") ? try JSONValue(parsing: value.utf8).stringValue : value
        }
        return fields
    }

    @Test func accessLogIsOffByDefault() async throws {
        try await Installation.lend { installation in
            let log = try await RunningServer.lend(installation.binary) { server in
                let found = try await server.lookUp(MainPathTests.order, key: installation.publishable)
                #expect(found.status == 200)
                return server.log
            }.result.text
            #expect(!log.contains("/v1/lookup") && !log.contains("doorstep.access"), "\(log)")
        }
    }

    /// Another transaction holds a lock for longer than a request waits.
    @Test func heldLockIsCauseInResponseAndLog() async throws {
        try await Installation.lend { installation in
            let made = try await installation.binary.succeed(
                "key", "create", "--tenant", Installation.tenant, "--kind", "secret", "--scope", "manage",
                "--scope",
                "read"
            ).json()
            let key = try #require(made.objectValue?["key"]?.stringValue)
            let (response, log) = try await RunningServer.lend(installation.binary) { server in
                let pool = ConnectionPool(
                    PoolConfiguration.forBusyMachines(
                        conninfo: installation.databaseURL, maximumConnections: 1))
                let response = try await pool.withTransaction { transaction in
                    try await transaction.execute("SELECT FROM doorstep.locations FOR UPDATE")
                    return try await server.patch("/v1/locations/restaurant_a", key: key, ["name": "Other"])
                }
                await pool.close()
                return (response, server.log)
            }.result
            #expect(response.status == 503 && response["code"] == "unavailable", "\(response)")
            let cause = try #require(response["cause"]?.stringValue, "\(response)")
            #expect(["lock_timeout", "statement_timeout"].contains(cause))
            let id = try #require(response["requestID"]?.stringValue)
            let line = try #require(log.text.split(separator: "\n").first { $0.contains(id) })
            #expect(line.contains("cause=\(cause) ") && line.contains(" warning "), "\(line)")
        }
    }

    /// At the lowest level, with all components in use: lookups, confirmations, instances, notifications, webhooks and failures.
    @Test func traceLogContainsNoSecret() async throws {
        try await Installation.lend { installation in
            let key = ProviderKey(in: try TemporaryDirectory())
            let hooks = Shared<[String]>([])
            try await LocalWebServer.lend({ request in
                hooks.change { $0.append(request.path) }
                return .init("", status: 500)
            }) { receiver in
                try await APNsSimulator.withSimulator(key.simulator) { simulator in
                    var binary = installation.binary
                    binary.environment.merge(try key.settings(for: simulator)) { $1 }
                    binary.environment["DATABASE_URL"] =
                        installation.databaseURL + " password=hunter2-database"
                    binary.environment["DOORSTEP_LOG_LEVEL"] = "trace"
                    binary.environment["DOORSTEP_ACCESS_LOG"] = "full"
                    let made = try await binary.succeed(
                        ["key", "create", "--tenant", Installation.tenant, "--kind", "secret"]
                            + ["lookup", "read", "manage", "notify"].flatMap { ["--scope", $0] }
                    ).json()
                    let secret = try #require(made.objectValue?["key"]?.stringValue)
                    let (log, webhook) = try await RunningServer.lend(binary) { server in
                        let url = JSONValue.string("http://127.0.0.1:\(receiver.port)/hunter2-hook")
                        let webhook = try await server.post(
                            "/v1/webhooks", key: secret, ["url": url, "events": ["location.changed"]])
                        _ = try await server.lookUp(
                            MainPathTests.order + "?hunter2-query=1", key: installation.publishable)
                        _ = try await server.get("/v1/lookup?url=hunter2-parameter&key=\(secret)")
                        _ = try await server.get("/v1/lookup", key: "dsk_hunter2-unknown-key")
                        _ = try await server.post(
                            "/v1/confirmations", key: installation.publishable,
                            [
                                "url": .string(MainPathTests.order), "source": "nfc",
                                "locationAccess": "allowed",
                                "coordinate": [
                                    "latitude": 37.334751, "longitude": -122.008951, "horizontalAccuracy": 12,
                                ],
                            ])
                        _ = try await server.put(
                            "/v1/instances/\(Self.instance)", key: installation.publishable,
                            [
                                "url": .string(MainPathTests.order), "environment": "production",
                                "permission": "ephemeral", "token": "c0ffee15bad1dea5c0ffee15bad1dea5",
                            ])
                        let sent = try await server.post(
                            "/v1/notifications", key: secret,
                            [
                                "url": .string(MainPathTests.order),
                                "audience": ["instance": .string(Self.instance)],
                                "aps": ["alert": "hunter2-alert"],
                            ])
                        #expect(sent.status < 300, "\(sent)")
                        if sent.status < 300 { await simulator.wait { $0.accepted == 1 } }
                        let renamed = try await server.patch(
                            "/v1/locations/restaurant_a", key: secret, ["name": "hunter2-name"])
                        #expect(renamed.status == 200, "\(renamed)")
                        while hooks.value.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
                        return (server.log, webhook)
                    }.result
                    let signing = try #require(webhook["secret"]?.stringValue, "\(webhook)")
                    let secrets =
                        [
                            "hunter2", "c0ffee15", "37.3347", "122.0089", "PRIVATE KEY", "Bearer", signing,
                            secret,
                            installation.publishable, installation.secret,
                        ]
                        + ["DOORSTEP_TOKEN_SECRET", "DOORSTEP_SIGNING_SECRET"].compactMap {
                            binary.environment[$0]
                        }
                        + key.key.pemRepresentation.split(separator: "\n").map(String.init)
                    let text = log.text
                    #expect(text.contains("/v1/lookup") && text.split(separator: "\n").count > 15)
                    for secret in secrets {
                        let line = text.split(separator: "\n").first { $0.contains(secret) }
                        #expect(line == nil, "\(secret)")
                    }
                    // Services describe themselves in one line, without the objects in them.
                    for line in text.split(separator: "\n") {
                        #expect(line.utf8.count < 2_000, "\(line.prefix(300))")
                    }
                }
            }
        }
    }
}
