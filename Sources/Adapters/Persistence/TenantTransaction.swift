import Formats
import Lookups
import Notifications
import PostgreSQL
import Tenancy

/// A transaction in which only one tenant's rows are visible. There is no other way to a tenant's rows.
///
/// Role and tenant are settings of the transaction (`set_config(…, true)`). They end with the transaction, so that the next user of
/// the connection does not have them, also behind a pooler. Row-level security hides the rows of other tenants.
struct TenantTransaction {
    let tenant: TenantID
    private let transaction: Transaction

    fileprivate init(tenant: TenantID, transaction: Transaction) {
        self.tenant = tenant
        self.transaction = transaction
    }

    @discardableResult
    func execute(_ query: Query) async throws(PostgreSQLError) -> QueryResult {
        try await transaction.execute(query)
    }

    /// Reads the tenant's rows of a relation into a lookup index. Returns the number of rows that could not be read.
    func copyRows(of relation: IndexRelation, into table: inout LookupIndex) async throws -> Int {
        try await transaction.copyRows(of: relation, of: tenant, into: &table)
    }

    func copyIn(_ statement: Query, _ body: (CopyWriter) async throws -> Void) async throws -> Int {
        try await transaction.copyIn(statement, body)
    }
}

extension ConnectionPool {
    /// Runs a closure with one tenant's rows. If no connection is free, tenants get connections in turn.
    ///
    /// If the task carries out a request with an idempotency key, a read-write transaction records that the request was performed,
    /// or is rolled back if another attempt has replaced this one.
    ///
    /// The notifications and webhook messages that it creates belong to the trace of the task's request.
    ///
    /// Throws `QuotaExceeded` if the transaction would exceed a quota of the tenant.
    /// - Parameter locks: Numbers of advisory locks, held until the end of the transaction. The locks are taken in ascending order
    ///   before any row is locked, so that two transactions never wait for each other. The first statement takes them, and the
    ///   closure's statements have later snapshots (read committed). A transaction that waited for a lock therefore sees the
    ///   changes of the transaction that held it.
    nonisolated(nonsending) func withTenantTransaction<Result: Sendable>(
        _ tenant: TenantID, as role: DatabaseRole, actor: String = "", locking locks: [Int64] = [],
        _ mode: TransactionMode = .readWrite,
        _ body: nonisolated(nonsending) (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        do {
            return try await withTransaction(mode, for: tenant.uuid) { transaction in
                try await transaction.execute(
                    """
                    SELECT set_config('role', \(role.rawValue), true),
                           set_config('doorstep.tenant_id', \(tenant.description), true),
                           set_config('doorstep.actor', \(actor), true),
                           -- PostgreSQL starts JIT by estimated cost, and compiling takes longer than any statement here.
                           set_config('jit', 'off', true)\(trace: TraceContext.current)\(locking: Set(locks).sorted())
                    """)
                let tenantTransaction = TenantTransaction(tenant: tenant, transaction: transaction)
                let result = try await body(tenantTransaction)
                if !mode.isReadOnly, let claim = IdempotencyClaim.current, claim.tenant == tenant {
                    try await tenantTransaction.recordPerformed(claim)
                }
                return result
            }
        } catch let error as PostgreSQLError {
            // `COMMIT` checks the quotas, so this place handles the error for all writers.
            throw error.quotaExceeded ?? error
        }
    }

    /// Runs a closure without a tenant. Only rows that the role itself may see are visible.
    nonisolated(nonsending) func withTransaction<Result: Sendable>(
        as role: DatabaseRole, _ mode: TransactionMode = .readOnly,
        _ body: nonisolated(nonsending) (Transaction) async throws -> Result
    ) async throws -> Result {
        try await withTransaction(mode) { transaction in
            try await transaction.execute("SELECT set_config('role', \(role.rawValue), true)")
            return try await body(transaction)
        }
    }
}

extension Query.StringInterpolation {
    /// The default of the columns `trace_context`.
    fileprivate mutating func appendInterpolation(trace: TraceContext?) {
        guard let trace else { return }
        appendLiteral(", set_config('doorstep.trace_context', ")
        appendInterpolation(trace.stored)
        appendLiteral(", true)")
    }

    fileprivate mutating func appendInterpolation(locking locks: [Int64]) {
        guard !locks.isEmpty else { return }
        appendLiteral(", (SELECT count(pg_advisory_xact_lock(lock)) FROM unnest(")
        appendInterpolation(locks)
        appendLiteral("::bigint[]) AS lock)")
    }
}
