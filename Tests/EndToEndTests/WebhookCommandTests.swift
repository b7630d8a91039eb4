import Foundation
import JSON
import LocalServers
import PostgreSQL
import Synchronization
import TestSupport
import Testing

@Suite struct WebhookCommandTests {
    private static func withInstallation(_ body: (Installation) async throws -> Void) async throws {
        try await Installation.lend { installation in
            var installation = installation
            installation.binary.environment["DOORSTEP_TOKEN_SECRET"] =
                "a secret of the tests that is long enough"
            try await body(installation)
        }
    }

    @Test func aWebhookIsCreatedChangedTestedRotatedAndDeleted() async throws {
        try await Self.withInstallation { installation in
            let binary = installation.binary
            let requests = Mutex<[LocalWebServer.Request]>([])
            let status = Mutex(204)
            try await LocalWebServer.lend({ request in
                requests.withLock { $0.append(request) }
                return .init("", status: status.withLock { $0 })
            }) { server in
                let url = "http://127.0.0.1:\(server.port)/hooks"
                let tenant = ["--tenant", Installation.tenant]
                #expect(try await binary.run(["webhook", "test"] + tenant).status == 1)
                let list = ["webhook", "list", "--format", "json"] + tenant
                #expect(try await binary.succeed(list).json() == [])
                let update = ["webhook", "update", "--url", url + "/2", "--format", "json"] + tenant
                #expect(try await binary.run(update).errors.contains("has no webhook"))
                let created = try await binary.succeed(
                    ["webhook", "create", url, "--format", "json"] + tenant
                ).json()
                let secret = try #require(created.objectValue?["secret"]?.stringValue)
                #expect(secret.hasPrefix("whsec_"))
                let again = try await binary.run(["webhook", "create", url + "/2"] + tenant)
                #expect(again.status == 1 && again.errors.contains("has the webhook \(url) already"))
                // The secret was shown once.
                let updated = try await binary.succeed(update)
                #expect(!updated.output.contains("whsec_"))
                #expect(try updated.json().objectValue?["url"] == .string(url + "/2"))
                #expect(try await binary.succeed(list).json() == .array([updated.json()]))
                var strict = binary
                strict.environment["DOORSTEP_OUTBOUND_ALLOW"] = "10.0.0.0/8"
                let inside = try await strict.run(["webhook", "test"] + tenant)
                #expect(inside.status == 1 && inside.errors.contains("not public"))
                #expect(requests.withLock { $0.isEmpty })
                try await binary.succeed(["webhook", "test"] + tenant)
                let request = try #require(requests.withLock { $0.last })
                #expect(request.path == "/hooks/2" && request.method == "POST")
                #expect(try JSONValue(parsing: request.body).objectValue?["type"] == "doorstep.test")
                let rotated = try await binary.succeed(["webhook", "rotate", "--format", "json"] + tenant)
                    .json()
                #expect(rotated.objectValue?["secret"]?.stringValue != secret)
                let shown = try await binary.succeed(["webhook", "show", "--format", "json"] + tenant)
                #expect(try shown.json() == updated.json())
                status.withLock { $0 = 500 }
                let refused = try await binary.run(["webhook", "test"] + tenant)
                #expect(refused.status == 1 && refused.errors.contains("answered 500"))
                let removed = try await binary.succeed(["webhook", "delete", "--format", "json"] + tenant)
                #expect(try removed.json() == ["messages": 0])
                #expect(try await binary.run(["webhook", "delete"] + tenant).status == 1)
                #expect(try await binary.run(["webhook", "show"] + tenant).status == 1)
            }
        }
    }

    @Test(arguments: ["http://example.com/", "https://user:x@example.com/", "nonsense"])
    func otherURLsAreRefused(url: String) async throws {
        let outcome = try await DoorstepBinary(databaseURL: "host=/nowhere").run(
            "webhook", "create", "--tenant", "t", url)
        #expect(outcome.status == 64 && outcome.output.isEmpty)
    }

    @Test func withoutTheTokenSecretNothingIsDone() async throws {
        try await Installation.lend { installation in
            let outcome = try await installation.binary.run(
                "webhook", "show", "--tenant", Installation.tenant)
            #expect(outcome.status == 1 && outcome.errors.contains("DOORSTEP_TOKEN_SECRET"))
        }
    }

    @Test func aTenantsNotificationsCollapseAsItIsSaid() async throws {
        try await Installation.lend { installation in
            let outcome = try await installation.binary.succeed(
                "tenant", "collapse", Installation.tenant, "--by", "business", "--format", "json")
            #expect(try outcome.json() == ["slug": .string(Installation.tenant), "collapse": "business"])
            #expect(
                try await installation.binary.run(
                    "tenant", "collapse", Installation.tenant, "--by", "day"
                ).status == 64)
            #expect(
                try await installation.binary.run("tenant", "collapse", "nobody", "--by", "url").status == 1)
        }
    }
}
