import PostgreSQL
import Tenancy

/// Reads and writes the rows of one tenant in a transaction.
protocol CatalogueAccess: Sendable {
    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result

    /// - Parameter actor: The actor in the audit log.
    /// - Returns: The closure's result, and whether this server's lookups use the written rows.
    func write<Result: Sendable>(
        _ tenant: TenantID, by actor: String, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> (result: Result, isVisible: Bool)
}

/// The access of an operator. An operator has no lookups that could be outdated.
extension PostgresAdministrationStore: CatalogueAccess {
    func write<Result: Sendable>(
        _ tenant: TenantID, by actor: String, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> (result: Result, isVisible: Bool) {
        (try await acting(as: actor).writeMuch(tenant, body), true)
    }
}

/// The access of a key, as `doorstep_manager`. The steps are the same as for an operator.
///
/// If the database does not respond, `StoreUnavailable` is thrown.
struct ManagerAccess: CatalogueAccess {
    let pool: ConnectionPool
    /// Maintains the lookup index of this server.
    let feed: IndexFeed
    private let imports: RunningImports

    init(pool: ConnectionPool, feed: IndexFeed) {
        self.pool = pool
        self.feed = feed
        // Each import uses a connection that other requests may need.
        imports = RunningImports(maximum: max(1, pool.configuration.maximumConnections - 1))
    }

    /// How long a statement may take, such as one that waits for an import. [ours]
    private static let statementTimeout = Duration.seconds(30)
    /// How long a statement of an import may take. [ours]
    static let importTimeout = Duration.seconds(1_200)
    /// `lock_timeout`. It is short because tenants share few connections. [ours]
    private static let lockTimeout = "2s"
    /// How long this server's lookup index may lag behind. [ours]
    private static let visibilityTimeout = Duration.seconds(30)

    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        do {
            return try await store("", Self.statementTimeout).read(tenant, body)
        } catch {
            throw Self.unavailability(error)
        }
    }

    /// Runs an import of a tenant when its turn comes.
    /// - Throws: `AdministrationError.conflict` if an import of the tenant is running in this server;
    ///   `tooManyImports` if too many imports wait, or if the turn does not come in time.
    func importing<Result>(_ tenant: TenantID, _ body: () async throws -> Result) async throws -> Result {
        try await imports.with(tenant, body)
    }

    func write<Result: Sendable>(
        _ tenant: TenantID, by actor: String, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> (result: Result, isVisible: Bool) {
        try await write(tenant, by: actor, statementTimeout: Self.statementTimeout, body)
    }

    func write<Result: Sendable>(
        _ tenant: TenantID, by actor: String, statementTimeout: Duration,
        _ body: (TenantTransaction) async throws -> Result
    ) async throws -> (result: Result, isVisible: Bool) {
        let written = try await commit(tenant, by: actor, statementTimeout: statementTimeout, body)
        return (written.result, await isVisible(written.transaction))
    }

    /// Writes without waiting for this server's lookups.
    /// - Returns: The closure's result, and the transaction's number; nil if it wrote nothing.
    func commit<Result: Sendable>(
        _ tenant: TenantID, by actor: String, statementTimeout: Duration,
        _ body: (TenantTransaction) async throws -> Result
    ) async throws -> (result: Result, transaction: UInt64?) {
        do {
            return try await store(actor, statementTimeout).writeMuch(tenant) { transaction in
                try await transaction.execute(
                    "SELECT set_config('lock_timeout', \(Self.lockTimeout), true)")
                let result = try await body(transaction)
                return (result, try await transaction.number())
            }
        } catch {
            throw Self.unavailability(error)
        }
    }

    /// Waits until this server's lookups use the rows of a transaction.
    func isVisible(_ transaction: UInt64?) async -> Bool {
        guard let transaction else { return true }
        return await feed.hasSeen(transaction, within: Self.visibilityTimeout)
    }

    private static func unavailability(_ error: any Error) -> any Error {
        guard let error = error as? PostgreSQLError, error.isNoResponse || error.isLockTimeout else {
            return error
        }
        return StoreUnavailable(error)
    }

    private func store(_ actor: String, _ statementTimeout: Duration) -> PostgresAdministrationStore {
        PostgresAdministrationStore(pool, as: .manager, actor: actor, longTimeout: statementTimeout)
    }
}

extension TenantTransaction {
    /// Nil for a transaction that has locked and written nothing.
    fileprivate func number() async throws -> UInt64? {
        let text = try await execute("SELECT pg_current_xact_id_if_assigned()::text").one()
            .decode(at: 0, as: String?.self)
        return text.flatMap { UInt64($0) }
    }
}
