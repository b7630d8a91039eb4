import Formats
import Foundation
import NIOHTTP1
import TestSupport
import Testing

/// Manages the sample tenants in three ways: with HTTP requests, with the command over HTTP, and with the command at the database.
@Suite struct ManagementParityTests {
    private static let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("sql/samples")

    private struct Sample: Sendable {
        let slug: String
        let name: String
        let teamID: String
        let bundleID: String
        let isMultiBusiness: Bool

        static func all() throws -> [Sample] {
            try text("tenants.csv").split(separator: "\n").dropFirst().map { line in
                let fields = line.split(separator: ",").map(String.init)
                return Sample(
                    slug: fields[0], name: fields[1], teamID: fields[2], bundleID: fields[3],
                    isMultiBusiness: fields[4] == "true")
            }
        }

        static func text(_ path: String) throws -> String {
            try String(contentsOf: samples.appendingPathComponent(path), encoding: .utf8)
        }

        func text(_ name: String) throws -> String { try Self.text("\(slug)/\(name).csv") }
    }

    /// A change as a command and as a request.
    private struct Step {
        let command: [String]
        var input: String?
        let method: HTTPMethod
        let path: String
        var body = ""
        var type = "application/json"
    }

    private static let emptyLocations = "identifier,name,latitude,longitude,radius\n"

    /// The steps that create, change and delete a catalogue.
    private static func stages(_ sample: Sample) throws -> [[Step]] {
        let (locations, experiences) = (try sample.text("locations"), try sample.text("experiences"))
        let clip = "/v1/clips/\(sample.bundleID)"
        let codes = "code,url\nx y,https://example.com/a\nz,https://example.com/b?c=%2F\n"
        let content = #"{"webcredentials":{"apps":["ABCDE12345.com.example"]}}"#
        let host = "\(sample.slug).example.com"
        let (domain, count) = ("/v1/domains/\(host)", locations.split(separator: "\n").count)
        return [
            [
                Step(
                    command: [
                        "clip", "create", "--team-id", sample.teamID, "--bundle-id", sample.bundleID,
                    ] + (sample.isMultiBusiness ? ["--multi-business"] : []), method: .PUT, path: clip,
                    body: #"{"teamID":"\#(sample.teamID)","multiBusiness":\#(sample.isMultiBusiness)}"#),
                Step(
                    command: ["location", "import", "-"], input: locations, method: .PATCH,
                    path: "/v1/locations", body: locations, type: "text/csv"),
                Step(
                    command: ["experience", "import", "-"], input: experiences, method: .PATCH,
                    path: "/v1/experiences", body: experiences, type: "text/csv"),
                Step(
                    command: ["code", "import", "-", "--prune"], input: codes, method: .PUT,
                    path: "/v1/short-codes", body: codes, type: "text/csv"),
                Step(command: ["domain", "create", host], method: .PUT, path: domain, body: "{}"),
                Step(
                    command: ["domain", "content", "set", host, "-"], input: content, method: .PATCH,
                    path: domain, body: #"{"content":\#(content)}"#, type: "application/merge-patch+json"),
                Step(
                    command: ["domain", "pages", host, "on", "--redirect-short-codes"], method: .PATCH,
                    path: domain, body: #"{"pages":"redirecting_short_codes"}"#,
                    type: "application/merge-patch+json"),
            ],
            [
                Step(
                    command: ["clip", "update", sample.bundleID, "--app-id-prefix", "KLMNO12345"],
                    method: .PATCH, path: clip, body: #"{"appIDPrefix":"KLMNO12345"}"#,
                    type: "application/merge-patch+json"),
                Step(
                    command: [
                        "location", "create", "new/ +", "--name", "Neu \u{fc}", "--latitude", "1.5",
                        "--longitude=-2", "--radius", "100", "--detail", "phone=1 & 2", "--metadata",
                        "own-note=1",
                    ], method: .PUT, path: "/v1/locations/new%2F%20%2B",
                    body: """
                        {"name":"Neu \u{fc}","latitude":1.5,"longitude":-2,"radius":100,
                        "details":{"phone":"1 & 2"},"metadata":{"own-note":"1"}}
                        """),
                Step(
                    command: ["location", "update", "new/ +", "--radius", "250", "--detail", "phone="],
                    method: .PATCH, path: "/v1/locations/new%2F%20%2B",
                    body: #"{"radius":250,"details":{"phone":null}}"#, type: "application/merge-patch+json"),
                Step(
                    command: [
                        "experience", "create", "--url", "https://\(host)/new", "--clip", sample.bundleID,
                        "--location", "new/ +", "--title", "New",
                    ], method: .POST, path: "/v1/experiences",
                    body: """
                        {"url":"https://\(host)/new","clip":"\(sample.bundleID)","location":"new/ +","title":"New"}
                        """),
                Step(
                    command: ["code", "update", "x y", "--url", "https://example.com/other"], method: .PUT,
                    path: "/v1/short-codes/x%20y", body: #"{"url":"https://example.com/other"}"#),
                Step(command: ["code", "delete", "z"], method: .DELETE, path: "/v1/short-codes/z"),
                Step(
                    command: ["tenant", "update", sample.slug, "--name", "Other"], method: .PATCH,
                    path: "/v1/tenant", body: #"{"name":"Other"}"#, type: "application/merge-patch+json"),
            ],
            [
                Step(
                    command: ["location", "delete", "new/ +", "--cascade"], method: .DELETE,
                    path: "/v1/locations/new%2F%20%2B?cascade=true"),
                Step(
                    command: ["clip", "delete", sample.bundleID, "--cascade"], method: .DELETE,
                    path: "\(clip)?cascade=true"),
                Step(
                    command: ["location", "import", "-", "--prune", "--allow-removals", "\(count)"],
                    input: emptyLocations, method: .PUT, path: "/v1/locations?allowRemovals=\(count)",
                    body: emptyLocations, type: "text/csv"),
                Step(command: ["code", "delete", "x y"], method: .DELETE, path: "/v1/short-codes/x%20y"),
                Step(command: ["domain", "delete", host], method: .DELETE, path: domain),
                Step(
                    command: ["tenant", "update", sample.slug, "--name", sample.name], method: .PATCH,
                    path: "/v1/tenant", body: #"{"name":"\#(sample.name)"}"#,
                    type: "application/merge-patch+json"),
            ],
        ]
    }

    /// A database with the empty tenants, and a server and commands for it.
    private struct Way: Sendable {
        /// The command at the database.
        let binary: DoorstepBinary
        let server: RunningServer

        func managingKey(_ slug: String) async throws -> String {
            let made = try await binary.succeed(
                "key", "create", "--tenant", slug, "--kind", "secret", "--scope", "read", "--scope", "manage"
            ).json()
            return try #require(made.objectValue?["key"]?.stringValue)
        }

        static func lend(
            _ tenants: [String], _ body: @escaping @Sendable (Way) async throws -> Void
        ) async throws {
            try await TestServer.withDatabase { databaseURL in
                let binary = DoorstepBinary(databaseURL: databaseURL)
                try await binary.succeed("migrate")
                for archive in tenants {
                    try await binary.succeed("tenant", "import", "--keep-id", "-", input: archive)
                }
                let (_, status) = try await RunningServer.lend(binary) { server in
                    try await body(Way(binary: binary, server: server))
                }
                #expect(status == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(45))) func httpRemoteAndLocalCommandsGiveSameResult() async throws {
        try await TestServer.withDatabase { databaseURL in
            let local = DoorstepBinary(databaseURL: databaseURL)
            try await local.succeed("migrate")
            let samples = try Sample.all()
            var archives: [String] = []
            for sample in samples {
                try await local.succeed("tenant", "create", sample.slug, "--name", sample.name)
                archives.append(try await local.succeed("tenant", "export", sample.slug).output)
            }
            // The databases have the same tenants with the same IDs.
            let empty = archives
            try await Way.lend(empty) { requests in
                try await Way.lend(empty) { commands in
                    for sample in samples { try await manage(sample, local, requests, commands) }
                }
            }
        }
    }

    private func manage(
        _ sample: Sample, _ local: DoorstepBinary, _ requests: Way, _ commands: Way
    ) async throws {
        let key = try await requests.managingKey(sample.slug)
        var remote = DoorstepBinary(databaseURL: "")
        remote.environment["DOORSTEP_SERVER"] = commands.server.address
        remote.environment["DOORSTEP_KEY"] = try await commands.managingKey(sample.slug)
        let empty = try await local.succeed("tenant", "export", sample.slug).output
        for (number, stage) in try Self.stages(sample).enumerated() {
            for step in stage {
                let server = requests.server
                let response =
                    step.method == .DELETE
                    ? try await server.delete(step.path, key: key)
                    : try await server.send(step.method, step.path, key: key, step.body, type: step.type)
                #expect((200..<300).contains(response.status), "\(step): \(response)")
                let far = try await remote.succeed(step.command, input: step.input)
                let tenant = step.command[0] == "tenant" ? [] : ["--tenant", sample.slug]
                let near = try await local.succeed(step.command + tenant, input: step.input)
                // Each claim has its own challenge.
                if step.command[0] != "domain" { #expect(far.output == near.output, "\(step)") }
            }
            let export = try await local.succeed("tenant", "export", sample.slug).output
            for binary in [requests.binary, commands.binary, remote] {
                let other = try await binary.succeed("tenant", "export", sample.slug)
                #expect(other.output == export, "stage \(number) of \(sample.slug)")
            }
            for noun in ["location", "experience"] {
                let near = try await local.succeed(noun, "export", "--tenant", sample.slug)
                #expect(try await remote.succeed(noun, "export").output == near.output)
            }
            #expect((export == empty) == (number == 2), "\(export)")
        }
    }
}
