import JSON
import TestSupport
import Testing

/// A proved domain's association file, as a running server gives it.
@Suite(.timeLimit(.minutes(10))) struct SiteAssociationTests {
    static let path = "/.well-known/apple-app-site-association"

    /// Claims and proves a domain.
    static func prove(_ host: String, _ binary: DoorstepBinary) async throws {
        let challenge = try DomainTests.challenge(try await DomainTests.claim(binary, host))
        _ = try await DomainTests.withRecords([
            "_doorstep-challenge.\(host)": "doorstep-verification=\(challenge)"
        ]) { resolver in
            try await binary.succeed(
                "domain", "verify", "--tenant", Installation.tenant, host, "--resolver", resolver)
        }
    }

    @Test func aDomainIsServedFromItsProofToItsRelease() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            _ = try await RunningServer.lend(binary) { server in
                #expect(try await server.get(Self.path, host: "example.com").status == 404)
                try await Self.prove("example.com", binary)
                let file = try await server.get(Self.path, host: "EXAMPLE.com:8080", becoming: 200)
                #expect(file.json == Self.expected)
                #expect(try await server.get(Self.path, host: "www.example.com").status == 404)

                try await binary.succeed(
                    "domain", "release", "--tenant", Installation.tenant, "example.com")
                let gone = try await server.get(Self.path, host: "example.com", becoming: 404)
                #expect(gone["code"] == "unknown_host")
            }
        }
    }

    static let expected: JSONValue = [
        "appclips": ["apps": ["ABCDE12345.com.example.MyApp.Clip"]],
        "applinks": [
            "details": [
                [
                    "appIDs": ["ABCDE12345.com.example.MyApp"],
                    "components": [
                        ["/": "/restaurants/restaurant_a"], ["/": "/restaurants/restaurant_a/*"],
                        ["/": "/restaurants/restaurant_b"], ["/": "/restaurants/restaurant_b/*"],
                    ],
                ]
            ]
        ],
    ]
}
