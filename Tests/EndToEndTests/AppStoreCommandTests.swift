import AppStoreConnectSimulator
import Crypto
import Foundation
import JSON
import PostgreSQL
import StoreSupport
import TestSupport
import Testing

/// `doorstep appstore plan`, `apply` and `drift`, as scripts use them.
@Suite(.timeLimit(.minutes(10))) struct AppStoreCommandTests {
    @Test func plansAppliesAndLooksForDrift() async throws {
        try await RegisteredTenant.lend {
            $0.processing = 0
        } _: { tenant in
            try await tenant.add(["a", "b"], image: tenant.addImage())
            try await tenant.execute(
                """
                INSERT INTO doorstep.experiences (tenant_id, kind, url, bundle_id)
                VALUES ('\(tenant.tenant)', 'default', 'https://example.com/home', '\(StoreFixture.clipBundleID)')
                """)
            try await RegisteredCommand.lend(tenant) { command in
                let plan = try await command.run(["plan", "--format", "json"])
                #expect(plan.status == 2, "\(plan.errors)")
                let json = try #require(try plan.json().objectValue)
                #expect(json["version"] == 1 && json["inStep"] == .bool(false))
                #expect(json["counts"]?.objectValue?["create"] == 2)
                #expect(json["defaultExperiences"] == ["https://example.com/home"])
                #expect(json["forecast"]?.objectValue?["images"] == 1)
                let dry = try await command.run(["apply", "--dry-run"])
                #expect(dry.status == 2 && dry.output.contains("+ https://example.com/a"))
                #expect(tenant.simulator.experiences.isEmpty)

                let applied = try await command.run(["apply"])
                #expect(applied.status == 0, "\(applied.errors)")
                #expect(applied.output.contains("Created 2") && applied.output.contains("in step"))
                let second = try await command.run(["plan"])
                #expect(second.status == 0 && second.output.contains("2 in step"), "\(second.output)")
                #expect(try await command.run(["drift"]).status == 0)

                var edit = RemoteEdit()
                edit.attributes = ["action": "PLAY"]
                tenant.simulator.edit(try #require(tenant.remote["a"]?.first?.id), edit)
                let drift = try await command.run(["drift", "--format", "json"])
                #expect(drift.status == 2)
                #expect(try drift.json().objectValue?["drifted"] == .bool(true))
                let text = try await command.run(["drift"])
                #expect(text.output.contains(#"action: "PLAY" → "OPEN" (drift)"#), "\(text.output)")

                tenant.simulator.faults = [
                    Fault(.answer(status: 409, code: "STATE_ERROR", retryAfter: nil), method: "PATCH")
                ]
                let failed = try await command.run(["apply"])
                #expect(failed.status == 1 && failed.output.contains("1 failed with STATE_ERROR"))
                tenant.simulator.faults = []
                #expect(try await command.run(["apply", "--retry-refused"]).status == 0)
                tenant.simulator.turn { $0.lacksAgreement = true }
                let stopped = try await command.run(["apply"])
                #expect(stopped.status == 1 && stopped.errors.contains("AGREEMENTS"), "\(stopped.errors)")

                let outcomes = [plan, dry, applied, second, drift, text, failed, stopped]
                try await Self.expectSilence(of: outcomes.map { $0.output + $0.errors }, tenant)
            }
        }
    }

    @Test(arguments: [
        ["plan", "--clip", "com.example.none.Clip"], ["plan", "--target", "nowhere"],
        ["apply", "--target", "https://example.com/none"],
    ])
    func whatIsWrongIsSaidInOneLine(_ arguments: [String]) async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            try await RegisteredCommand.lend(tenant) { command in
                let outcome = try await command.run(arguments)
                #expect(outcome.status == 1)
                #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
            }
        }
    }

    @Test func aPlanIsKeptAndApplied() async throws {
        try await RegisteredTenant.lend {
            $0.processing = 0
        } _: { tenant in
            try await tenant.add(["a", "b"], image: tenant.addImage())
            let directory = try TemporaryDirectory()
            let file = directory.path("plan.json")
            try await RegisteredCommand.lend(tenant) { command in
                #expect(try await command.run(["plan", "-o", file]).status == 2)
                #expect(try await command.run(["apply", file, "--dry-run"]).output.contains("2 create"))
                #expect(try await command.run(["apply", file, "--adopt"]).status == 64)
                let other = try await command.run(["apply", file, "--clip", "com.example.other.Clip"])
                #expect(other.status == 1 && other.errors.contains("the plan is of the clip"))
                try await tenant.retitle("a", "Changed")
                for arguments in [["apply", file], ["apply", file, "--dry-run"]] {
                    let stale = try await command.run(arguments)
                    #expect(stale.status == 1 && stale.errors.contains("stale_plan"), "\(stale.errors)")
                    #expect(stale.errors.contains("https://example.com/a"))
                }
                #expect(tenant.simulator.experiences.isEmpty)
                #expect(try await command.run(["plan", "--output", file]).status == 2)
                let applied = try await command.run(["apply", file])
                #expect(applied.status == 0 && applied.output.contains("Created 2"), "\(applied.errors)")
                #expect(tenant.remote["a"].title == "Changed")
                try Data("{}".utf8).write(to: URL(filePath: file))
                let none = try await command.run(["apply", file])
                #expect(none.status == 1 && none.errors.contains("no plan"), "\(none.errors)")
            }
        }
    }

    /// Nothing that was printed, and nothing that is stored as it is, holds a key, a token or where to upload.
    private static func expectSilence(of outputs: [String], _ tenant: RegisteredTenant) async throws {
        let stored: String = try await tenant.database.withSuperuser { pool in
            try await pool.withConnection { connection in
                try await connection.execute(
                    """
                    SELECT string_agg(t, ' ') FROM (
                        SELECT e::text || encode(coalesce(sealed_operations, ''), 'escape') AS t
                        FROM doorstep.app_store_images e
                        UNION ALL SELECT e::text FROM doorstep.app_store_experiences e
                        UNION ALL SELECT e::text FROM doorstep.app_store_runs e
                        UNION ALL SELECT e::text FROM doorstep.app_store_refusals e
                        UNION ALL SELECT e::text FROM doorstep.audit_log e) s
                    """
                ).one().decode(at: 0, as: String.self)
            }
        }
        let pem = StoreFixture.key.pemRepresentation.split(separator: "\n").dropFirst().dropLast()
        for text in outputs + [stored] {
            for secret in ["/upload/", "Bearer", "eyJ", "PRIVATE KEY"] + pem.map(String.init) {
                #expect(!text.contains(secret), "\(secret)")
            }
        }
    }
}
