import Crypto
import Formats
import Foundation
import LocalServers
import PostgreSQL
import TestSupport
import Testing

/// Webhooks from their registration to the received messages, over HTTP.
@Suite(.timeLimit(.minutes(30))) struct WebhookTests {
    /// Runs the closure with a database and a key with all scopes.
    private static func withInstallation(
        _ body: (Installation, _ key: String) async throws -> Void
    ) async throws {
        try await Installation.lend { installation in
            var installation = installation
            installation.binary.environment["DOORSTEP_TOKEN_SECRET"] =
                "a secret of the tests that is long enough"
            let made = try await installation.binary.succeed(
                ["key", "create", "--tenant", Installation.tenant, "--kind", "secret"]
                    + ["lookup", "read", "manage", "manage_keys"].flatMap { ["--scope", $0] }
            ).json()
            try await body(installation, try #require(made.objectValue?["key"]?.stringValue))
        }
    }

    private struct Registered {
        let path: String
        let secret: String

        init(_ response: RunningServer.Answer) throws {
            #expect(response.status == 201, "\(response)")
            path = "/v1/webhooks/\(try #require(response["id"]?.stringValue))"
            secret = try #require(response["secret"]?.stringValue)
        }
    }

    private struct Received {
        let id: String
        let type: String
        let data: JSONObject
        let text: String

        /// - Throws: If the request is not signed with the secret.
        init(_ request: LocalWebServer.Request, signedWith secret: String) throws {
            let fields = Dictionary(
                request.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $1 })
            id = try #require(fields["webhook-id"])
            let time = try #require(fields["webhook-timestamp"])
            let key = try #require(Data(base64Encoded: String(secret.dropFirst("whsec_".count))))
            let code = HMAC<SHA256>.authenticationCode(
                for: Array("\(id).\(time).".utf8) + request.body, using: SymmetricKey(data: key))
            #expect(fields["webhook-signature"] == "v1,\(Data(code).base64EncodedString())")
            text = String(decoding: request.body, as: UTF8.self)
            let json = try #require(try JSONValue(parsing: request.body).objectValue)
            #expect(json["id"] == .string(id))
            type = try #require(json["type"]?.stringValue)
            data = try #require(json["data"]?.objectValue)
        }
    }

    /// The messages that a path has received, as soon as there are `count` of them.
    private static func received(
        _ count: Int, at path: String, of requests: Shared<[LocalWebServer.Request]>, _ webhook: Registered
    ) async throws -> [Received] {
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            let all = requests.value.filter { $0.path == path }
            if all.count >= count || .now >= deadline {
                #expect(all.count == count)
                return try all.map { try Received($0, signedWith: webhook.secret) }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// The log of a webhook, as soon as the closure accepts it.
    private static func log(
        of webhook: Registered, _ server: RunningServer, _ key: String,
        where isExpected: ([JSONObject]) -> Bool
    ) async throws -> [JSONObject] {
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            let response = try await server.get("\(webhook.path)/messages", key: key)
            let messages = try #require(response["data"]?.arrayValue).compactMap(\.objectValue)
            if isExpected(messages) || .now >= deadline {
                #expect(isExpected(messages), "\(messages)")
                return messages
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test func webhookReceivesOnlySubscribedEvents() async throws {
        try await Self.withInstallation { installation, key in
            let requests = Shared<[LocalWebServer.Request]>([])
            let status = Shared(204)
            try await LocalWebServer.lend({ request in
                requests.change { $0.append(request) }
                return .init("", status: request.path == "/changes" ? status.value : 204)
            }) { hooks in
                let (_, exit) = try await RunningServer.lend(installation.binary) { server in
                    func register(_ path: String, _ events: [JSONValue]) async throws -> Registered {
                        let url = JSONValue.string("http://127.0.0.1:\(hooks.port)\(path)")
                        return try Registered(
                            await server.post(
                                "/v1/webhooks", key: key, ["url": url, "events": .array(events)]))
                    }
                    let changes = try await register("/changes", ["location.changed", "key.revoked"])
                    let visits = try await register("/visits", ["confirmation.recorded", "webhook.disabled"])

                    let renamed = try await server.patch(
                        "/v1/locations/restaurant_a", key: key, ["name": "Renamed"])
                    #expect(renamed.status == 200)
                    let made = try await server.post(
                        "/v1/keys", key: key, ["kind": "secret", "scopes": ["lookup"]])
                    let keyID = try #require(made["id"]?.stringValue)
                    #expect(try await server.delete("/v1/keys/\(keyID)", key: key).status == 204)
                    let confirmed = try await server.post(
                        "/v1/confirmations", key: installation.publishable,
                        [
                            "url": .string(MainPathTests.order), "source": "nfc", "locationAccess": "allowed",
                            "coordinate": [
                                "latitude": 37.33475, "longitude": -122.0089, "horizontalAccuracy": 12,
                            ],
                        ])
                    #expect((200...299).contains(confirmed.status), "\(confirmed)")

                    let told = try await Self.received(2, at: "/changes", of: requests, changes)
                    let byType = Dictionary(told.map { ($0.type, $0.data) }, uniquingKeysWith: { $1 })
                    #expect(
                        byType["location.changed"]
                            == ["action": "update", "count": 1, "locations": ["restaurant_a"]])
                    #expect(
                        byType["key.revoked"] == ["action": "update", "count": 1, "keys": [.string(keyID)]])
                    let visit = try #require(
                        try await Self.received(1, at: "/visits", of: requests, visits).first)
                    #expect(visit.type == "confirmation.recorded" && !visit.text.contains("37.33"))
                    let confirmation = visit.data["confirmations"]?.arrayValue?.first?.objectValue
                    #expect(confirmation?["location"] == "restaurant_a")
                    #expect(confirmation?["outcome"] == "inRegion")

                    // Sent again with the same IDs.
                    _ = try await Self.log(of: changes, server, key) { messages in
                        messages.count == 2 && messages.allSatisfy { $0["state"] == "taken" }
                    }
                    let replayed = try await server.post(
                        "\(changes.path)/replay", key: key,
                        ["since": "2020-01-01T00:00:00Z"])
                    #expect(replayed.status == 202 && replayed["queued"] == 2)
                    let again = try await Self.received(4, at: "/changes", of: requests, changes)
                    #expect(Set(again.map(\.id)) == Set(told.map(\.id)))
                    let messages = try await Self.log(of: changes, server, key) { messages in
                        messages.allSatisfy { $0["state"] == "taken" }
                    }
                    #expect(messages.allSatisfy { $0["attempts"]?.arrayValue?.count == 2 })

                    // Simulates that it has failed for days. The other webhook gets the event.
                    try await ConnectionPool.withPool(
                        PoolConfiguration.forBusyMachines(conninfo: installation.databaseURL)
                    ) {
                        pool in
                        try await pool.withConnection {
                            try await $0.execute(
                                script: """
                                    UPDATE doorstep.webhooks SET failing_since = now() - interval '4 days'
                                    WHERE url LIKE '%/changes'
                                    """)
                        }
                    }
                    status.change { $0 = 500 }
                    #expect(try await server.post("\(changes.path)/test", key: key, [:]).status == 202)
                    let last = try #require(
                        try await Self.received(2, at: "/visits", of: requests, visits).last)
                    #expect(last.type == "webhook.disabled")
                    #expect(last.data["webhook"] == .string(String(changes.path.split(separator: "/")[2])))
                    let off = try await server.get(changes.path, key: key)
                    #expect(off["enabled"] == false && off["waiting"] == 0)
                    #expect(off["disabledReason"]?.stringValue?.contains("500") == true)
                    let refused = try await server.post("\(changes.path)/test", key: key, [:])
                    #expect(refused.status == 409 && refused["code"] == "webhook_disabled")
                    status.change { $0 = 204 }
                    let on = try await server.patch(changes.path, key: key, ["enabled": true])
                    #expect(on["enabled"] == true && on["failingSince"] == .null)
                    #expect(try await server.post("\(changes.path)/test", key: key, [:]).status == 202)
                    // Including the message that got status 500.
                    let tried = try await Self.received(6, at: "/changes", of: requests, changes)
                    #expect(tried.suffix(2).map(\.type) == ["doorstep.test", "doorstep.test"])
                    #expect(try await server.delete(changes.path, key: key).status == 204)
                    #expect(try await server.get(changes.path, key: key).status == 404)
                }
                #expect(exit == 0)
            }
        }
    }

    @Test func listenersReceiveEachEventOnceAcrossARestart() async throws {
        try await Self.withInstallation { installation, key in
            let secret = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
            let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try Data(secret.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let requests = Shared<[LocalWebServer.Request]>([])
            try await LocalWebServer.lend({ request in
                requests.change { $0.append(request) }
                return .init("", status: 204)
            }) { hooks in
                func rename(_ name: JSONValue, at server: RunningServer) async throws {
                    let renamed = try await server.patch(
                        "/v1/locations/restaurant_a", key: key, ["name": name])
                    #expect(renamed.status == 200, "\(renamed)")
                }
                let (start, _) = try await RunningServer.lend(installation.binary) { server in
                    let first = try await server.get("/v1/events", key: key)
                    #expect(first.status == 200 && first["data"] == [] && first["missed"] == false)
                    try await rename("One", at: server)
                    return try #require(first["next"]?.stringValue)
                }
                _ = try await RunningServer.lend(installation.binary) { server in
                    try await rename("Two", at: server)
                    var remote = DoorstepBinary(databaseURL: "")
                    remote.environment["DOORSTEP_SERVER"] = server.address
                    remote.environment["DOORSTEP_KEY"] = key
                    let sample = try await remote.succeed("webhook", "trigger", "domain.lapsed")
                    #expect(sample.output.contains("listeners receive"))
                    var seen: [Set<String>] = []
                    for path in ["/one", "/two"] {
                        let outcome = try await remote.succeed(
                            "webhook", "listen", "--after", start, "--limit", "3", "--format", "json",
                            "--forward-to", "http://127.0.0.1:\(hooks.port)\(path)", "--secret-file",
                            file.path)
                        #expect(!outcome.errors.contains("missing"), "\(outcome.errors)")
                        let printed = try outcome.output.split(separator: "\n").map {
                            try #require(try JSONValue(parsing: $0.utf8).objectValue)
                        }
                        #expect(
                            printed.map { $0["type"] }
                                == ["location.changed", "location.changed", "domain.lapsed"])
                        let told = try requests.value.filter { $0.path == path }
                            .map { try Received($0, signedWith: secret) }
                        #expect(told.map { .string($0.id) } == printed.map { $0["id"] })
                        seen.append(Set(told.map(\.id)))
                        // The position at the end follows all three events.
                        let end = try #require(
                            outcome.errors.split(separator: "\n").last { $0.hasPrefix("Continue") })
                        let position = end.split(separator: " ").last ?? ""
                        let rest = try await server.get("/v1/events?after=\(position)", key: key)
                        #expect(rest["data"] == [] && rest["missed"] == false, "\(rest)")
                    }
                    #expect(seen[0].count == 3 && seen[0] == seen[1])
                }
            }
        }
    }

    /// A webhook URL with any address of this machine is refused, and nothing is sent.
    @Test func webhookCannotReachServersOwnNetwork() async throws {
        try await Self.withInstallation { installation, key in
            let asked = Shared(0)
            try await LocalWebServer.lend({ _ in
                asked.change { $0 += 1 }
                return .init("")
            }) { inside in
                var binary = installation.binary
                binary.environment["DOORSTEP_OUTBOUND_ALLOW"] = "10.0.0.0/8"
                _ = try await RunningServer.lend(binary) { server in
                    for host in [
                        "http://127.0.0.1", "http://localhost", "http://[::1]", "https://[::ffff:7f00:1]",
                        "https://[64:ff9b::7f00:1]", "https://169.254.169.254", "https://[fe80::1]",
                        "https://192.168.1.1", "https://127.1", "https://2130706433", "https://0x7f.1",
                    ] {
                        let refused = try await server.post(
                            "/v1/webhooks", key: key, ["url": .string("\(host):\(inside.port)/")])
                        #expect(refused.status == 400 && refused["field"] == "url", "\(host)")
                    }
                }
                #expect(asked.value == 0)
            }
        }
    }
}
