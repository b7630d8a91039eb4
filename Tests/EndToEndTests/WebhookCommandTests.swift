import Formats
import Foundation
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

    @Test func webhookIsCreatedChangedTestedRotatedAndDeleted() async throws {
        try await Self.withInstallation { installation in
            let binary = installation.binary
            let requests = Mutex<[LocalWebServer.Request]>([])
            let status = Mutex(204)
            try await LocalWebServer.lend({ request in
                requests.withLock { $0.append(request) }
                return .init("", status: status.withLock { $0 })
            }) { server in
                let url = "http://127.0.0.1:\(server.port)/hooks"
                let options = ["--format", "json", "--tenant", Installation.tenant]
                func webhook(_ arguments: String...) async throws -> JSONValue {
                    try await binary.succeed(["webhook"] + arguments + options).json()
                }
                func refusal(_ arguments: String...) async throws -> String {
                    let outcome = try await binary.run(["webhook"] + arguments + options)
                    #expect(outcome.status == 1)
                    return outcome.errors
                }
                #expect(try await webhook("list") == [])
                let created = try await webhook("create", url)
                let id = try #require(created.objectValue?["id"]?.stringValue)
                let secret = try #require(created.objectValue?["secret"]?.stringValue)
                #expect(secret.hasPrefix("whsec_"))
                let second = try await webhook(
                    "create", url + "/3", "--event", "key.revoked", "--event", "location.changed")
                #expect(second.objectValue?["events"] == ["location.changed", "key.revoked"])
                let secondID = try #require(second.objectValue?["id"]?.stringValue)
                // The secret was shown only once.
                let updated = try await webhook("update", id, "--url", url + "/2")
                #expect(updated.objectValue?["secret"] == nil)
                #expect(updated.objectValue?["url"] == .string(url + "/2"))
                #expect(updated.objectValue?["events"] == ["delivery.finished"])
                let listed = try await webhook("list")
                #expect(listed.arrayValue?.count == 2 && listed.arrayValue?.first == updated)
                var strict = binary
                strict.environment["DOORSTEP_OUTBOUND_ALLOW"] = "10.0.0.0/8"
                let inside = try await strict.run(["webhook", "test", id] + options)
                #expect(inside.status == 1 && inside.errors.contains("not public"))
                #expect(requests.withLock { $0.isEmpty })
                _ = try await webhook("test", id)
                let request = try #require(requests.withLock { $0.last })
                #expect(request.path == "/hooks/2" && request.method == "POST")
                #expect(try JSONValue(parsing: request.body).objectValue?["type"] == "doorstep.test")
                let rotated = try await webhook("rotate", id)
                #expect(rotated.objectValue?["secret"]?.stringValue != secret)
                #expect(try await webhook("show", id) == updated)
                status.withLock { $0 = 500 }
                #expect(try await refusal("test", id).contains("status 500"))

                // The transaction of the change stores the message, which waits.
                try await binary.succeed(
                    "location", "update", "restaurant_a", "--name", "Renamed", "--tenant",
                    Installation.tenant)
                let messages = try await webhook("messages", secondID)
                let message = try #require(messages.arrayValue?.first?.objectValue)
                #expect(messages.arrayValue?.count == 1 && message["type"] == "location.changed")
                #expect(message["state"] == "waiting" && message["attempts"] == [])
                let messageID = try #require(message["id"]?.stringValue)
                // The message waits and is due at once.
                #expect(try await webhook("replay", secondID, "--message", messageID) == ["queued": 1])
                let unknown = "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10"
                #expect(
                    try await refusal("replay", secondID, "--message", unknown).contains(
                        "no message with this ID"))
                #expect(
                    try await strict.run(["webhook", "create", "https://127.0.0.1/x"] + options).errors
                        .contains("--outbound-allow"))
                let off = try await webhook("update", secondID, "--disable")
                #expect(off.objectValue?["enabled"] == false && off.objectValue?["waiting"] == 0)
                #expect(
                    try await refusal("replay", secondID, "--message", messageID).contains("disabled"))
                #expect(try await webhook("update", secondID, "--enable").objectValue?["enabled"] == true)
                let replayed = try await webhook(
                    "replay", secondID, "--since", "2020-01-01T00:00:00Z", "--state", "given_up")
                #expect(replayed == ["queued": 1])

                #expect(
                    try await webhook("delete", secondID)
                        == ["deleted": .string(secondID), "messages": 1])
                #expect(try await webhook("delete", id) == ["deleted": .string(id), "messages": 0])
                for command in ["delete", "show", "test"] {
                    #expect(try await refusal(command, id).contains("no webhook with this ID"))
                }
            }
        }
    }

    @Test(arguments: ["http://example.com/", "https://user:x@example.com/", "nonsense"])
    func invalidWebhookURLIsRejected(url: String) async throws {
        let outcome = try await DoorstepBinary(databaseURL: "host=/nowhere").run(
            "webhook", "create", "--tenant", "t", url)
        #expect(outcome.status == 64 && outcome.output.isEmpty)
    }

    @Test func missingTokenSecretIsReported() async throws {
        try await Installation.lend { installation in
            let outcome = try await installation.binary.run(
                "webhook", "list", "--tenant", Installation.tenant)
            #expect(outcome.status == 1 && outcome.errors.contains("DOORSTEP_TOKEN_SECRET"))
        }
    }

    @Test func tenantCollapseSettingIsChanged() async throws {
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
