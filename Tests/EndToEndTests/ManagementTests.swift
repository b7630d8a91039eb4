import Formats
import Foundation
import LocalServers
import NIOHTTP1
import TestSupport
import Testing

/// Manages a catalogue with HTTP requests.
@Suite struct ManagementTests {
    private static func managingKey(
        _ installation: Installation, _ scopes: [String] = ["lookup", "read", "manage"]
    ) async throws -> (key: String, id: String) {
        let made = try await installation.binary.succeed(
            ["key", "create", "--tenant", Installation.tenant, "--kind", "secret"]
                + scopes.flatMap { ["--scope", $0] }
        ).json()
        return (
            try #require(made.objectValue?["key"]?.stringValue),
            try #require(made.objectValue?["id"]?.stringValue)
        )
    }

    @Test func changesByHTTPAreLookedUpImmediately() async throws {
        try await Installation.lend { installation in
            let (key, keyID) = try await Self.managingKey(installation)
            let (_, status) = try await RunningServer.lend(installation.binary) { server in
                let url = "https://example.com/branches/b1"
                func place() async throws -> JSONObject? {
                    let response = try await server.lookUp(url, key: key)
                    return response["location"]?.objectValue
                }
                let clip = try await server.put(
                    "/v1/clips/com.example.Branches.Clip", key: key, ["teamID": "ABCDE12345"])
                #expect(clip.status == 201)
                let location = try await server.put(
                    "/v1/locations/b1", key: key,
                    ["name": "Branch 1", "latitude": 1, "longitude": 2, "radius": 100])
                #expect(location.status == 201)
                let experience = try await server.post(
                    "/v1/experiences", key: key,
                    [
                        "clip": "com.example.Branches.Clip", "url": "https://example.com/branches",
                        "identifierRule": "path:1",
                    ])
                #expect(experience.status == 201)
                #expect(try await place()?["name"] == "Branch 1")

                for number in 0..<20 {
                    let name = JSONValue.string("Branch \(number)")
                    #expect(
                        try await server.patch("/v1/locations/b1", key: key, ["name": name]).status == 200)
                    #expect(try await place()?["name"] == name)
                }
                let id = try #require(experience["id"]?.stringValue)
                let rebound = try await server.patch(
                    "/v1/experiences/\(id)", key: key, ["identifierRule": .null, "location": "b1"])
                #expect(rebound.status == 200)
                let inUse = try await server.delete("/v1/locations/b1", key: key)
                #expect(inUse.status == 409 && inUse["code"] == "in_use")
                #expect(try await server.delete("/v1/locations/b1?cascade=true", key: key).status == 204)
                #expect(try await place() == nil)
                #expect(try await server.get("/v1/experiences/\(id)", key: key).status == 404)
                #expect(
                    try await server.delete("/v1/clips/com.example.Branches.Clip", key: key).status == 204)

                // The command lists the same as HTTP.
                let listed = try await server.get("/v1/locations", key: key)
                let printed = try await installation.binary.succeed(
                    "location", "list", "--tenant", Installation.tenant, "--format", "json"
                ).json()
                #expect(listed["data"] == printed && listed["data"]?.arrayValue?.count == 2)
                #expect(try await server.get("/v1/locations", key: installation.secret).status == 403)
            }
            #expect(status == 0)
            let history = try await installation.binary.succeed(
                "location", "history", "--tenant", Installation.tenant, "b1", "--format", "json"
            ).json()
            let actor = "key:\(keyID)"
            #expect(history.arrayValue?.count == 22)
            #expect(history.arrayValue?.allSatisfy { $0.objectValue?["actor"] == .string(actor) } == true)
        }
    }

    @Test func concurrentRequestsWithOneIdempotencyKeyCreateOnce() async throws {
        try await Installation.lend { installation in
            let (key, _) = try await Self.managingKey(installation, ["lookup", "manage_keys"])
            _ = try await RunningServer.lend(installation.binary) { first in
                _ = try await RunningServer.lend(installation.binary) { second in
                    @Sendable func create(at number: Int) async throws -> RunningServer.Answer {
                        try await (number % 2 == 0 ? first : second).send(
                            .POST, "/v1/keys", key: key, #"{"kind": "secret"}"#, type: "application/json",
                            fields: ["Idempotency-Key": "key for the kiosk"])
                    }
                    let count = try await first.get("/v1/keys", key: key)["data"]?.arrayValue?.count ?? 0
                    let responses = try await withThrowingTaskGroup(of: RunningServer.Answer.self) { group in
                        for number in 0..<12 { group.addTask { try await create(at: number) } }
                        return try await group.reduce(into: []) { $0.append($1) }
                    }
                    for number in 0..<2 {
                        let again = try await create(at: number)
                        #expect(again.status == 201)
                        for response in responses {
                            if response.status == 201 {
                                #expect(response.json == again.json)
                            } else {
                                #expect(
                                    response.status == 409 && response["code"] == "idempotency_key_in_use")
                            }
                        }
                    }
                    #expect(responses.contains { $0.status == 201 })
                    let keys = try await second.get("/v1/keys", key: key)
                    #expect(keys["data"]?.arrayValue?.count == count + 1)
                }
            }
        }
    }

    /// Replaces whole collections over HTTP and with the command; and breaks off a body.
    @Test func collectionIsReplacedAtomically() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            let made = try await binary.succeed(
                ["key", "create", "--tenant", Installation.tenant, "--kind", "secret"]
                    + ["lookup", "read", "manage"].flatMap { ["--scope", $0] }
            ).json()
            let key = try #require(made.objectValue?["key"]?.stringValue)
            let exporting = ["location", "export", "--tenant", Installation.tenant]
            let before = try await binary.succeed(exporting).output
            let (_, status) = try await RunningServer.lend(binary) { server in
                func send(
                    _ method: HTTPMethod, _ path: String, _ body: String
                ) async throws
                    -> RunningServer.Answer
                {
                    // The server may not have given up an interrupted import yet.
                    while true {
                        let response = try await server.send(method, path, key: key, body, type: "text/csv")
                        if response["code"] != "conflict" { return response }
                    }
                }
                // The file repeats the existing rows, so that they stay, and adds 2,000 rows.
                let more = before + (0..<2_000).map { "p\($0),Place \($0),1,2,100\n" }.joined()
                let (total, there) = (2_000, before.split { $0.isNewline }.count - 1)
                let counts: JSONObject = [
                    "added": JSONValue(total), "changed": 0, "removed": 0, "unchanged": JSONValue(there),
                ]
                let plan = try await send(.PUT, "/v1/locations?dryRun=true", more)
                #expect(plan.status == 200 && plan["added"] == JSONValue(total), "\(plan)")
                #expect(plan["plan"]?.objectValue?["added"]?.arrayValue?.count == 100)
                #expect(try await binary.succeed(exporting).output == before)

                // The body breaks off within a row, before its declared length, and within a chunk.
                let head =
                    "PUT /v1/locations HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\n"
                    + "Content-Type: text/csv\r\n"
                for end in [
                    "Content-Length: \(more.utf8.count + 1)\r\n\r\n\(more)",
                    "Transfer-Encoding: chunked\r\n\r\n\(String(more.utf8.count, radix: 16))\r\n\(more)\r\n",
                ] {
                    try await RawConnection(server.address).sendAndClose(Array((head + end).utf8))
                }
                let bad = try await send(.PUT, "/v1/locations", more + "last,Last,91,0,1\n")
                #expect(bad.status == 422 && bad["code"] == "invalid_rows" && bad["count"] == 1)
                #expect(bad["rows"]?.arrayValue?.first?.objectValue?["line"] == JSONValue(there + total + 2))
                #expect(try await binary.succeed(exporting).output == before)

                let done = try await send(.PUT, "/v1/locations", more)
                #expect(done.status == 200 && done.json == .object(counts), "\(done)")
                let again = try await send(.PATCH, "/v1/locations", more)
                #expect(again["unchanged"] == JSONValue(there + total))
                let after = try await binary.succeed(exporting).output
                #expect(after.split { $0.isNewline }.count == there + total + 1)

                // The command reports the same as HTTP.
                let planned = try await binary.succeed(
                    ["location", "import", "--tenant", Installation.tenant, "-", "--dry-run", "--prune"]
                        + ["--format", "json"], input: before)
                let wouldGo = try await send(.PUT, "/v1/locations?dryRun=true", before)
                #expect(try planned.json() == wouldGo.json && wouldGo["removed"] == 2_000)
                let tooMany = try await send(.PUT, "/v1/locations", before)
                #expect(tooMany.status == 409 && tooMany["code"] == "too_many_removals")
                let pruning = ["location", "import", "--tenant", Installation.tenant, "-", "--prune"]
                let refused = try await binary.run(pruning, input: before)
                #expect(refused.status == 1 && refused.errors.contains("2000 of \(there + total)"))
                let pruned = try await binary.succeed(
                    pruning + ["--allow-removals", "2000"], input: before)
                #expect(pruned.output == "0 added, 0 changed, 2000 removed, \(there) unchanged\n")
                #expect(try await binary.succeed(exporting).output == before)
            }
            #expect(status == 0)
        }
    }

    @Test func domainIsProvedAndServedOverHTTP() async throws {
        try await Installation.lend { installation in
            let (key, _) = try await Self.managingKey(installation)
            let records = Shared<[String: String]>([:])
            try await LocalNameServer.lend({ name in records.value[name].map { .texts([[$0]]) } }) { names in
                var binary = installation.binary
                binary.environment["DOORSTEP_RESOLVER"] = "127.0.0.1:\(names.port)"
                let (_, status) = try await RunningServer.lend(binary) { server in
                    let path = "/v1/domains/example.com"
                    let claimed = try await server.put(
                        path, key: key, ["content": ["webcredentials": ["apps": ["ABCDE12345.com.example"]]]])
                    #expect(claimed.status == 201 && claimed["status"] == "claimed")
                    let record = try #require(claimed["record"]?.objectValue)
                    let name = try #require(record["name"]?.stringValue)
                    let value = try #require(record["value"]?.stringValue)
                    records.change { $0[name] = value }
                    let proved = try await server.post("\(path)/verify", key: key, [:])
                    #expect(proved.status == 200 && proved["status"] == "proved")
                    #expect(proved["method"] == "dns")

                    // The file is served before the response arrives, with the clip and the content.
                    let file = try await server.get(
                        "/.well-known/apple-app-site-association", host: "example.com")
                    #expect(file.status == 200 && file["webcredentials"] != nil && file["appclips"] != nil)
                    let listed = try await server.get("/v1/domains", key: key)
                    let printed = try await binary.succeed(
                        "domain", "list", "--tenant", Installation.tenant, "--format", "json"
                    ).json()
                    #expect(listed["data"] == printed && printed.arrayValue?.count == 1)
                    #expect(try await server.delete(path, key: key).status == 204)
                    let gone = try await server.get(
                        "/.well-known/apple-app-site-association", host: "example.com")
                    #expect(gone.status == 404)
                }
                #expect(status == 0)
            }
        }
    }
}
