import Formats
import Foundation
import PostgreSQL
import ProcessSupport
import TestSupport
import Testing

/// Confirmations from the response with its receipt to the list, with the built binary.
@Suite struct ConfirmationTests {
    private static let body: JSONValue = [
        "url": .string(MainPathTests.order), "source": "nfc", "locationAccess": "allowed",
        "coordinate": ["latitude": 37.33475, "longitude": -122.0089, "horizontalAccuracy": 12],
    ]

    /// Runs the closure with a new folder.
    private static func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("doorstep-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }

    // MARK: Receipts

    @Test func serverAndCommandReceiptsVerifyByPublishedKeys() async throws {
        try await Self.withFolder { folder in
            try await Installation.lend { installation in
                var binary = installation.binary
                let file = folder.appendingPathComponent("keys.json")
                binary.environment["DOORSTEP_RECEIPT_KEYS"] = file.path
                binary.environment["DOORSTEP_RECEIPT_ISSUER"] = "https://doorstep.example"
                try await binary.succeed("receipt-key", "create")
                let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
                #expect(mode as? Int == 0o600)
                _ = try await RunningServer.lend(binary) { server in
                    let response = try await server.post(
                        "/v1/confirmations", key: installation.publishable, Self.body)
                    let byCommand = try await binary.succeed(
                        "confirm", "--tenant", Installation.tenant, MainPathTests.order, "--in-region"
                    ).json()
                    let published = try #require(try await server.get("/.well-known/jwks.json").json)
                    let listed = try await binary.succeed("receipt-key", "list", "--format", "json").json()
                    let id = try #require(listed.arrayValue?[0].objectValue?["id"]?.stringValue)
                    for (receipt, evidence) in [
                        (response["receipt"], "coordinate"), (byCommand.objectValue?["receipt"], "device"),
                    ] {
                        let token = try #require(receipt?.stringValue)
                        #expect(try await Self.verify(token, published, in: folder) == 0)
                        // A changed receipt does not match its signature.
                        let changed = try Self.replacing("inRegion", with: "notInRegion", in: token)
                        #expect(try await Self.verify(changed, published, in: folder) == 1)
                        let claims = try #require(try Self.claims(token).objectValue)
                        #expect(claims["iss"] == "https://doorstep.example")
                        #expect(claims["outcome"] == "inRegion" && claims["location"] == "restaurant_a")
                        #expect(claims["evidence"] == .string(evidence) && claims["certain"] == true)
                        #expect(try Self.header(token).objectValue?["kid"] == .string(id))
                    }
                    // The log contains the ID of the key, and not the key.
                    let secret = try #require(
                        try JSONValue(parsing: Data(contentsOf: file)).objectValue?["keys"]?.arrayValue?[0]
                            .objectValue?["d"]?.stringValue)
                    #expect(server.log.text.contains(id))
                    #expect(!server.log.text.contains(secret))
                    #expect(!published.text.contains(secret))
                    #expect(!"\(listed)".contains(secret))
                }
            }
        }
    }

    @Test func rotatedKeyIsPublishedBeforeItSigns() async throws {
        try await Self.withFolder { folder in
            try await Installation.lend { installation in
                var binary = installation.binary
                let file = folder.appendingPathComponent("keys.json").path
                binary.environment["DOORSTEP_RECEIPT_KEYS"] = file
                try await binary.succeed("receipt-key", "create")
                _ = try await RunningServer.lend(binary) { server in
                    let rotated = try await binary.succeed("receipt-key", "rotate", "--format", "json").json()
                    #expect(rotated.objectValue?["status"] == "next")
                    let next = try #require(rotated.objectValue?["id"]?.stringValue)
                    // The server logs the new key's ID after it has read the file.
                    try await server.log.line(saying: next)
                    let published = try await server.get("/.well-known/jwks.json")
                    #expect(published["keys"]?.arrayValue?.count == 2)
                    let response = try await server.post(
                        "/v1/confirmations", key: installation.publishable, Self.body)
                    let token = try #require(response["receipt"]?.stringValue)
                    #expect(try Self.header(token).objectValue?["kid"] != .string(next))

                    let again = try await binary.run("receipt-key", "rotate")
                    #expect(again.status == 1 && again.errors.contains("already has a next key"))
                    let table = try await binary.succeed("receipt-key", "list").output
                    #expect(table.contains("signing") && table.contains("next"))

                    // An invalid file does not remove the current keys.
                    try Data("{".utf8).write(to: URL(fileURLWithPath: file))
                    try await server.log.line(saying: "the previous keys stay in use")
                    let after = try await server.post(
                        "/v1/confirmations", key: installation.publishable, Self.body)
                    #expect(after["receipt"] != nil)

                    // `--at-once` replaces a stolen key, also if the file is invalid.
                    let replaced = try await binary.succeed(
                        "receipt-key", "rotate", "--at-once", "--format", "json"
                    ).json()
                    let only = try #require(replaced.objectValue?["id"]?.stringValue)
                    try await server.log.line(saying: only)
                    let last = try await server.post(
                        "/v1/confirmations", key: installation.publishable, Self.body)
                    #expect(
                        try Self.header(try #require(last["receipt"]?.stringValue)).objectValue?["kid"]
                            == .string(only))
                    let keys = try await server.get("/.well-known/jwks.json")
                    #expect(keys["keys"]?.arrayValue?.count == 1)
                }
            }
        }
    }

    @Test func unusableReceiptKeysAreReported() async throws {
        try await Self.withFolder { folder in
            var binary = DoorstepBinary(databaseURL: "postgresql://127.0.0.1:1/none")
            let outcome = try await binary.run("receipt-key", "list")
            #expect(outcome.status == 1 && outcome.errors.contains("DOORSTEP_RECEIPT_KEYS"))
            func refuse(_ path: String, _ reason: String) async throws {
                for command in [["receipt-key", "list"], ["serve", "--port", "0"]] {
                    let outcome = try await binary.run(command + ["--receipt-keys", path])
                    #expect(outcome.status == 1, "\(command)")
                    #expect(outcome.errors.contains(reason), "\(command): \(outcome.errors)")
                    #expect(outcome.output.isEmpty)
                }
            }
            try await refuse(folder.appendingPathComponent("none").path, "cannot be read")
            try await refuse(folder.path, "cannot be read")
            let file = folder.appendingPathComponent("keys.json").path
            try await binary.succeed("receipt-key", "create", "--receipt-keys", file)
            let again = try await binary.run("receipt-key", "create", "--receipt-keys", file)
            #expect(again.status == 1 && again.errors.contains("already exists"))
            let nowhere = try await binary.run(
                "receipt-key", "create", "--receipt-keys", folder.appendingPathComponent("a/b").path)
            #expect(nowhere.status == 1 && nowhere.errors.contains("cannot be written"))
            for (mode, isExposed) in [
                (0o644, true), (0o620, true), (0o601, true), (0o640, false), (0o400, false),
            ] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
                if isExposed {
                    try await refuse(file, "chmod 600")
                } else {
                    try await binary.succeed("receipt-key", "list", "--receipt-keys", file)
                }
            }
            // The rotation keeps the file's permissions.
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
            try await binary.succeed("receipt-key", "rotate", "--receipt-keys", file)
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
            #expect(mode as? Int == 0o640)
            try Data(#"{"keys":[{"kty":"EC","crv":"P-256","d":"canary"}]}"#.utf8).write(
                to: URL(fileURLWithPath: file))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            try await refuse(file, "keys[0]")
            binary.environment["DOORSTEP_RECEIPT_KEYS"] = file
            let canary = try await binary.run("receipt-key", "rotate")
            #expect(canary.status == 1 && !canary.errors.contains("canary"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["keys.json"])
        }
    }

    /// Verifies a token with OpenSSL and the key of a JWK set. OpenSSL shares no code with the signer. The exit status is 0 if the
    /// signature is valid, otherwise 1.
    private static func verify(_ token: String, _ keys: JSONValue, in folder: URL) async throws -> Int32 {
        let parts = token.split(separator: ".").map(String.init)
        let key = try #require(
            keys.objectValue?["keys"]?.arrayValue?.first {
                $0.objectValue?["kid"] == (try? header(token))?.objectValue?["kid"]
            }?
            .objectValue)
        // SubjectPublicKeyInfo of a point on P-256 (RFC 5480 §2).
        let prefix: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A,
            0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
        ]
        let point = try data(key["x"]?.stringValue ?? "") + data(key["y"]?.stringValue ?? "")
        let files = ["key.der", "signature.der", "signed"].map { folder.appendingPathComponent($0) }
        try (Data(prefix) + point).write(to: files[0])
        let signature = try data(parts[2])
        try #require(signature.count == 64)
        let numbers = integer(signature.prefix(32)) + integer(signature.suffix(32))
        try Data([0x30, UInt8(numbers.count)] + numbers).write(to: files[1])
        try Data("\(parts[0]).\(parts[1])".utf8).write(to: files[2])
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "dgst", "-sha256", "-keyform", "DER", "-verify", files[0].path, "-signature",
            files[1].path, files[2].path,
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return try await process.runToEnd()
    }

    /// An integer of a signature in DER.
    private static func integer(_ bytes: Data) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        let number = (digits.first ?? 0x80) & 0x80 == 0 ? digits : [0] + digits
        return [0x02, UInt8(number.count)] + number
    }

    private static func header(_ token: String) throws -> JSONValue { try part(0, of: token) }
    private static func claims(_ token: String) throws -> JSONValue { try part(1, of: token) }

    private static func part(_ index: Int, of token: String) throws -> JSONValue {
        let parts = token.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        return try JSONValue(parsing: try data(parts[index]))
    }

    private static func replacing(_ text: String, with other: String, in token: String) throws -> String {
        let parts = token.split(separator: ".").map(String.init)
        let claims = String(decoding: try data(parts[1]), as: UTF8.self).replacing(text, with: other)
        let encoded = Data(claims.utf8).base64EncodedString().replacing("+", with: "-").replacing(
            "/", with: "_"
        ).replacing("=", with: "")
        return [parts[0], encoded, parts[2]].joined(separator: ".")
    }

    private static func data(_ text: String) throws -> Data {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return try #require(
            Data(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding))
    }

    // MARK: Records

    @Test func confirmationsAreListedCountedAndExported() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            for arguments in [
                ["--in-region"], ["--source", "mail", "--location-access", "denied", "--no-in-region"],
                ["--source", "mail"],
            ] {
                try await binary.succeed(
                    ["confirm", "--tenant", Installation.tenant, MainPathTests.order] + arguments)
            }
            try await Self.record(
                [
                    ("restaurant_b", "2026-03-01 11:59Z"), ("restaurant_b", "2026-03-01 12:00Z"),
                    ("\"quoted\", twice", "2026-03-02 00:00Z"),
                ], in: installation)
            let tenant = ["--tenant", Installation.tenant]
            let all = try await binary.succeed(["confirmation", "list"] + tenant + ["--format", "json"])
                .json()
            #expect(all.arrayValue?.count == 6)
            let newest = try await binary.succeed(
                ["confirmation", "list"] + tenant + ["--limit", "3", "--format", "json"]
            ).json()
            #expect(newest.arrayValue.map(Array.init) == all.arrayValue.map { Array($0.prefix(3)) })
            let ofDay = try await binary.succeed(
                ["confirmation", "list"] + tenant + ["--location", "restaurant_b", "--day", "2026-03-01"]
            ).output
            #expect(
                ofDay == """
                    MINUTE                LOCATION      OUTCOME   SOURCE  ATTESTATION
                    2026-03-01T12:00:00Z  restaurant_b  inRegion  nfc     none
                    2026-03-01T11:59:00Z  restaurant_b  inRegion  nfc     none

                    """)
            let counted = try await binary.succeed(
                ["confirmation", "count"] + tenant + ["--to", "2026-03-02"]
            ).output
            #expect(
                counted == """
                    DAY         IN REGION  NOT IN REGION  DOES NOT MATCH  DISALLOWED  UNDETERMINED  TOTAL
                    2026-03-02  1          0              0               0           0             1
                    2026-03-01  2          0              0               0           0             2

                    """)
            let today = try await binary.succeed(
                ["confirmation", "count"] + tenant + ["--from", "2026-03-03", "--format", "json"]
            ).json()
            let outcomes = try #require(today.arrayValue).reduce(into: [0, 0, 0]) { sums, day in
                for (index, name) in ["inRegion", "notInRegion", "disallowed"].enumerated() {
                    sums[index] += day.objectValue?[name]?.numberValue?.int ?? 0
                }
            }
            #expect(outcomes == [1, 1, 1])
            let exported = try await binary.succeed(["confirmation", "export"] + tenant).output
            let lines = exported.split(separator: "\r\n").map(String.init)
            #expect(lines.count == 7)
            #expect(lines[0] == "minute,location,outcome,source,id,attestation")
            #expect(lines[1].hasPrefix("2026-03-01T11:59:00Z,restaurant_b,inRegion,nfc,"))
            #expect(lines[3].hasPrefix("2026-03-02T00:00:00Z,\"\"\"quoted\"\", twice\",inRegion,nfc,"))
            let none = try await binary.succeed(
                ["confirmation", "export"] + tenant + ["--day", "2026-02-28"]
            ).output
            #expect(none == "minute,location,outcome,source,id,attestation\r\n")
        }
    }

    /// The export is longer than one page. It contains each confirmation once and in order.
    @Test func longExportIsCompleteAndOrdered() async throws {
        try await Installation.lend { installation in
            let pool = ConnectionPool(
                PoolConfiguration.forBusyMachines(conninfo: installation.databaseURL, maximumConnections: 1))
            try await pool.withTransaction {
                try await $0.execute(
                    script: """
                        SELECT set_config('doorstep.tenant_id', tenant_id::text, true) FROM doorstep.tenants;
                        INSERT INTO doorstep.confirmations
                            (tenant_id, confirmation_id, location_identifier, outcome, source, minute)
                        SELECT tenant_id, gen_random_uuid(), 'place ' || n, 'inRegion', 'nfc',
                            '2026-03-01 00:00Z'::timestamptz + n / 3000 * interval '1 minute'
                        FROM doorstep.tenants, generate_series(1, 25000) AS n
                        """)
            }
            await pool.close()
            let exported = try await installation.binary.succeed(
                "confirmation", "export", "--tenant", Installation.tenant
            ).output
            let fields = exported.split(separator: "\r\n").dropFirst().map { $0.split(separator: ",") }
            #expect(fields.count == 25_000)
            #expect(Set(fields.map { $0[1] }).count == 25_000)
            #expect(fields.map { $0[0] } == fields.map { $0[0] }.sorted())
        }
    }

    /// The server creates future days, moves earlier records, and drops expired days.
    @Test func serverDropsConfirmationsPastRetention() async throws {
        try await Installation.lend { installation in
            try await Self.record(
                [("restaurant_b", "2026-03-01 12:00Z"), ("restaurant_b", "now")], in: installation)
            var binary = installation.binary
            binary.environment["DOORSTEP_CONFIRMATION_RETENTION"] = "7"
            _ = try await RunningServer.lend(binary) { server in
                try await server.log.line(saying: "days of confirmations")
                let response = try await server.post(
                    "/v1/confirmations", key: installation.publishable, Self.body)
                #expect(response["outcome"] == "inRegion")
                let metrics = try await server.text("/metrics")
                #expect(metrics.contains("doorstep_confirmations_total{outcome=\"inRegion\"} 1\n"))
            }
            let left = try await binary.succeed(
                "confirmation", "list", "--tenant", Installation.tenant, "--format", "json"
            ).json()
            #expect(left.arrayValue?.count == 2)
        }
    }

    @Test(arguments: [
        ["serve", "--confirmation-retention", "0"], ["serve", "--confirmation-retention", "731"],
        ["serve", "--audit-retention", "6"], ["serve", "--audit-retention", "36501"],
        ["confirmation", "list", "--tenant", "x", "--limit", "0"],
        ["confirmation", "list", "--tenant", "x", "--day", "2026-02-29"],
        ["confirmation", "list", "--tenant", "x", "--day", "2026-03-01T00:00:00Z"],
        ["confirmation", "count", "--tenant", "x", "--day", "2026-03-01", "--to", "2026-03-01"],
        ["confirmation", "export", "--tenant", "x", "--from", "2026-03-02", "--to", "2026-03-01"],
    ])
    func wrongUsageExitsWithStatus64(arguments: [String]) async throws {
        let outcome = try await DoorstepBinary(databaseURL: "").run(arguments)
        #expect(outcome.status == 64, "\(outcome.errors)")
    }

    /// Inserts records as a server would have written them at other times.
    private static func record(
        _ records: [(location: String, minute: String)], in installation: Installation
    ) async throws {
        let pool = ConnectionPool(
            PoolConfiguration.forBusyMachines(conninfo: installation.databaseURL, maximumConnections: 1))
        try await pool.withTransaction { transaction in
            try await transaction.execute(
                script: "SELECT set_config('doorstep.tenant_id', tenant_id::text, true) FROM doorstep.tenants"
            )
            for (location, minute) in records {
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.confirmations
                        (tenant_id, confirmation_id, location_identifier, outcome, source, minute)
                    SELECT tenant_id, gen_random_uuid(), \(location), 'inRegion', 'nfc',
                        date_trunc('minute', \(minute)::text::timestamptz)
                    FROM doorstep.tenants
                    """)
            }
        }
        await pool.close()
    }
}
