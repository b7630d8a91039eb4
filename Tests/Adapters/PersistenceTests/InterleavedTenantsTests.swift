import Foundation
import PostgreSQL
import PropertyTesting
import Synchronization
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// Transactions of two tenants share one pool, with errors, cancellations and killed connections. No transaction sees or writes
/// rows of the other tenant.
///
/// The test runs 5,000 operations, or the number in `DOORSTEP_TEST_OPERATIONS`; `deploy/nightly` sets a larger number.
@Suite(.serialized) struct InterleavedTenantsTests {
    private static let operations =
        ProcessInfo.processInfo.environment["DOORSTEP_TEST_OPERATIONS"].flatMap { Int($0) } ?? 5_000
    private static let tasks = 16

    @Test(arguments: [false, true]) func interleavedTenantsNeverSeeEachOther(throughPooler: Bool) async throws
    {
        let seed = UInt64.random(in: .min ... .max)
        print("interleaved tenants: seed \(seed)")
        try await Stores.withTenant { stores, one in
            let two = try await stores.createTenant("other")
            try await stores.importLocations((0..<3).map { try .sample("one\($0)") }, of: one)
            try await stores.importLocations((0..<5).map { try .sample("other\($0)") }, of: two)
            let tenants = [
                Tenant(id: one, other: two, locations: 3), Tenant(id: two, other: one, locations: 5),
            ]
            let change: (inout PoolConfiguration) -> Void = { configuration in
                configuration.maximumConnections = 8
                configuration.acquireTimeout = .seconds(600)
            }
            let tally: Tally
            if throughPooler {
                // Fewer connections than the pool has, so that the pooler passes its sessions from one connection to another.
                tally = try await PgBouncer.withPgBouncer(serverConnections: 4) { pooler in
                    try await stores.database.withPool(as: .serve, through: pooler, change) {
                        try await Self.run(tenants, on: $0, seed: seed)
                    }
                }
            } else {
                tally = try await stores.database.withPool(as: .serve, change) {
                    try await Self.run(tenants, on: $0, seed: seed)
                }
            }
            #expect(tally.leaks == [], "seed \(seed)")
            // The test is useless if few operations succeed or none fails.
            #expect(tally.reads > Self.operations / 2 && tally.writes > Self.operations / 10)
            #expect(tally.refused > 0 && tally.cancelled > 0 && tally.lost > 0)
            for tenant in tenants {
                let written = try await stores.count(
                    "SELECT count(*) FROM doorstep.confirmations WHERE tenant_id = \(tenant.id.uuid)")
                let expected = tally.written[tenant.id] ?? 0
                // The outcome of interrupted transactions is unknown.
                #expect((expected...expected + tally.unknown).contains(written), "seed \(seed)")
            }
        }
    }

    private struct Tenant: Sendable {
        let id: TenantID
        let other: TenantID
        let locations: Int
    }

    private struct Tally: Sendable {
        var leaks: [String] = []
        var reads = 0
        var writes = 0
        var refused = 0
        var cancelled = 0
        var lost = 0
        var unknown = 0
        var written: [TenantID: Int] = [:]
    }

    private static func run(_ tenants: [Tenant], on pool: ConnectionPool, seed: UInt64) async throws -> Tally
    {
        let tally = Shared(Tally())
        try await withThrowingTaskGroup { group in
            for task in 0..<tasks {
                group.addTask {
                    var random = SplitMix64(seed: seed &+ UInt64(task))
                    for _ in 0..<operations / tasks {
                        let tenant = tenants[Int.random(in: 0..<2, using: &random)]
                        do {
                            try await operate(tenant, Int.random(in: 0..<1_000, using: &random), pool, tally)
                        } catch let error as PostgreSQLError {
                            try count(error, tally)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return tally.value
    }

    /// Counts errors that a broken connection or a cancellation explains. Other errors fail the test.
    private static func count(_ error: PostgreSQLError, _ tally: Shared<Tally>) throws {
        switch error {
        case .cancelled: tally.change { $0.cancelled += 1 }
        case .outcomeUnknown:
            tally.change {
                $0.unknown += 1
                $0.lost += 1
            }
        case .connectionLost, .connectFailed: tally.change { $0.lost += 1 }
        case .server(let error) where ["57P01", "08P01", "08006", "57014"].contains(error.sqlState):
            tally.change { $0.lost += 1 }
        default: throw error
        }
    }

    private static func operate(
        _ tenant: Tenant, _ choice: Int, _ pool: ConnectionPool, _ tally: Shared<Tally>
    ) async throws {
        switch choice {
        case ..<700:
            try await pool.withTenantTransaction(tenant.id, as: .app, .readOnly) { transaction in
                try await check(transaction, tenant, tally)
            }
        case ..<900:
            try await pool.withTenantTransaction(tenant.id, as: .app) { transaction in
                try await write(transaction, of: tenant.id)
            }
            tally.change {
                $0.writes += 1
                $0.written[tenant.id, default: 0] += 1
            }
        case ..<930:
            // The statement is refused, and the whole transaction is rolled back.
            do {
                try await pool.withTenantTransaction(tenant.id, as: .app) { transaction in
                    try await write(transaction, of: tenant.id)
                    try await write(transaction, of: tenant.other)
                }
                tally.change { $0.leaks.append("one tenant wrote another's row") }
            } catch PostgreSQLError.server(let error) where error.sqlState == "42501" {
                tally.change { $0.refused += 1 }
            }
        case ..<960:
            do {
                try await pool.withTenantTransaction(tenant.id, as: .app) { transaction in
                    try await write(transaction, of: tenant.id)
                    _ = try await transaction.execute("SELECT 1 / 0")
                }
            } catch PostgreSQLError.server(let error) where error.sqlState == "22012" {
                tally.change { $0.refused += 1 }
            }
        case ..<980:
            // Looks for the tenant and role of an earlier transaction on the connection.
            try await pool.withTransaction { transaction in
                let (role, setting) = try await transaction.execute(
                    "SELECT current_user = session_user, current_setting('doorstep.tenant_id', true)"
                ).one().decode(Bool.self, String?.self)
                let visible = try await count(in: transaction)
                if !role || setting ?? "" != "" || visible != 0 {
                    tally.change { $0.leaks.append("a transaction left its tenant on the connection") }
                }
            }
        case ..<995:
            let task = Task {
                try await pool.withTenantTransaction(tenant.id, as: .app) { transaction in
                    try await write(transaction, of: tenant.id)
                    _ = try await transaction.execute("SELECT pg_sleep(600)")
                }
            }
            task.cancel()
            try await task.value
        default:
            // Kills a random other connection of the pool.
            _ = try await pool.withTransaction { transaction in
                try await transaction.execute(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND usename = session_user AND pid <> pg_backend_pid()
                    ORDER BY random() LIMIT 1
                    """)
            }
        }
    }

    private static func check(
        _ transaction: TenantTransaction, _ tenant: Tenant, _ tally: Shared<Tally>
    ) async throws {
        // The statement has no condition, so only row-level security filters.
        let (all, own, setting) = try await transaction.execute(
            """
            SELECT count(*)::int8, count(*) FILTER (WHERE tenant_id = \(tenant.id.uuid))::int8,
                current_setting('doorstep.tenant_id')
            FROM doorstep.locations
            """
        ).one().decode(Int.self, Int.self, String.self)
        tally.change { tally in
            tally.reads += 1
            if all != tenant.locations || own != all || setting != tenant.id.description {
                tally.leaks.append("\(all) rows visible, \(own) of them the tenant's")
            }
        }
    }

    private static func count(in transaction: Transaction) async throws -> Int {
        _ = try await transaction.execute("SELECT set_config('role', 'doorstep_app', true)")
        return try await transaction.execute("SELECT count(*) FROM doorstep.locations").one().decode(at: 0)
    }

    private static func write(_ transaction: TenantTransaction, of tenant: TenantID) async throws {
        _ = try await transaction.execute(
            """
            INSERT INTO doorstep.confirmations (tenant_id, confirmation_id, outcome, source, minute)
            VALUES (\(tenant.uuid), \(UUID()), 'inRegion', 'nfc', date_trunc('minute', now(), 'UTC'))
            """)
    }
}
