import AppAttest
import AppAttestSimulator
import Crypto
import Formats
import Foundation
import Invocation
import NIOHTTP1
import TestSupport
import Testing

/// A clip with attested requests: the built binary and a software authenticator, over HTTP and in PostgreSQL.
@Suite struct AttestationTests {
    static let clip = "com.example.MyApp.Clip"
    static let body: JSONValue = [
        "url": .string(MainPathTests.order), "source": "nfc", "locationAccess": "allowed",
        "coordinate": ["latitude": 37.33475, "longitude": -122.0089, "horizontalAccuracy": 12],
    ]

    /// Runs the closure with an installation whose server trusts a software authenticator, and with the authenticator.
    static func lend(
        _ body: (Installation, SoftwareRoot) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let root = try SoftwareRoot(at: Date())
        let file = folder.appendingPathComponent("root.pem").path
        try root.pem.write(toFile: file, atomically: true, encoding: .utf8)
        try await Installation.lend { installation in
            var installation = installation
            let keys = folder.appendingPathComponent("receipt-keys.json").path
            installation.binary.environment["DOORSTEP_ATTEST_ROOT"] = file
            installation.binary.environment["DOORSTEP_SIGNING_SECRET"] = String(repeating: "s", count: 32)
            installation.binary.environment["DOORSTEP_RECEIPT_KEYS"] = keys
            try await installation.binary.succeed("receipt-key", "create")
            try await body(installation, root)
        }
    }

    static func challenge(
        _ purpose: String, _ server: RunningServer, key: String, clip: String = clip
    ) async throws -> String {
        let response = try await server.post(
            "/v1/attestation/challenges", key: key, ["clip": .string(clip), "purpose": .string(purpose)])
        #expect(response.status == 200)
        return try #require(response["challenge"]?.stringValue)
    }

    static func attest(
        _ device: inout SoftwareAuthenticator, _ server: RunningServer, key: String, clip: String = clip
    ) async throws -> (keyID: [UInt8], response: RunningServer.Answer) {
        let keyID = device.generateKey()
        let challenge = try await challenge("attestation", server, key: key, clip: clip)
        let attestation = try device.attest(
            keyID: keyID, clientDataHash: Array(SHA256.hash(data: Array(challenge.utf8))), at: Date())
        let response = try await server.post(
            "/v1/attestation/keys", key: key,
            [
                "clip": .string(clip), "keyID": .string(Data(keyID).base64EncodedString()),
                "challenge": .string(challenge),
                "attestation": .string(Data(attestation).base64EncodedString()),
            ])
        return (keyID, response)
    }

    /// The value of the header field for a signed confirmation.
    static func signature(
        _ device: inout SoftwareAuthenticator, _ keyID: [UInt8], _ challenge: String,
        _ body: JSONValue = body
    ) throws -> String {
        let data = try #require(
            ClientData.request(
                method: "POST", target: "/v1/confirmations", challenge: challenge, body: body.serialized()))
        let assertion = try device.assertion(keyID: keyID, clientDataHash: data.hash)
        return [("key", keyID), ("challenge", Array(challenge.utf8)), ("assertion", assertion)]
            .map { "\($0)=:\(Data($1).base64EncodedString()):" }.joined(separator: ", ")
    }

    private static func confirm(
        _ server: RunningServer, key: String, _ fields: [String: String] = [:], _ body: JSONValue = body
    ) async throws -> RunningServer.Answer {
        try await server.send(
            .POST, "/v1/confirmations", key: key, body.text,
            type: "application/json", fields: fields)
    }

    static func claims(_ response: RunningServer.Answer) throws -> JSONObject {
        let part = try #require(response["receipt"]?.stringValue?.split(separator: ".").dropFirst().first)
        let padded = part.replacing("-", with: "+").replacing("_", with: "/")
        let data = try #require(
            Data(base64Encoded: padded + String(repeating: "=", count: (4 - part.count % 4) % 4)))
        return try #require(try JSONValue(parsing: data).objectValue)
    }

    /// From the command that requires attestation to the recorded confirmations. The publishable key alone is not enough.
    @Test func onlyGenuineClipConfirms() async throws {
        try await Self.lend { installation, root in
            let (binary, key) = (installation.binary, installation.publishable)
            _ = try await RunningServer.lend(binary) { server in
                #expect(server.log.text.contains("a root other than Apple's is trusted for attestations"))
                let ready = try await server.get("/readyz")
                let fingerprint = try #require(AttestationRoot(pem: root.pem)?.fingerprint)
                #expect(ready["attestationRoot"] == .string(fingerprint))
                let before = try await Self.confirm(server, key: key)
                #expect(before.status == 200)
                #expect(try Self.claims(before)["attested"] == false)
                #expect(try Self.claims(before)["attestation"] == "none")
                // No request was attested yet.
                let demand = [
                    "clip", "attest", "--tenant", Installation.tenant, Self.clip, "--confirm",
                    "require_signed", "--lookup", "require",
                ]
                let doubted = try await binary.run(demand)
                #expect(doubted.status == 1 && doubted.errors.contains("were attested as required"))
                #expect(try await binary.run(demand + ["--yes"]).status == 0)
                // The running server follows the change.
                #expect(try await server.status(of: MainPathTests.order, key: key, becoming: 403) == 403)

                var device = try SoftwareAuthenticator(
                    root: root, appID: AppID("ABCDE12345.com.example.MyApp"))
                let (keyID, attested) = try await Self.attest(&device, server, key: key)
                #expect(attested.status == 201)
                let token = try #require(attested["token"]?.stringValue)
                let challenge = try await Self.challenge("request", server, key: key)
                let signature = try Self.signature(&device, keyID, challenge)
                let confirmed = try await Self.confirm(server, key: key, ["Doorstep-Assertion": signature])
                #expect(confirmed.status == 200 && confirmed["outcome"] == "inRegion")
                let claims = try Self.claims(confirmed)
                #expect(claims["attested"] == true && claims["attestation"] == "request")
                #expect(claims["environment"] == "production" && claims["evidence"] == "coordinate")

                // Other requests with the publishable key.
                let other: JSONValue = [
                    "url": .string(MainPathTests.order), "deviceResult": ["inRegion": true],
                ]
                var foreign = try SoftwareAuthenticator(
                    root: try SoftwareRoot(at: Date()), appID: AppID("ABCDE12345.com.example.MyApp"))
                let (foreignKey, refused) = try await Self.attest(&foreign, server, key: key)
                #expect(refused.status == 403 && refused["code"] == "attestation_refused")
                let tries: [([String: String], JSONValue, Int, String)] = [
                    ([:], Self.body, 403, "attestation_required"),
                    (["Doorstep-Attestation": token], Self.body, 403, "attestation_required"),
                    (["Doorstep-Attestation": "\(token)x"], Self.body, 403, "attestation_invalid"),
                    (["Doorstep-Assertion": signature], Self.body, 409, "counter_not_greater"),
                    (["Doorstep-Assertion": signature], other, 403, "attestation_invalid"),
                    (
                        ["Doorstep-Assertion": try Self.signature(&foreign, foreignKey, challenge)],
                        Self.body, 403, "attestation_invalid"
                    ),
                    (["Doorstep-Assertion": "key=:AA==:"], Self.body, 403, "attestation_invalid"),
                ]
                for (fields, body, status, code) in tries {
                    let response = try await Self.confirm(server, key: key, fields, body)
                    #expect(response.status == status && response["code"] == .string(code), "\(code)")
                    #expect(response["receipt"] == nil)
                }
                // The tenant's own servers need no attestation.
                #expect(try await Self.confirm(server, key: installation.secret).status == 200)

                let recorded = try await Self.recorded(3, binary)
                #expect(recorded.compactMap(\.stringValue).sorted() == ["none", "none", "request"])
            }
        }
    }

    /// The attestation grades of the confirmations, as soon as there are `count` of them.
    private static func recorded(_ count: Int, _ binary: DoorstepBinary) async throws -> [JSONValue] {
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            let listed = try await binary.succeed(
                "confirmation", "list", "--tenant", Installation.tenant, "--format", "json"
            ).json()
            let grades = (listed.arrayValue ?? []).compactMap { $0.objectValue?["attestation"] }
            if grades.count >= count || .now >= deadline { return grades }
        }
    }

    /// The number of races between two servers. The nightly run sets a larger number in `DOORSTEP_TEST_RACES`.
    private static let races =
        ProcessInfo.processInfo.environment["DOORSTEP_TEST_RACES"].flatMap { Int($0) } ?? 100

    /// Two servers of one database: keys that one has attested are valid at the other, and each assertion is accepted once.
    @Test(.timeLimit(.minutes(30))) func serversShareKeysAndCounters() async throws {
        try await Self.lend { installation, root in
            let (binary, key) = (installation.binary, installation.publishable)
            try await binary.succeed(
                "clip", "attest", "--tenant", Installation.tenant, Self.clip, "--confirm", "require_signed",
                "--yes")
            _ = try await RunningServer.lend(binary) { one in
                _ = try await RunningServer.lend(binary) { two in
                    var device = try SoftwareAuthenticator(
                        root: root, appID: AppID("ABCDE12345.com.example.MyApp"))
                    let (keyID, attested) = try await Self.attest(&device, one, key: key)
                    #expect(attested.status == 201)
                    var challenge = ""
                    for race in 0..<Self.races {
                        // A new challenge before the old one expires.
                        if race.isMultiple(of: 100) {
                            challenge = try await Self.challenge("request", two, key: key)
                        }
                        let fields = [
                            "Doorstep-Assertion": try Self.signature(&device, keyID, challenge)
                        ]
                        async let first = Self.confirm(one, key: key, fields)
                        async let second = Self.confirm(two, key: key, fields)
                        let statuses = try await [first.status, second.status].sorted()
                        #expect(statuses == [200, 409])
                    }
                }
            }
        }
    }

    /// One server attests a key and an operator revokes it. Another server, which never looked the key up, refuses it.
    @Test func revokedKeyIsRejectedByEveryServer() async throws {
        try await Self.lend { installation, root in
            let (binary, key) = (installation.binary, installation.publishable)
            try await binary.succeed(
                "clip", "attest", "--tenant", Installation.tenant, Self.clip, "--confirm", "require", "--yes")
            _ = try await RunningServer.lend(binary) { one in
                _ = try await RunningServer.lend(binary) { two in
                    var device = try SoftwareAuthenticator(
                        root: root, appID: AppID("ABCDE12345.com.example.MyApp"))
                    let (keyID, attested) = try await Self.attest(&device, one, key: key)
                    let token = ["Doorstep-Attestation": try #require(attested["token"]?.stringValue)]
                    #expect(try await Self.confirm(two, key: key, token).status == 200)
                    let base64 = Data(keyID).base64EncodedString()
                    try await binary.succeed(
                        "attest-key", "revoke", "--tenant", Installation.tenant, "--", base64)
                    for server in [one, two] {
                        let deadline = ContinuousClock.now + .seconds(120)
                        var status: Int
                        repeat {
                            status = Int(try await Self.confirm(server, key: key, token).status)
                        } while status == 200 && .now < deadline
                        #expect(status == 403)
                    }
                    let listed = try await binary.succeed(
                        "attest-key", "list", "--tenant", Installation.tenant, "--format", "json"
                    ).json()
                    let keys = try #require(listed.arrayValue).compactMap(\.objectValue)
                    #expect(keys.count == 1 && keys[0]["clip"] == .string(Self.clip))
                    #expect(keys[0]["revokedAt"]?.stringValue != nil)
                }
            }
        }
    }

    /// The commands of the simulator, and a server that requires attestation.
    @Test func simulatedDeviceIsAttestedAndSigns() async throws {
        try await Installation.lend { installation in
            let folder = try TemporaryDirectory()
            let (device, root) = (folder.path("device.json"), folder.path("attest-root.pem"))
            var binary = installation.binary
            let create = ["attest-simulator", "create", "--app-id", "ABCDE12345.com.example.MyApp"]
            // In the current folder, as in the guide.
            let inFolder = [
                "-c", #"cd "$0" && exec "$@""#, folder.path("."), try DoorstepBinary.executable().path,
            ]
            let shell = URL(fileURLWithPath: "/bin/sh")
            let rootless = try await binary.run(
                inFolder + create + ["device.json", "--root-file", "none/root.pem"], of: shell)
            #expect(rootless.status == 1 && !FileManager.default.fileExists(atPath: device))
            let created = try await binary.run(inFolder + create + ["device.json"], of: shell)
            #expect(created.status == 0, "\(created)")
            let attributes = try FileManager.default.attributesOfItem(atPath: device)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let again = try await binary.run(create + [device])
            #expect(again.status == 1 && again.errors.contains("exists"))

            binary.environment["DOORSTEP_ATTEST_ROOT"] = root
            binary.environment["DOORSTEP_SIGNING_SECRET"] = String(repeating: "s", count: 32)
            try await binary.succeed(
                "clip", "attest", "--tenant", Installation.tenant, Self.clip, "--confirm", "require_signed",
                "--lookup", "require", "--yes")
            let management = binary
            binary.environment["DOORSTEP_KEY"] = installation.publishable
            let publishable = binary
            _ = try await RunningServer.lend(management) { server in
                let options = ["--clip", Self.clip, "--server", server.address]
                func token(_ more: String...) async throws -> String {
                    try await publishable.succeed(["attest-simulator", "token", device] + options + more)
                        .output.trimmingCharacters(in: .newlines)
                }
                func keyCount() async throws -> Int? {
                    try await management.succeed(
                        "attest-key", "list", "--tenant", Installation.tenant, "--format", "json"
                    ).json().arrayValue?.count
                }
                let key = installation.publishable
                #expect(try await server.lookUp(MainPathTests.order, key: key).status == 403)
                for _ in 1...2 {
                    let fields = ["Doorstep-Attestation": try await token()]
                    #expect(
                        try await server.lookUp(MainPathTests.order, key: key, fields: fields).status == 200)
                }
                #expect(try await keyCount() == 1)
                _ = try await token("--new-key")
                #expect(try await keyCount() == 2)

                let signed = try await publishable.run(
                    ["attest-simulator", "sign", device, "-"] + options, input: Self.body.text)
                let field = signed.output.trimmingCharacters(in: .newlines).split(
                    separator: ": ", maxSplits: 1)
                try #require(field.first == "Doorstep-Assertion")
                let fields = ["Doorstep-Assertion": String(field[1])]
                let confirmed = try await Self.confirm(server, key: key, fields)
                #expect(confirmed.status == 200 && confirmed["outcome"] == "inRegion")
                // A signature is used once.
                let repeated = try await Self.confirm(server, key: key, fields)
                #expect(repeated.status == 409)
            }
        }
    }

    @Test func inspectCommandReportsEachStep() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let root = try SoftwareRoot(at: Date())
        let pem = folder.appendingPathComponent("root.pem").path
        try root.pem.write(toFile: pem, atomically: true, encoding: .utf8)
        let appID = try AppID("ABCDE12345.com.example.MyApp")
        var device = try SoftwareAuthenticator(root: root, appID: appID)
        let keyID = device.generateKey()
        let hash = Array(SHA256.hash(data: Array("challenge".utf8)))
        let attestation = try device.attest(keyID: keyID, clientDataHash: hash, at: Date())
        let attested = try await AttestationVerifier(root: try #require(AttestationRoot(pem: root.pem)))
            .verify(
                attestation, keyID: keyID, clientDataHash: hash,
                policy: AttestationPolicy(appIDs: [appID]), at: Date())
        let files = (attestation: folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
        try Data(attestation).base64EncodedString().write(
            to: files.attestation, atomically: true, encoding: .utf8)
        try Data(try device.assertion(keyID: keyID, clientDataHash: hash)).write(to: files.1)
        let binary = DoorstepBinary(databaseURL: "")
        func inspect(_ file: URL, _ arguments: [String]) async throws -> (status: Int32, steps: [String]) {
            let outcome = try await binary.run(
                ["attestation", "inspect", file.path, "--attest-root", pem, "--format", "json"] + arguments)
            let told = try outcome.json().arrayValue
            let steps = try #require(told).compactMap(\.objectValue)
            return (
                outcome.status,
                steps.map { step in
                    ["step", "verdict", "detail"].compactMap { step[$0]?.stringValue }.joined(separator: " ")
                }
            )
        }
        let key = ["--key-id", Data(keyID).base64EncodedString()]
        let good = ["--app-id", appID.text, "--client-data", "challenge"]
        let passed = try await inspect(files.attestation, key + good)
        #expect(passed.status == 0)
        #expect(
            passed.steps
                == [
                    "format", "chain", "nonce", "key_id", "app_id", "counter", "environment", "credential",
                    "category", "bundle_version",
                ].map { "\($0) passed" })
        let base64 = Data(attestation).base64EncodedString()
        let lines = Data(attestation).base64EncodedString(options: [.lineLength76Characters])
        for text in [
            lines, "\u{FEFF}" + base64 + "\r\n", Base64URL.text(attestation),
            base64.replacing("+", with: "-").replacing("/", with: "_"),
        ] {
            let file = folder.appendingPathComponent("text")
            try text.write(to: file, atomically: true, encoding: .utf8)
            let inspected = try await inspect(file, ["--key-id", Base64URL.text(keyID)] + good)
            #expect(inspected.steps == passed.steps, "\(text.prefix(90))")
        }
        let refused = try await inspect(
            files.attestation,
            key + [
                "--app-id", "ABCDE12345.com.example.Other", "--client-data", "other", "--at",
                "2020-01-01T00:00:00Z",
            ])
        #expect(refused.status == 1)
        #expect(
            refused.steps.filter { !$0.hasSuffix(" passed") } == [
                "chain refused not_yet_valid", "nonce refused other", "app_id refused",
            ])
        let publicKey = ["--public-key", Data(attested.publicKey).base64EncodedString()]
        let assertion = try await inspect(files.1, publicKey + good)
        #expect(assertion.status == 0 && assertion.steps.count == 6)
        let used = try await inspect(files.1, publicKey + good + ["--counter", "1"])
        #expect(used.status == 1 && used.steps.contains("counter refused not_greater"))
        let unread = try await inspect(files.1, key + good)
        #expect(unread.status == 1 && unread.steps.first == "format refused member")
        #expect(unread.steps.last == "bundle_version not_reached")
    }
}
