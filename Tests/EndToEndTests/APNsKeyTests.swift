import APNsSimulator
import Formats
import Foundation
import TestSupport
import Testing

/// Replaces keys for APNs while the server runs.
@Suite(.timeLimit(.minutes(30))) struct APNsKeyTests {
    private static let instance = "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10"
    private static let url = "https://example.com/restaurants/restaurant_a/order/1"

    /// A delivery without a key of its team is delivered at its next attempt after the list contains the key.
    @Test func serverReloadsKeyList() async throws {
        try await Installation.lend { installation in
            let key = ProviderKey(in: try TemporaryDirectory())
            try await APNsSimulator.withSimulator(key.simulator) { simulator in
                var binary = installation.binary
                binary.environment.merge(
                    try key.settings(for: simulator, listedFor: "ZYXWV98765")
                ) { $1 }
                let server = try SupervisedServer(binary)
                try await server.start()
                do {
                    try await Self.send(server, installation)
                    try await Self.expect("keys are told of", within: server) { log in
                        log.contains("keys for APNs") && log.contains(ProviderKey.id)
                    }
                    try key.writeList("{")
                    try await Self.expect("unreadable lists are told of", within: server) {
                        $0.contains("the keys for APNs cannot be read")
                    }
                    try key.list(for: ProviderKey.team)
                    try await Self.expect("other keys are told of", within: server) {
                        $0.split(separator: "[Doorstep] keys for APNs").count >= 3
                    }
                    #expect(simulator.counters.accepted == 0)
                    let tried = try await binary.succeed(
                        "delivery", "retry", "--tenant", Installation.tenant, "--state", "refused",
                        "--reason", "no_key", "--format", "json"
                    ).json()
                    #expect(tried.objectValue?["queued"] == 1)
                    await simulator.wait { $0.accepted == 1 }
                    try await server.stop()
                } catch {
                    await server.kill()
                    throw error
                }
                #expect(!server.log.contains("PRIVATE KEY"))
            }
        }
    }

    /// The server could not prefer one of the keys.
    @Test func keysForSameTopicAreRejected() async throws {
        try await Installation.lend { installation in
            let key = ProviderKey(in: try TemporaryDirectory())
            try await APNsSimulator.withSimulator(key.simulator) { simulator in
                var binary = installation.binary
                binary.environment.merge(try key.settings(for: simulator)) { $1 }
                for (rest, place) in [
                    ("", "keys[1] "), (#", "topics": []"#, "keys[1].topics"),
                    (#", "topics": [7]"#, "keys[1].topics"),
                ] {
                    try key.writeList(
                        #"{"keys": [{"team": "ABCDE12345", "id": "KEY0000001", "file": "AuthKey.p8"}, "#
                            + #"{"team": "ABCDE12345", "id": "KEY0000002", "file": "AuthKey.p8"\#(rest)}]}"#)
                    let refused = try await binary.run("serve", "--port", "0")
                    #expect(refused.status == 1)
                    #expect(refused.errors.contains(place), "\(refused.errors)")
                }
            }
        }
    }

    private static func send(_ server: SupervisedServer, _ installation: Installation) async throws {
        let registered = try await server.send(
            "PUT", "/v1/instances/\(instance)", key: installation.publishable,
            [
                "url": .string(url), "token": .string(String(repeating: "0a", count: 32)),
                "environment": "production", "permission": "ephemeral",
            ])
        #expect(registered.status == 201)
        let sent = try await server.send(
            "POST", "/v1/notifications", key: installation.secret,
            ["url": .string(url), "aps": ["alert": "Ready."], "audience": ["instance": .string(instance)]])
        #expect(sent.status == 201)
    }

    private static func expect(
        _ what: Comment, within server: SupervisedServer, _ condition: (String) -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while !condition(server.log) {
            try #require(ContinuousClock.now < deadline, what)
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
