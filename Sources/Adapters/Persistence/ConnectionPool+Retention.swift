import PostgreSQL
import Tenancy

/// The common part of all retention jobs. Each part is a transaction of its own, so that others wait only briefly, and several
/// servers can work at once.
extension ConnectionPool {
    /// Calls a function of the schema as `doorstep_router`, until it reports that nothing is left.
    /// - Returns: How much it did.
    func exhaust(
        _ step: Query, as role: DatabaseRole = .router, _ mode: TransactionMode = .readWrite
    ) async throws -> Int {
        var total = 0
        while true {
            let done: Int = try await withTransaction(as: role, mode) {
                try await $0.execute(step).one().decode(at: 0)
            }
            guard done > 0 else { return total }
            total += done
        }
    }

    /// Deletes rows of a tenant, as `doorstep_app`, until a statement deletes fewer than it could.
    /// - Parameter batch: How many rows the statement deletes at most.
    /// - Returns: How many those were.
    func prune(_ tenant: TenantID, batch: Int, _ statement: Query) async throws -> Int {
        var total = 0
        while true {
            let deleted = try await withTenantTransaction(tenant, as: .app) {
                try await $0.execute(statement).affectedRows
            }
            total += deleted
            guard deleted == batch else { return total }
        }
    }
}
