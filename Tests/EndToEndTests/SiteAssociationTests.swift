import Formats
import TestSupport
import Testing

/// The association file of a proved domain, served by a running server.
@Suite(.timeLimit(.minutes(30))) struct SiteAssociationTests {
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

    @Test func associationIsServedFromProofToRelease() async throws {
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

    /// Content for other services is in the served file, survives a new claim, and disappears when it is removed.
    @Test func storedContentIsMergedIntoServedFile() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let tenant = ["--tenant", Installation.tenant]
            let content =
                #"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.Other"],"components":[{"/":"/help/*"}]}]},"webcredentials":{"apps":["ABCDE12345.com.example.Other"]}}"#
            let unclaimed = try await binary.run(
                ["domain", "content", "set", "example.com", "-"] + tenant, input: content)
            #expect(unclaimed.status == 1 && unclaimed.errors.contains("has not claimed example.com"))
            _ = try await RunningServer.lend(binary) { server in
                try await Self.prove("example.com", binary)
                _ = try await server.get(Self.path, host: "example.com", becoming: 200)
                for (text, reason) in [
                    (#"{"appclips":{"apps":[]}}"#, "appclips is written by Doorstep"),
                    (
                        #"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.MyApp.Clip"]}]}}"#,
                        "applinks.details[0].appIDs[0] is an App Clip"
                    ),
                    (
                        #"{"applinks":{"details":[{"appIDs":"ABCDE12345.com.example.Other"}]}}"#,
                        "applinks.details[0].appIDs must be an array"
                    ),
                    ("{", "the content is not JSON"),
                    (#"{"a":"\#(String(repeating: "x", count: 140_000))"}"#, "at most 32768"),
                ] {
                    let refused = try await binary.run(
                        ["domain", "content", "set", "example.com", "-"] + tenant, input: text)
                    #expect(
                        refused.status == 1 && refused.output.isEmpty && refused.errors.contains(reason),
                        "\(refused.errors)")
                }
                let kept = try await binary.run(
                    ["domain", "content", "set", "example.com", "-"] + tenant, input: content)
                #expect(
                    kept.output == "Stored \(content.utf8.count) bytes for example.com\n", "\(kept.errors)")
                let shown = try await binary.succeed(
                    "domain", "content", "show", "example.com", "--tenant", Installation.tenant)
                #expect(try shown.json() == JSONValue(parsing: content.utf8))
                let merged = try await server.get(
                    Self.path, host: "example.com", where: { $0["webcredentials"] != nil })
                #expect(merged["webcredentials"] == ["apps": ["ABCDE12345.com.example.Other"]])
                #expect(merged["appclips"] == Self.expected.objectValue?["appclips"])
                let details = merged["applinks"]?.objectValue?["details"]?.arrayValue
                #expect(
                    details?.map { $0.objectValue?["appIDs"] } == [
                        ["ABCDE12345.com.example.Other"], ["ABCDE12345.com.example.MyApp"],
                    ])

                try await binary.succeed(
                    "domain", "content", "remove", "example.com", "--tenant", Installation.tenant)
                let removed = try await server.get(
                    Self.path, host: "example.com", where: { $0["webcredentials"] == nil })
                #expect(removed.json == Self.expected)
                for verb in ["show", "remove"] {
                    let nothing = try await binary.run(["domain", "content", verb, "example.com"] + tenant)
                    #expect(nothing.status == 1)
                    #expect(nothing.errors == "Error: example.com has no additional content\n")
                }
            }
        }
    }

    static let expected: JSONValue = [
        "appclips": ["apps": ["ABCDE12345.com.example.MyApp", "ABCDE12345.com.example.MyApp.Clip"]],
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
