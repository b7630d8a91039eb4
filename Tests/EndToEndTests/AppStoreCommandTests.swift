import AppStoreConnectSimulator
import Formats
import Foundation
import StoreSupport
import TestSupport
import Testing

/// Scripts use `doorstep appstore plan`, `apply` and `drift` like this.
@Suite(.timeLimit(.minutes(10))) struct AppStoreCommandTests {
    @Test func commandsPlanApplyAndReportDrift() async throws {
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
                #expect(json["uncodable"] == [])
                #expect(json["forecast"]?.objectValue?["images"] == 1)
                let dry = try await command.run(["apply", "--dry-run"])
                #expect(dry.status == 2 && dry.output.contains("+ https://example.com/a"))
                #expect(tenant.simulator.experiences.isEmpty)

                let applied = try await command.run(["apply"])
                #expect(applied.status == 0, "\(applied.errors)")
                #expect(applied.output.contains("Created 2") && applied.output.contains("in sync"))
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
                    Fault(.response(status: 409, code: "STATE_ERROR", retryAfter: nil), method: "PATCH")
                ]
                let failed = try await command.run(["apply"])
                #expect(failed.status == 1 && failed.output.contains("1 failed with STATE_ERROR"))
                tenant.simulator.faults = []
                #expect(try await command.run(["apply", "--retry-refused"]).status == 0)
                tenant.simulator.turn { $0.lacksAgreement = true }
                let stopped = try await command.run(["apply"])
                #expect(stopped.status == 1 && stopped.errors.contains("AGREEMENTS"), "\(stopped.errors)")

                let outcomes = [plan, dry, applied, second, drift, text, failed, stopped]
                try await tenant.expectSilence(of: outcomes.map { $0.output + $0.errors })
            }
        }
    }

    @Test(arguments: [
        ["plan", "--clip", "com.example.none.Clip"], ["plan", "--target", "nowhere"],
        ["apply", "--target", "https://example.com/none"],
    ])
    func invalidArgumentIsReportedInOneLine(_ arguments: [String]) async throws {
        try await RegisteredTenant.lend { tenant in
            try await tenant.add(["a"], image: tenant.addImage())
            try await RegisteredCommand.lend(tenant) { command in
                let outcome = try await command.run(arguments)
                #expect(outcome.status == 1)
                #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
            }
        }
    }

    @Test func storedPlanIsAppliedUnlessStale() async throws {
        try await RegisteredTenant.lend {
            $0.processing = 0
        } _: { tenant in
            try await tenant.add(["a", "b"], image: tenant.addImage())
            let directory = try TemporaryDirectory()
            let file = directory.path("plan.json")
            try await RegisteredCommand.lend(tenant) { command in
                // If the file cannot be written, no request is sent.
                let requests = tenant.requestCount
                let nowhere = try await command.run(["plan", "-o", directory.path("none/plan.json")])
                #expect(nowhere.status == 1 && tenant.requestCount == requests, "\(nowhere.errors)")
                #expect(try await command.run(["plan", "-o", file]).status == 2)
                let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
                #expect(mode as? Int == 0o600)
                try await tenant.expectSilence(of: [String(contentsOfFile: file, encoding: .utf8)])
                _ = try await tenant.makeOther()
                let neighbour = try await command.binary.run([
                    "appstore", "apply", file, "--tenant", "other", "--app-store", tenant.simulator.host,
                ])
                #expect(
                    neighbour.status == 1 && neighbour.errors.contains("another tenant"),
                    "\(neighbour.errors)")
                #expect(try await command.run(["apply", file, "--dry-run"]).output.contains("2 create"))
                #expect(try await command.run(["apply", file, "--adopt"]).status == 64)
                let other = try await command.run(["apply", file, "--clip", "com.example.other.Clip"])
                #expect(other.status == 1 && other.errors.contains("the plan belongs to the clip"))
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
                let text = try String(contentsOfFile: file, encoding: .utf8)
                for other in ["{}", text.replacing("\"version\":1", with: "\"version\":2")] {
                    try Data(other.utf8).write(to: URL(filePath: file))
                    let none = try await command.run(["apply", file])
                    #expect(none.status == 1 && none.errors.contains("not a plan"), "\(none.errors)")
                }
            }
        }
    }
}
