import Formats
import Foundation
import Testing

/// Counts of launches, with the built binary.
@Suite struct StatisticsTests {
    private static let lookups = 500

    /// Two servers serve clips, and one of them restarts without a kill. The counts equal the numbers of sent requests: in the
    /// command with a database, in the command at a server, and in the CSV file.
    @Test func countsEqualTheRequestsOfClips() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            func serve(_ location: String, confirming count: Int) async throws {
                _ = try await RunningServer.lend(binary) { server in
                    let url = "https://example.com/restaurants/\(location)"
                    try await withThrowingTaskGroup { group in
                        for _ in 0..<4 {
                            group.addTask {
                                for _ in 0..<(Self.lookups / 4) {
                                    let status = try await server.lookUp(url, key: installation.publishable)
                                        .status
                                    #expect(status == 200)
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                    for number in 0..<count {
                        let response = try await server.post(
                            "/v1/confirmations", key: installation.publishable,
                            [
                                "url": .string(url), "source": "nfc",
                                "deviceResult": ["inRegion": .bool(number > 0)],
                            ])
                        #expect(response.status == 200)
                    }
                }
            }
            async let first: Void = serve("restaurant_a", confirming: 3)
            async let second: Void = serve("restaurant_b", confirming: 2)
            _ = try await (first, second)
            try await serve("restaurant_a", confirming: 1)

            let arguments = ["statistics", "list", "--by", "location", "--format", "json"]
            let tenant = ["--tenant", Installation.tenant]
            let listed = try await binary.succeed(arguments + tenant).json()
            let expected: JSONValue = [
                [
                    "location": "restaurant_a", "lookups": JSONValue(2 * Self.lookups), "confirmations": 4,
                    "inRegion": 2, "launchReports": 0, "delivered": 0,
                ],
                [
                    "location": "restaurant_b", "lookups": JSONValue(Self.lookups), "confirmations": 2,
                    "inRegion": 1, "launchReports": 0, "delivered": 0,
                ],
            ]
            #expect(listed == expected)
            let file = try await binary.succeed(
                ["statistics", "export", "--by", "experience"] + tenant
            ).output
            #expect(
                file.split(whereSeparator: \.isNewline) == [
                    "experience,lookups,confirmations,inRegion,launchReports,delivered",
                    "https://example.com/restaurants/restaurant_a,\(2 * Self.lookups),,,0,0",
                    "https://example.com/restaurants/restaurant_b,\(Self.lookups),,,0,0",
                ])
            let created = try await binary.succeed(
                ["key", "create", "--kind", "secret", "--scope", "read"] + tenant
            ).json()
            let key = try #require(created.objectValue?["key"]?.stringValue)
            _ = try await RunningServer.lend(binary) { server in
                var remote = DoorstepBinary(databaseURL: "")
                remote.environment["DOORSTEP_SERVER"] = server.address
                remote.environment["DOORSTEP_KEY"] = key
                let atServer = try await remote.succeed(arguments).json()
                #expect(atServer == expected)
            }
        }
    }
}
