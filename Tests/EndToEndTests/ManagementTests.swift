import Foundation
import JSON
import Testing

/// A catalogue that is managed by HTTP alone.
@Suite struct ManagementTests {
    @Test func whatIsAnsweredIsLookedUpAtOnce() async throws {
        try await Installation.lend { installation in
            let made = try await installation.binary.succeed(
                ["key", "create", "--tenant", Installation.tenant, "--kind", "secret"]
                    + ["look_up", "read", "manage"].flatMap { ["--scope", $0] }
            ).json()
            let key = try #require(made.objectValue?["key"]?.stringValue)
            let (_, status) = try await RunningServer.lend(installation.binary) { server in
                let url = "https://example.com/branches/b1"
                func place() async throws -> JSONObject? {
                    let answer = try await server.lookUp(url, key: key)
                    return answer["location"]?.objectValue
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

                // By the command as by HTTP.
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
            let actor = "key:\(try #require(made.objectValue?["id"]?.stringValue))"
            #expect(history.arrayValue?.count == 22)
            #expect(history.arrayValue?.allSatisfy { $0.objectValue?["actor"] == .string(actor) } == true)
        }
    }
}
