import Formats
import Foundation
import LocalServers
import TestSupport
import Testing

/// Domains from the claim to the release, and association files of other sites, with the built command.
@Suite(.timeLimit(.minutes(30))) struct DomainTests {
    private static let tenant = ["--tenant", Installation.tenant]

    static func claim(
        _ binary: DoorstepBinary, _ host: String, tenant: String = Installation.tenant
    ) async throws -> JSONObject {
        try #require(
            try await binary.succeed("domain", "claim", "--tenant", tenant, host, "--format", "json").json()
                .objectValue)
    }

    static func challenge(_ claim: JSONObject) throws -> String {
        try #require(claim["file"]?.objectValue?["content"]?.stringValue)
    }

    /// Runs the closure with a DNS server that has one TXT record for each of these hosts.
    static func withRecords<Result: Sendable>(
        _ records: [String: String], _ body: (_ resolver: String) async throws -> Result
    ) async throws -> Result {
        try await LocalNameServer.lend({ name in records[name].map { .texts([[$0]]) } }) { server in
            try await body("127.0.0.1:\(server.port)")
        }
    }

    @Test func domainIsClaimedProvedAndReleased() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let told = try await binary.succeed(["domain", "claim"] + Self.tenant + ["Example.com"]).output
            let claim = try await Self.claim(binary, "example.com")
            let challenge = try Self.challenge(claim)
            for text in [
                "_doorstep-challenge.example.com", "doorstep-verification=\(challenge)",
                "https://example.com/.well-known/doorstep-verification",
            ] { #expect(told.contains(text)) }
            #expect(claim["status"] == "claimed")

            try await Self.withRecords([:]) { resolver in
                let refused = try await binary.run(
                    ["domain", "verify"] + Self.tenant + [
                        "example.com", "--resolver", resolver, "--connect-to", "127.0.0.1:1",
                    ])
                #expect(refused.status == 1)
                #expect(refused.errors.contains("TXT record _doorstep-challenge.example.com not found"))
                #expect(refused.errors.split(separator: "\n").count == 1)
            }
            try await Self.withRecords([
                "_doorstep-challenge.example.com": "doorstep-verification=\(challenge)"
            ]) { resolver in
                let proved = try await binary.succeed(
                    ["domain", "verify"] + Self.tenant + [
                        "example.com", "--resolver", resolver, "--format", "json",
                    ])
                #expect(try proved.json().objectValue?["method"] == "dns")
                #expect(try proved.json().objectValue?["status"] == "proved")
            }
            let listed = try await binary.succeed(["domain", "list"] + Self.tenant).output
            #expect(listed.contains("example.com  proved  dns"))
            try await binary.succeed(["domain", "release"] + Self.tenant + ["example.com"])
            #expect(
                try await binary.succeed(["domain", "list"] + Self.tenant + ["--format", "json"]).json() == []
            )
            let unknown = try await binary.run(["domain", "release"] + Self.tenant + ["example.com"])
            #expect(unknown.status == 1)
            #expect(unknown.errors.contains("has not claimed example.com"))
        }
    }

    @Test func httpsFileProvesDomain() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let challenge = try Self.challenge(try await Self.claim(binary, "shop.example.com"))
            try await TestCertificate.lend(for: ["shop.example.com"]) { certificate in
                try await LocalWebServer.lend(
                    over: certificate,
                    { request in
                        request.host == "shop.example.com"
                            && request.path == "/.well-known/doorstep-verification"
                            ? .init(challenge + "\n") : .init("", status: 404)
                    }
                ) { server in
                    try await Self.withRecords([:]) { resolver in
                        let verify =
                            ["domain", "verify"] + Self.tenant + [
                                "shop.example.com", "--resolver", resolver, "--connect-to",
                                "127.0.0.1:\(server.port)",
                            ]
                        let distrusted = try await binary.run(verify)
                        #expect(distrusted.status == 1)
                        let proved = try await binary.succeed(verify + ["--ca-file", certificate.path])
                        #expect(
                            proved.output.contains(
                                "Proved shop.example.com by the file https://shop.example.com/"))
                    }
                }
            }
        }
    }

    @Test func domainRaceHasOneWinner() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            try await binary.succeed("tenant", "create", "other", "--name", "Other")
            let claims = try await [
                Self.claim(binary, "example.com"), Self.claim(binary, "example.com", tenant: "other"),
            ]
            let values = try claims.map { "doorstep-verification=\(try Self.challenge($0))" }
            try await LocalNameServer.lend({ _ in .texts(values.map { [$0] }) }) { server in
                let outcomes = try await withThrowingTaskGroup(of: DoorstepBinary.Outcome.self) { group in
                    for tenant in [Installation.tenant, "other"] {
                        group.addTask {
                            try await binary.run(
                                "domain", "verify", "--tenant", tenant, "example.com", "--resolver",
                                "127.0.0.1:\(server.port)")
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.map(\.status).sorted() == [0, 1])
                #expect(
                    outcomes.contains { $0.errors.contains("another tenant has verified example.com") })
            }
        }
    }

    /// A domain has changed hands. Its former owner loses it without a command, and both tenants get an event.
    @Test func serverRechecksOwnerWhenRivalVerifies() async throws {
        try await Installation.lend { installation in
            var binary = installation.binary
            try await binary.succeed("tenant", "create", "rival", "--name", "Rival")
            let challenges = [
                try Self.challenge(try await Self.claim(binary, "example.com")),
                try Self.challenge(try await Self.claim(binary, "example.com", tenant: "rival")),
            ]
            let owner = Shared(0)
            try await LocalNameServer.lend({ _ in
                .texts([["doorstep-verification=\(challenges[owner.value])"]])
            }) { names in
                binary.environment["DOORSTEP_RESOLVER"] = "127.0.0.1:\(names.port)"
                try await binary.succeed(["domain", "verify"] + Self.tenant + ["example.com"])
                owner.change { $0 = 1 }
                let serving = binary
                let (_, status) = try await RunningServer.lend(serving) { _ in
                    let taken = try await serving.run("domain", "verify", "--tenant", "rival", "example.com")
                    #expect(taken.errors.contains("another tenant has verified example.com"))
                    let deadline = ContinuousClock.now + .seconds(120)
                    var domain: JSONObject = [:]
                    repeat {
                        domain = try #require(
                            try await serving.succeed(
                                ["domain", "show"] + Self.tenant + ["example.com", "--format", "json"]
                            ).json().objectValue)
                    } while domain["status"] == "proved" && .now < deadline
                    #expect(domain["status"] == "lapsed")
                    #expect(domain["contestedAt"]?.stringValue != nil)
                    #expect(domain["withdrawnFrom"]?.stringValue != nil)
                }
                #expect(status == 0)
            }
            let rival = try await binary.succeed(
                "domain", "show", "--tenant", "rival", "example.com", "--format", "json"
            ).json().objectValue
            #expect(rival?["status"] == "claimed" && rival?["contestedAt"]?.stringValue != nil)
        }
    }

    @Test func allProvedDomainsAreVerifiedAgain() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            try await binary.succeed("tenant", "create", "other", "--name", "Other")
            var records: [String: String] = [:]
            for (host, tenant) in [("a.example", Installation.tenant), ("b.example", "other")] {
                let challenge = try Self.challenge(try await Self.claim(binary, host, tenant: tenant))
                records["_doorstep-challenge.\(host)"] = "doorstep-verification=\(challenge)"
            }
            _ = try await Self.claim(binary, "never-proved.example")
            try await Self.withRecords(records) { resolver in
                for (host, tenant) in [("a.example", Installation.tenant), ("b.example", "other")] {
                    try await binary.succeed(
                        "domain", "verify", "--tenant", tenant, host, "--resolver", resolver)
                }
                let rows = try #require(
                    try await binary.succeed(
                        "domain", "verify", "--all", "--resolver", resolver, "--format", "json"
                    ).json().arrayValue?.compactMap(\.objectValue))
                #expect(Set(rows.map { $0["host"] }) == ["a.example", "b.example"])
                #expect(rows.allSatisfy { $0["status"] == "proved" && $0["detail"] == .null })
            }
            records["_doorstep-challenge.b.example"] = "something else"
            try await Self.withRecords(records) { resolver in
                let outcome = try await binary.run("domain", "verify", "--all", "--resolver", resolver)
                #expect(outcome.status == 1)
                #expect(outcome.errors.contains("1 of 2 proofs was not found"))
                let lines = outcome.output.split(separator: "\n")
                #expect(lines.contains { $0.contains("a.example") && $0.contains("proved") })
                #expect(lines.contains { $0.contains("b.example") && $0.contains("lapsed") })
                let one = try await binary.run(
                    "domain", "verify", "--all", "--tenant", Installation.tenant, "--resolver", resolver)
                #expect(one.status == 0)
                #expect(!one.output.contains("b.example"))
            }
            let listed = try await binary.succeed("domain", "list", "--tenant", "other").output
            #expect(listed.contains("lapsed"))
        }
    }

    @Test(arguments: [
        ["claim", "--tenant", "t", "https://example.com"], ["claim", "--tenant", "t", "*.example.com"],
        ["verify", "example.com"], ["verify"], ["verify", "--all", "example.com"],
        ["verify", "--tenant", "t", "example.com", "--resolver", "dns.example.com"],
        ["verify", "--tenant", "t", "example.com", "--connect-to", "somewhere"],
    ])
    func wrongUsageExitsWithStatus64(arguments: [String]) async throws {
        let outcome = try await DoorstepBinary(databaseURL: "").run(["domain"] + arguments)
        #expect(outcome.status == 64, "\(arguments): \(outcome.errors)")
    }
}
