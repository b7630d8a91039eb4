import Foundation
import PostgreSQL
import Tenancy
import TestSupport
import Testing

@testable import Persistence

/// A transaction of a tenant leaves no role and no setting on its connection.
@Suite struct TenantTransactionTests {
    private struct Failed: Error {}

    @Test func settingsEndWithTheTransaction() async throws {
        let tenant = TenantID(UUID())
        try await MigratedDatabase.withDatabase { database in
            try await database.insertSampleRows(of: tenant)
            try await database.withPool(as: .app, { $0.maximumConnections = 1 }) { pool in
                var processes: Set<Int32> = []

                func expectNothingLeft(_ comment: Comment) async throws {
                    try await pool.withConnection { connection in
                        let (user, login, tenant, actor, process) = try await connection.execute(
                            """
                            SELECT current_user::text, session_user::text,
                                current_setting('doorstep.tenant_id', true),
                                current_setting('doorstep.actor', true), pg_backend_pid()
                            """
                        ).one().decode(String.self, String.self, String?.self, String?.self, Int32.self)
                        #expect(user == login && tenant ?? "" == "" && actor ?? "" == "", comment)
                        processes.insert(process)
                        let rows: Int = try await connection.execute(
                            "SELECT count(*) FROM doorstep.locations"
                        )
                        .one().decode(at: 0)
                        #expect(rows == 0, comment)
                    }
                }

                func inTransaction(_ body: (TenantTransaction) async throws -> Void) async throws {
                    try await pool.withTenantTransaction(tenant, as: .app, actor: "x") { transaction in
                        let (role, rows) = try await transaction.execute(
                            "SELECT current_user::text, count(*) FROM doorstep.locations"
                        ).one().decode(String.self, Int.self)
                        #expect(role == "doorstep_app" && rows == 1)
                        try await body(transaction)
                    }
                }

                try await expectNothingLeft("before any")
                try await inTransaction { _ in }
                try await expectNothingLeft("after COMMIT")
                await #expect(throws: Failed.self) { try await inTransaction { _ in throw Failed() } }
                try await expectNothingLeft("after an error of the closure")
                await #expect(throws: PostgreSQLError.self) {
                    try await inTransaction { try await $0.execute("SELECT 1 / 0") }
                }
                try await expectNothingLeft("after an error of the server")
                await #expect(throws: PostgreSQLError.rolledBack) {
                    try await inTransaction { _ = try? await $0.execute("SELECT 1 / 0") }
                }
                try await expectNothingLeft("after an error passed over")
                // All transactions used the same connection.
                #expect(processes.count == 1)
            }
        }
    }

    @Test func loginWithoutMembershipIsRejected() async throws {
        try await MigratedDatabase.withDatabase { database in
            try await database.withPool(as: .app) { pool in
                let state = try await sqlState {
                    try await pool.withTenantTransaction(TenantID(UUID()), as: .admin) { _ in }
                }
                #expect(state == "42501")
            }
        }
    }

    @Test func eachTransactionHasItsOwnTenant() async throws {
        let tenants = (0..<8).map { _ in TenantID(UUID()) }
        try await MigratedDatabase.withDatabase { database in
            for tenant in tenants { try await database.insertSampleRows(of: tenant) }
            try await database.withPool(as: .app, { $0.maximumConnections = 3 }) { pool in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<100 {
                        let tenant = tenants[number % tenants.count]
                        group.addTask {
                            let seen = try await pool.withTenantTransaction(tenant, as: .app, .readOnly) {
                                try await $0.execute("SELECT tenant_id FROM doorstep.locations").one()
                                    .decode(at: 0, as: UUID.self)
                            }
                            #expect(seen == tenant.uuid)
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}
