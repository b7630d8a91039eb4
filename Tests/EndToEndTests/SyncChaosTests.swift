import AppStoreConnectSimulator
import Foundation
import PostgreSQL
import PropertyTesting
import StoreSupport
import Tenancy
import TestSupport
import Testing

/// Runs are killed at any moment, while responses are lost, requests exceed the limit, listings are wrong and the catalogue
/// changes. A seed decides the order.
@Suite struct SyncChaosTests {
    /// The number of killed runs: `DOORSTEP_TEST_CYCLES`, default 20.
    private static let cycles =
        ProcessInfo.processInfo.environment["DOORSTEP_TEST_CYCLES"].flatMap { Int($0) } ?? 20
    private static let seed =
        ProcessInfo.processInfo.environment["DOORSTEP_TEST_SEED"].flatMap { UInt64($0) }
        ?? .random(in: .min ... .max)
    private static let options = [
        "--allow-removals", "100", "--grace", "0", "--settle-after", "0",
    ]

    @Test(.timeLimit(.minutes(120))) func killedRunsCreateNoDuplicatesAndSpareForeignExperiences()
        async throws
    {
        print("registration chaos: seed \(Self.seed), \(Self.cycles) cycles")
        try await RegisteredTenant.lend {
            // A run that repeats a creation without a check would create two experiences.
            $0.refusesDuplicateLinks = false
            $0.processing = 0
        } _: { tenant in
            try await RegisteredCommand.lend(tenant) { command in
                var random = SplitMix64(seed: Self.seed)
                let foreign = try await Self.makeForeign(tenant)
                var number = 0
                var killed = 0
                var hours = 0
                let directory = try TemporaryDirectory()
                let file = directory.path("plan.json")
                // Earlier requests count for an earlier hour.
                try await Self.letAnHourPass(tenant)
                var before = tenant.requestCount
                tenant.simulator.turn { $0.hourlyLimit = Self.smallLimit }
                for cycle in 0..<Self.cycles {
                    // The first half of the runs has a small hourly budget, the second half a large one.
                    let isShort = cycle < Self.cycles / 2
                    if cycle == Self.cycles / 2 { tenant.simulator.turn { $0.hourlyLimit = 1_000_000 } }
                    try await Self.change(tenant, &random, &number)
                    tenant.simulator.faults = []
                    // One in three runs of the second half applies a stored plan.
                    var isKept = !isShort && cycle % 3 == 0
                    if isKept {
                        isKept = try await command.run(["plan", "-o", file] + Self.options).status == 2
                    }
                    tenant.simulator.faults = Self.faults(&random, cycle)
                    let run = try command.start(
                        ["apply"] + (isKept ? [file, "--settle-after", "0"] : Self.options))
                    let until = tenant.requestCount + random.below(14)
                    // Polls, because a counted request may be the last action of the run.
                    while !run.hasEnded, tenant.requestCount < until {
                        if isShort, try await Self.isSpent(tenant) { break }
                        try await Task.sleep(for: .milliseconds(1))
                    }
                    killed += await run.kill() ? 1 : 0
                    try await Self.expectIntegrity(of: tenant, foreign, since: before, "cycle \(cycle)")
                    if isShort, try await Self.isSpent(tenant) {
                        hours += 1
                        try await Self.letAnHourPass(tenant)
                        before = tenant.requestCount
                    }
                }
                // The simulator counted no request beyond the limit.
                #expect(tenant.simulator.counters.overruns == 0, "seed \(Self.seed)")
                #expect(Self.cycles < 10 || hours > 0, "seed \(Self.seed): no hour was spent")
                tenant.simulator.faults = []
                // More than half of the experiences may have to be removed, which needs their exact number. It depends on which
                // runs were killed.
                let left = try await Self.own(tenant).subtracting(Self.wanted(tenant).keys).count
                let last = try await command.run(
                    ["apply"] + Self.options + (left == 0 ? [] : ["--allow-mass-removal", "\(left)"]))
                #expect(last.status == 0, "seed \(Self.seed): \(last.errors)\(last.output)")
                try await Self.expectIntegrity(of: tenant, foreign, since: before, "the end")
                let wanted = try await Self.wanted(tenant)
                #expect(Self.own(tenant) == Set(wanted.keys), "seed \(Self.seed)")
                for (name, title) in wanted {
                    #expect(tenant.remote[name].title == title, "seed \(Self.seed)")
                }
                let plan = try await command.run(["plan"] + Self.options)
                #expect(plan.status == 0, "seed \(Self.seed): \(plan.output)")
                print(
                    "registration chaos: \(killed) of \(Self.cycles) runs were killed, \(tenant.requestCount) requests, \(hours) hours spent"
                )
            }
        }
    }

    /// The hourly budget, which a few runs spend.
    private static let smallLimit = 60

    /// Whether a run has to wait because the hour's budget is spent.
    private static func isSpent(_ tenant: RegisteredTenant) async throws -> Bool {
        let spent = try await tenant.count(
            """
            SELECT coalesce(sum(spent), 0)::bigint FROM doorstep.app_store_budget
            WHERE key_id = \(StoreFixture.keyID)
            """)
        return spent >= smallLimit * 9 / 10
    }

    /// For Apple, and for the recorded budget.
    private static func letAnHourPass(_ tenant: RegisteredTenant) async throws {
        tenant.simulator.advance(by: .seconds(3_660))
        try await tenant.database.withSuperuser { pool in
            try await pool.withConnection {
                _ = try await $0.execute("DELETE FROM doorstep.app_store_budget")
            }
        }
    }

    /// The names of the tenant's experiences at Apple.
    private static func own(_ tenant: RegisteredTenant) -> Set<String> {
        Set(tenant.remote.keys.filter { !$0.hasPrefix("foreign") })
    }

    /// Adds experiences of another owner.
    private static func makeForeign(_ tenant: RegisteredTenant) async throws -> Set<String> {
        // A run of the tenant creates them, and its records are deleted.
        try await tenant.add(["foreign-1", "foreign-2", "foreign-3"], image: tenant.addImage(seed: 9))
        try await tenant.apply()
        try await tenant.execute(
            """
            DELETE FROM doorstep.app_store_experiences; DELETE FROM doorstep.app_store_images;
            DELETE FROM doorstep.experiences; DELETE FROM doorstep.app_store_budget
            """)
        return Set(tenant.simulator.experiences.map(\.id))
    }

    private static func change(
        _ tenant: RegisteredTenant, _ random: inout SplitMix64, _ number: inout Int
    ) async throws {
        let names = try await wanted(tenant).keys.sorted()
        for _ in 0...random.below(names.isEmpty ? 12 : 6) {
            number += 1
            switch random.below(4) {
            case 0 where names.count > 4: try await tenant.delete(random.pick(names))
            case 1 where !names.isEmpty: try await tenant.retitle(random.pick(names), "Title \(number)")
            case 2:
                // A deleted experience may return.
                let name = "p\(random.below(12))"
                if try await wanted(tenant)[name] == nil {
                    try await tenant.add([name], image: tenant.addImage(seed: random.below(3)))
                }
            default: try await tenant.add(["n\(number)"], image: tenant.addImage(seed: random.below(3)))
            }
        }
    }

    private static func faults(_ random: inout SplitMix64, _ cycle: Int) -> [Fault] {
        let all = [
            Fault(.loseReply, times: 3, method: "POST"), Fault(.loseReply, times: 3, method: "PATCH"),
            Fault(.cut, times: 2), Fault(.truncate, times: 2, method: "POST"),
            Fault(.response(status: 429, code: "RATE_LIMIT_EXCEEDED", retryAfter: 0), times: 3),
            Fault(.response(status: 503, code: "SERVICE_UNAVAILABLE", retryAfter: nil), times: 1),
            Fault(
                .response(status: 500, code: "UNEXPECTED_ERROR", retryAfter: nil), times: 2, method: "POST"),
            Fault(.repeatRow, times: 2, path: "/v1/appClips"),
            Fault(.omitRow, times: 2, path: "/v1/appClips"),
        ]
        return (0..<random.below(4)).map { _ in
            var fault = random.pick(all)
            fault.probability = 0.5
            fault.seed = cycle
            return fault
        }
    }

    private static func wanted(_ tenant: RegisteredTenant) async throws -> [String: String] {
        let rows = try await tenant.pool.withTransaction { transaction in
            try await transaction.execute(
                "SELECT set_config('doorstep.tenant_id', \(tenant.tenant.description), true)")
            return try await transaction.execute("SELECT url, title FROM doorstep.experiences").map {
                try $0.decode(String.self, String.self)
            }
        }
        return Dictionary(
            rows.map { url, title in (url.split(separator: "/").last.map(String.init) ?? "", title) }
        ) { first, _ in first }
    }

    private static func expectIntegrity(
        of tenant: RegisteredTenant, _ foreign: Set<String>, since before: Int, _ moment: String
    ) async throws {
        let doubles = tenant.remote.filter { !$0.key.hasPrefix("foreign") && $0.value.count > 1 }
        #expect(doubles.isEmpty, "seed \(seed), \(moment)")
        let left = tenant.simulator.experiences.filter { foreign.contains($0.id) && !$0.isRemoved }
        #expect(left.count == foreign.count, "seed \(seed), \(moment)")
        // Each request was counted before it was sent.
        let spent = try await tenant.count(
            "SELECT coalesce(sum(spent), 0)::bigint FROM doorstep.app_store_budget WHERE key_id = \(StoreFixture.keyID)"
        )
        #expect(spent >= tenant.requestCount - before, "seed \(seed), \(moment)")
    }
}
