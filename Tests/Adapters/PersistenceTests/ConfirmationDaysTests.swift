import Confirmations
import Foundation
import Invocation
import Persistence
import PostgreSQL
import Tenancy
import TestSupport
import Testing

/// Day partitions of confirmations are created and dropped, and no other rows are lost.
@Suite struct ConfirmationDaysTests {
    private typealias Retention = ConfirmationDays.Retention

    /// Records confirmations as the server's role, at noon UTC, the given number of days before today.
    private static func record(
        daysAgo days: Int..., count: Int = 1, location: String = "a", of tenant: TenantID, in stores: Stores
    ) async throws {
        try await stores.appPool.withTransaction { transaction in
            try await transaction.setTenant(tenant.description)
            try await transaction.execute(
                """
                INSERT INTO doorstep.confirmations
                    (tenant_id, confirmation_id, location_identifier, outcome, source, minute)
                SELECT \(tenant.uuid), gen_random_uuid(), \(location), 'inRegion', 'nfc',
                    ((now() AT TIME ZONE 'UTC')::date - d::integer)::timestamp AT TIME ZONE 'UTC' + interval '12 hours'
                FROM unnest(\(days)) AS d, generate_series(1, \(count))
                """)
        }
    }

    /// The age in days and the partition of each recorded confirmation: `"3"` in the partition of its day, `"default 3"` in the
    /// default partition.
    private static func places(_ stores: Stores) async throws -> [String] {
        try await stores.database.withSuperuser { pool in
            try await pool.withConnection { connection in
                try await connection.execute(
                    """
                    SELECT CASE tableoid::regclass::text
                        WHEN 'doorstep.confirmations_default' THEN 'default '
                        WHEN to_char(minute AT TIME ZONE 'UTC', '"doorstep.confirmations_"YYYYMMDD') THEN ''
                        ELSE 'misplaced ' END || (now() AT TIME ZONE 'UTC')::date - (minute AT TIME ZONE 'UTC')::date
                    FROM doorstep.confirmations ORDER BY minute DESC, 1
                    """
                ).map { try $0.decode(at: 0) }
            }
        }
    }

    private static let partitions: Query = """
        SELECT count(*) FROM pg_inherits WHERE inhparent = 'doorstep.confirmations'::regclass
        """

    @Test func confirmationsAreAcceptedWithoutDayPartitions() async throws {
        try await Stores.withTenant { stores, tenant in
            try await Self.record(daysAgo: -1, 0, 1, 400, of: tenant, in: stores)
            #expect(
                try await Self.places(stores) == ["default -1", "default 0", "default 1", "default 400"])
            #expect(try await stores.count(Self.partitions) == 1)
        }
    }

    @Test func recordedConfirmationsMoveToTheirDay() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            for tenant in [tenant, other] {
                try await Self.record(daysAgo: -9, -7, 0, 3, 90, 91, 800, of: tenant, in: stores)
            }
            let days = ConfirmationDays(stores.routerPool, retention: 90)
            // Creates today, the next seven days and two past days. The past days are indexed, too.
            #expect(try await days.maintain() == Retention(added: 10, indexed: 2))
            #expect(
                try await Self.places(stores)
                    == ["default -9", "default -9", "-7", "-7", "0", "0", "3", "3", "90", "90"])
            #expect(try await days.maintain() == Retention())
            // New confirmations go to the partition of their day at once.
            try await Self.record(daysAgo: 3, 0, of: tenant, in: stores)
            #expect(try await Self.places(stores).filter { $0.contains("default") }.count == 2)
            for count in [
                "SELECT count(*) FROM doorstep.confirmations WHERE tenant_id = \(tenant.uuid)",
                "SELECT count(*) + 2 FROM doorstep.confirmations WHERE tenant_id = \(other.uuid)",
            ] as [Query] {
                #expect(try await stores.count(count) == 7)
            }
        }
    }

    @Test func onlyExpiredDaysAreDropped() async throws {
        try await Stores.withTenant { stores, tenant in
            try await Self.record(daysAgo: 0, 1, 29, 30, 31, 32, of: tenant, in: stores)
            let long = ConfirmationDays(stores.routerPool, retention: 60)
            _ = try await long.maintain()
            #expect(try await Self.places(stores) == ["0", "1", "29", "30", "31", "32"])
            let short = ConfirmationDays(stores.routerPool, retention: 30)
            #expect(try await short.maintain() == Retention(dropped: 2))
            #expect(try await Self.places(stores) == ["0", "1", "29", "30"])
            // Late confirmations: one for a dropped day, one for an existing day.
            try await Self.record(daysAgo: 29, 31, of: tenant, in: stores)
            #expect(try await Self.places(stores) == ["0", "1", "29", "29", "30", "default 31"])
            #expect(try await short.maintain() == Retention())
            #expect(try await Self.places(stores) == ["0", "1", "29", "29", "30"])
        }
    }

    @Test(arguments: [0, -1, 731, nil])
    func invalidRetentionIsRejected(days: Int?) async throws {
        try await Stores.withTenant { stores, tenant in
            try await Self.record(daysAgo: 700, of: tenant, in: stores)
            let state = try await sqlState {
                try await stores.routerPool.withTransaction {
                    _ = try await $0.execute("SELECT doorstep.drop_confirmation_days(\(days)::integer)")
                }
            }
            #expect(state == "22023")
            #expect(try await Self.places(stores) == ["default 700"])
        }
    }

    @Test func concurrentMaintenanceRunsOnce() async throws {
        try await Stores.withTenant { stores, tenant in
            try await Self.record(daysAgo: 0, 1, 2, 3, count: 100, of: tenant, in: stores)
            let days = ConfirmationDays(stores.routerPool, retention: 90)
            try await withThrowingTaskGroup { group in
                for _ in 0..<3 {
                    group.addTask {
                        // If a call reaches its lock timeout of two seconds, it is repeated.
                        while try await sqlState({ _ = try await days.maintain() }) == "55P03" {}
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await stores.count(Self.partitions) == 12)
            #expect(try await stores.count("SELECT count(*) FROM doorstep.confirmations") == 400)
            #expect(try await stores.count("SELECT count(*) FROM ONLY doorstep.confirmations_default") == 0)
        }
    }

    /// A long read delays the drop of a partition, but not writes.
    @Test func longReaderDelaysDroppingButNotWriting() async throws {
        try await Stores.withTenant { stores, tenant in
            try await Self.record(daysAgo: 0, 40, of: tenant, in: stores)
            _ = try await ConfirmationDays(stores.routerPool, retention: 90).maintain()
            let days = ConfirmationDays(stores.routerPool, retention: 30)
            try await stores.adminPool.withTransaction { reader in
                try await reader.setTenant(tenant.description)
                try await reader.execute("SELECT count(*) FROM doorstep.confirmations")
                await #expect {
                    try await days.maintain()
                } throws: { ($0 as? PostgreSQLError)?.sqlState == "55P03" }
                try await Self.record(daysAgo: 0, of: tenant, in: stores)
            }
            #expect(try await days.maintain().dropped == 1)
            #expect(try await Self.places(stores) == ["0", "0"])
        }
    }

    /// Partitions that are created later follow the rules of all tables.
    @Test func partitionsFollowTheSchemaRules() async throws {
        try await Stores.withTenant { stores, tenant in
            try await Self.record(daysAgo: 0, 5, of: tenant, in: stores)
            _ = try await ConfirmationDays(stores.routerPool, retention: 90).maintain()
            try await stores.database.withSuperuser { pool in
                let violations = try await pool.withTransaction(.readOnly) {
                    try await SchemaWalker.violations($0)
                }
                #expect(violations == [])
            }
        }
    }

    @Test func partitionsAreInaccessibleAndIsolateTenants() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            for tenant in [tenant, other] { try await Self.record(daysAgo: 0, 5, of: tenant, in: stores) }
            _ = try await ConfirmationDays(stores.routerPool, retention: 90).maintain()
            try await Self.record(daysAgo: 20, of: other, in: stores)
            let partitions = try await stores.database.withSuperuser { pool in
                try await pool.withConnection { connection in
                    try await connection.execute(
                        """
                        SELECT inhrelid::regclass::text FROM pg_inherits
                        WHERE inhparent = 'doorstep.confirmations'::regclass
                        """
                    ).map { try $0.decode(at: 0, as: String.self) }
                }
            }
            #expect(partitions.count == 10)
            for partition in partitions {
                for login in [TestLogin.app, .admin, .router, .serve] {
                    try await stores.database.withPool(as: login) { pool in
                        for statement in [
                            "SELECT FROM \(partition)", "DELETE FROM \(partition)",
                            "INSERT INTO \(partition) SELECT * FROM \(partition)",
                            "UPDATE \(partition) SET outcome = 'inRegion'", "TRUNCATE \(partition)",
                            "DROP TABLE \(partition)",
                        ] {
                            let state = try await sqlState {
                                try await pool.withTransaction { transaction in
                                    try await transaction.setTenant(tenant.description)
                                    try await transaction.execute(script: statement)
                                }
                            }
                            #expect(state == "42501", "\(login): \(statement)")
                        }
                    }
                }
            }
            // The policy restricts the owner, too: it sees no rows of the partition without a tenant.
            let day = try #require(partitions.first { $0 != "doorstep.confirmations_default" })
            try await stores.database.withPool(as: .migrate) { pool in
                try await pool.withTransaction { transaction in
                    let seen = try await transaction.execute(
                        "SELECT count(*) FROM doorstep.\(identifier: String(day.dropFirst("doorstep.".count)))"
                    ).one().decode(at: 0, as: Int.self)
                    #expect(seen == 0)
                }
            }
            // Only the router maintains the days.
            for pool in [stores.appPool, stores.adminPool] {
                for function in [
                    "add_confirmation_days()", "drop_confirmation_days(1)", "index_confirmation_days()",
                    "confirmation_days()",
                ] {
                    let state = try await sqlState {
                        try await pool.withTransaction {
                            try await $0.execute(script: "SELECT doorstep.\(function)")
                        }
                    }
                    #expect(state == "42501", "\(function)")
                }
            }
        }
    }

    @Test func deletedTenantLeavesNoConfirmations() async throws {
        try await Stores.withTenant { stores, tenant in
            let other = try await stores.createTenant("other")
            for tenant in [tenant, other] { try await Self.record(daysAgo: 0, 5, 6, of: tenant, in: stores) }
            _ = try await ConfirmationDays(stores.routerPool, retention: 90).maintain()
            for tenant in [tenant, other] { try await Self.record(daysAgo: 20, of: tenant, in: stores) }
            try await stores.administer(other, "DELETE FROM doorstep.tenants WHERE tenant_id = '\(other)'")
            #expect(try await Self.places(stores) == ["0", "5", "6", "default 20"])
            let state = try await sqlState {
                try await Self.record(daysAgo: 0, of: other, in: stores)
            }
            #expect(state == "23503")
        }
    }
}
