import Formats
import Foundation
import PostgreSQL
import TestSupport
import Testing

/// Instances from the report of a launch to the commands, with the built binary.
@Suite struct InstanceTests {
    private static let id = "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10"
    private static let token = "c0ffee15bad1dea5c0ffee15bad1dea5"
    private static let report: JSONValue = [
        "url": .string(MainPathTests.order), "environment": "production", "permission": "ephemeral",
        "token": .string(token),
    ]
    private static let (old, new) = (String(repeating: "o", count: 32), String(repeating: "n", count: 32))

    /// The number of stored tokens whose row contains a text.
    private static func tokens(
        _ installation: Installation, containing text: String = ""
    ) async throws -> Int {
        let configuration = PoolConfiguration.forBusyMachines(
            conninfo: installation.databaseURL, maximumConnections: 1)
        return try await ConnectionPool.withPool(configuration) { pool in
            try await pool.withConnection {
                try await $0.execute(
                    "SELECT count(*) FROM doorstep.push_tokens AS t WHERE strpos(t::text, \(text)) > 0"
                ).one().decode(at: 0)
            }
        }
    }

    @Test func instanceIsListedResealedAndDeleted() async throws {
        try await Installation.lend { installation in
            var binary = installation.binary
            binary.environment["DOORSTEP_TOKEN_SECRET"] = Self.old
            let tenant = ["--tenant", Installation.tenant]
            let path = "/v1/instances/\(Self.id)"
            let (_, status) = try await RunningServer.lend(binary) { server in
                let told = try await server.put(path, key: installation.publishable, Self.report)
                #expect(told.status == 201 && told["hasToken"] == true, "\(told)")
                let shown = try await server.get(path, key: installation.secret)
                #expect(shown.status == 200 && shown.json == told.json)
                #expect(!server.log.text.contains(Self.token))
            }
            #expect(status == 0)
            #expect(try await Self.tokens(installation) == 1)
            #expect(try await Self.tokens(installation, containing: Self.token) == 0)

            let listed = try await binary.run(["instance", "list", "--format", "json"] + tenant).json()
            let instance = try #require(listed.arrayValue?.first?.objectValue)
            #expect(listed.arrayValue?.count == 1)
            #expect(instance["id"] == .string(Self.id) && instance["hasToken"] == true)
            #expect(instance["launchCount"] == 1 && instance["permission"] == "ephemeral")
            for (option, value, count) in [
                ("--clip", "com.example.MyApp.Clip", 1), ("--clip", "com.example.Other.Clip", 0),
                ("--location", "restaurant_a", 1), ("--location", "restaurant_b", 0),
                ("--url", "https://example.com/restaurants/restaurant_a", 1),
                ("--url", "https://example.com/restaurants/restaurant", 0),
            ] {
                let found = try await binary.run(
                    ["instance", "list", "--format", "json", option, value] + tenant
                ).json()
                #expect(found.arrayValue?.count == count, "\(option) \(value)")
            }

            // The secret is replaced. Tokens that the new secret cannot open are counted and kept.
            try await binary.succeed(["webhook", "create", "https://example.com/hooks"] + tenant)
            for (secrets, resealed, unreadable) in [
                (Self.new, 0, 2), ("\(Self.new),\(Self.old)", 2, 0), (Self.new, 0, 0),
            ] {
                binary.environment["DOORSTEP_TOKEN_SECRET"] = secrets
                let outcome = try await binary.run("instance", "reseal", "--format", "json")
                #expect(outcome.status == (unreadable > 0 ? 1 : 0), "\(outcome.errors)")
                #expect(
                    try outcome.json() == [
                        [
                            "tenant": .string(Installation.tenant), "resealed": JSONValue(resealed),
                            "unreadable": JSONValue(unreadable),
                        ]
                    ])
            }

            let other = UUID().uuidString.lowercased()
            let half = try await binary.run(["instance", "delete", Self.id, other] + tenant)
            #expect(half.status == 1 && half.errors.contains(other) && !half.errors.contains(Self.id))
            #expect(try await Self.tokens(installation) == 0)
            let again = try await binary.run(["instance", "delete", Self.id] + tenant)
            #expect(again.status == 1)
        }
    }

    @Test func foreignTokenSecretIsRefusedAtTheStart() async throws {
        try await Installation.lend { installation in
            var binary = installation.binary
            binary.environment["DOORSTEP_TOKEN_SECRET"] = Self.new
            // Nothing is sealed, so any secret is accepted.
            _ = try await RunningServer.lend(binary) { _ in }
            binary.environment["DOORSTEP_TOKEN_SECRET"] = Self.old
            _ = try await RunningServer.lend(binary) { server in
                let path = "/v1/instances/\(Self.id)"
                let told = try await server.put(path, key: installation.publishable, Self.report)
                #expect(told.status == 201)
            }
            binary.environment["DOORSTEP_TOKEN_SECRET"] = Self.new
            let refused = try await binary.run("serve", "--port", "0")
            #expect(refused.status == 1, "\(refused)")
            #expect(refused.errors.contains("DOORSTEP_TOKEN_SECRET opens nothing"), "\(refused.errors)")
            #expect(!refused.errors.contains(Self.new))

            // The server starts if the loss of the old secret is accepted. It counts the old secret until its data is gone.
            let error = "lacks secrets that sealed data"
            _ = try await RunningServer.lend(binary, flags: ["--allow-new-token-secret"]) { server in
                try await server.log.line(saying: error)
                let metrics = try await server.text("/metrics")
                #expect(metrics.contains("\ndoorstep_token_secrets_unreadable 1"))
                try await binary.succeed(
                    "webhook", "create", "https://example.com/hooks", "--tenant", Installation.tenant)
            }
            // The secret opens some of the data.
            _ = try await RunningServer.lend(binary) { try await $0.log.line(saying: error) }

            binary.environment["DOORSTEP_TOKEN_SECRET"] = "\(Self.new),\(Self.old)"
            try await binary.succeed("instance", "reseal")
            binary.environment["DOORSTEP_TOKEN_SECRET"] = Self.new
            _ = try await RunningServer.lend(binary) { server in
                let metrics = try await server.text("/metrics")
                #expect(metrics.contains("\ndoorstep_token_secrets_unreadable 0"))
                #expect(!server.log.text.contains(error))
            }
            binary.environment["DOORSTEP_TOKEN_SECRET"] = Self.old
            #expect(try await binary.run("serve", "--port", "0").status == 1)
        }
    }

    /// A script invents instances, while the instance of a person already exists.
    @Test func newInstanceLimitSparesKnownInstance() async throws {
        try await Installation.lend { installation in
            var binary = installation.binary
            binary.environment["DOORSTEP_TOKEN_SECRET"] = Self.old
            try await binary.succeed(
                "tenant", "limit", Installation.tenant, "--client-new-instances", "1:2")
            _ = try await RunningServer.lend(binary) { server in
                let path = "/v1/instances/\(Self.id)"
                let first = try await server.put(path, key: installation.publishable, Self.report)
                #expect(first.status == 201)
                // The limit permits one more instance per second.
                var refused: RunningServer.Answer?
                for _ in 0..<1_000 where refused == nil {
                    let response = try await server.put(
                        "/v1/instances/\(UUID())", key: installation.publishable, Self.report)
                    if response.status != 201 { refused = response }
                }
                #expect(refused?.status == 429 && refused?["limit"] == "client_new_instances")
                let again = try await server.put(
                    path, key: installation.publishable,
                    ["environment": "production", "permission": "notDetermined"])
                #expect(again.status == 200 && again["permission"] == "notDetermined", "\(again)")
                #expect(again["launches"] == first["launches"])
            }
        }
    }

    @Test func missingTokenSecretIsReported() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            _ = try await RunningServer.lend(binary) { server in
                #expect(server.log.text.contains("DOORSTEP_TOKEN_SECRET is not set"))
                let response = try await server.put(
                    "/v1/instances/\(Self.id)", key: installation.publishable, Self.report)
                #expect(response.status == 503 && response["code"] == "notifications_not_configured")
            }
            let unsealed = try await binary.run("instance", "reseal")
            #expect(unsealed.status == 1 && unsealed.errors.contains("DOORSTEP_TOKEN_SECRET"))
            var weak = binary
            weak.environment["DOORSTEP_TOKEN_SECRET"] = "\(Self.new),short"
            for arguments in [["serve", "--port", "0"], ["instance", "reseal"]] {
                let refused = try await weak.run(arguments)
                #expect(refused.status == 1 && refused.errors.contains("32 bytes"))
                #expect(!refused.errors.contains(Self.new))
            }
        }
    }

    @Test func retentionOutOfRangeIsRejected() async throws {
        try await Installation.lend { installation in
            for option in ["--instance-retention", "--notification-retention"] {
                for days in ["0", "366"] {
                    let refused = try await installation.binary.run("serve", option, days)
                    #expect(refused.status == 64 && refused.errors.contains("for '\(option) "))
                    #expect(refused.errors.contains("it must be 1 to 365"))
                }
            }
        }
    }
}
