import Foundation
import JSON
import PostgreSQL
import Testing

/// Confirmations from the answer to the listing, by the binary alone.
@Suite struct ConfirmationTests {
    private static let body: JSONValue = [
        "url": .string(MainPathTests.order), "source": "nfc", "locationAccess": "allowed",
        "coordinate": ["latitude": 37.33475, "longitude": -122.0089, "horizontalAccuracy": 12],
    ]

    @Test func confirmationsAreListedCountedAndExported() async throws {
        try await Installation.lend { installation in
            let binary = installation.binary
            for arguments in [
                ["--source", "nfc", "--in-region"], ["--source", "qr_code", "--no-in-region"],
                ["--source", "maps"],
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
                    MINUTE                LOCATION      OUTCOME   SOURCE
                    2026-03-01T12:00:00Z  restaurant_b  inRegion  nfc
                    2026-03-01T11:59:00Z  restaurant_b  inRegion  nfc

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
            #expect(lines[0] == "minute,location,outcome,source,id")
            #expect(lines[1].hasPrefix("2026-03-01T11:59:00Z,restaurant_b,inRegion,nfc,"))
            #expect(lines[3].hasPrefix("2026-03-02T00:00:00Z,\"\"\"quoted\"\", twice\",inRegion,nfc,"))
            let none = try await binary.succeed(
                ["confirmation", "export"] + tenant + ["--day", "2026-02-28"]
            ).output
            #expect(none == "minute,location,outcome,source,id\r\n")
        }
    }

    /// More than is read at a time, each once and in order.
    @Test func aLongExportIsWhole() async throws {
        try await Installation.lend { installation in
            let pool = ConnectionPool(
                PoolConfiguration(conninfo: installation.databaseURL, maximumConnections: 1))
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

    /// The running server makes the days of what comes, moves what came before, and drops what is too old.
    @Test func theServerKeepsDaysAsLongAsItIsTold() async throws {
        try await Installation.lend { installation in
            try await Self.record(
                [("restaurant_b", "2026-03-01 12:00Z"), ("restaurant_b", "now")], in: installation)
            var binary = installation.binary
            binary.environment["DOORSTEP_CONFIRMATION_RETENTION"] = "7"
            _ = try await RunningServer.lend(binary) { server in
                try await server.log.line(saying: "days of confirmations")
                let answer = try await server.post(
                    "/v1/confirmations", key: installation.publishable, Self.body)
                #expect(answer["outcome"] == "inRegion")
            }
            let left = try await binary.succeed(
                "confirmation", "list", "--tenant", Installation.tenant, "--format", "json"
            ).json()
            #expect(left.arrayValue?.count == 2)
        }
    }

    @Test(arguments: [
        ["serve", "--confirmation-retention", "0"], ["serve", "--confirmation-retention", "731"],
        ["confirmation", "list", "--tenant", "x", "--limit", "0"],
        ["confirmation", "list", "--tenant", "x", "--day", "2026-02-29"],
        ["confirmation", "list", "--tenant", "x", "--day", "2026-03-01T00:00:00Z"],
        ["confirmation", "count", "--tenant", "x", "--day", "2026-03-01", "--to", "2026-03-01"],
        ["confirmation", "export", "--tenant", "x", "--from", "2026-03-02", "--to", "2026-03-01"],
    ])
    func wrongUsageEndsWith64(arguments: [String]) async throws {
        let outcome = try await DoorstepBinary(databaseURL: "").run(arguments)
        #expect(outcome.status == 64, "\(outcome.errors)")
    }

    /// Writes records as a server would have at other times.
    private static func record(
        _ records: [(location: String, minute: String)], in installation: Installation
    ) async throws {
        let pool = ConnectionPool(
            PoolConfiguration(conninfo: installation.databaseURL, maximumConnections: 1))
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
