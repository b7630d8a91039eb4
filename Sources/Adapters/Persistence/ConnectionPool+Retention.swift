import PostgreSQL
import Tenancy

/// The common part of all retention jobs. Each step is its own transaction, so that other transactions wait only briefly, and several
/// servers can work at once.
extension ConnectionPool {
    /// Calls a function of the schema as `doorstep_router`, until it reports that nothing is left.
    /// - Returns: The sum of the function's results.
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
    /// - Parameter batch: The maximum number of rows that the statement deletes.
    /// - Returns: The number of deleted rows.
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
