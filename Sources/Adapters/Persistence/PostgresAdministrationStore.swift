public import Administration
import Formats
import Foundation
public import Invocation
public import PostgreSQL
public import Tenancy

/// Tenants and their rows in PostgreSQL. Operators use the role `doorstep_admin`, keys the role `doorstep_manager`.
///
/// Each call is one transaction: it succeeds completely, or throws and changes nothing. Refusals are `AdministrationError`s.
/// If the database does not respond, a server's store throws `StoreUnavailable`.
/// Every change is in the audit log under its actor. The tables of the kinds of items are in `PostgresAdministrationStore+KIND.swift`,
/// `KIND+Stored.swift` or `PostgresAdministrationStore+Collections.swift`.
public struct PostgresAdministrationStore: Sendable {
    private let pool: ConnectionPool
    private let role: DatabaseRole
    /// The actor in the audit log.
    public let actor: String
    /// Whether the database refuses all changes. A change then throws `ReadOnlyAccess`.
    private let isReadOnly: Bool
    /// The server that makes the changes for keys; nil for an operator, because no lookups depend on this process.
    let server: ManagingServer?

    /// The statement timeout of an operator's long tasks, such as imports.
    static let longTimeout = Duration.seconds(3_600)

    /// Creates a store for an operator.
    /// - Parameter actor: The actor in the audit log, such as `operator:alice`.
    public init(_ pool: ConnectionPool, actor: String, isReadOnly: Bool = false) {
        self.pool = pool
        role = .admin
        self.actor = actor
        self.isReadOnly = isReadOnly
        server = nil
    }

    /// Creates a store for a server. The keys are the actors.
    init(_ pool: ConnectionPool, followedBy feed: IndexFeed) {
        self.pool = pool
        role = .manager
        actor = ""
        isReadOnly = false
        server = ManagingServer(pool, feed)
    }

    func read<Result: Sendable>(
        _ tenant: TenantID, _ mode: TransactionMode = .readOnly,
        _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        do {
            return try await pool.withTenantTransaction(tenant, as: role, mode, body)
        } catch {
            throw unavailability(error)
        }
    }

    /// Writes as the store's own actor.
    /// - Parameter timeout: The statement timeout; nil for the pool's timeout.
    func write<Result: Sendable>(
        _ tenant: TenantID, within timeout: Duration? = nil,
        _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        try await commit(tenant, by: actor, within: timeout, body).result
    }

    /// Writes, and waits until this server's lookups use the written rows.
    /// - Parameter actor: The actor in the audit log.
    /// - Returns: The closure's result, and whether the lookups use the rows.
    func writeUntilVisible<Result: Sendable>(
        _ tenant: TenantID, by actor: String, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> (result: Result, isVisible: Bool) {
        let timeout = server == nil ? Self.longTimeout : ManagingServer.statementTimeout
        let written = try await commit(tenant, by: actor, within: timeout, body)
        return (written.result, await server?.isVisible(written.transaction) ?? true)
    }

    /// Writes without waiting for this server's lookups.
    /// - Returns: The closure's result, and the number of a server's transaction; nil if it wrote nothing.
    func commit<Result: Sendable>(
        _ tenant: TenantID, by actor: String, within timeout: Duration?,
        _ body: (TenantTransaction) async throws -> Result
    ) async throws -> (result: Result, transaction: UInt64?) {
        let mode = TransactionMode(isReadOnly: isReadOnly, statementTimeout: timeout)
        do {
            return try await pool.withTenantTransaction(tenant, as: role, actor: actor, mode) { transaction in
                guard server != nil else { return (try await body(transaction), nil) }
                try await transaction.execute(
                    "SELECT set_config('lock_timeout', \(ManagingServer.lockTimeout), true)")
                let result = try await body(transaction)
                return (result, try await transaction.number())
            }
        } catch let error as PostgreSQLError where error.isOfTenantThatIsGone {
            throw AdministrationError.tenantDeleted
        } catch let error as PostgreSQLError where isReadOnly && error.isReadOnlyTransaction {
            throw ReadOnlyAccess()
        } catch {
            throw unavailability(error)
        }
    }

    private func unavailability(_ error: any Error) -> any Error {
        guard server != nil, let error = error as? PostgreSQLError,
            error.isNoResponse || error.isLockTimeout
        else { return error }
        return StoreUnavailable(error)
    }

    func readAcrossTenants(_ query: Query) async throws -> QueryResult {
        try await pool.withTransaction(as: role) { try await $0.execute(query) }
    }
}

/// A server that changes tenants' catalogues for keys: its limits, its imports, and the lookups that follow the changes.
struct ManagingServer: Sendable {
    private let feed: IndexFeed
    let imports: RunningImports

    init(_ pool: ConnectionPool, _ feed: IndexFeed) {
        self.feed = feed
        // Each import uses a connection that other requests may need. A small import uses it for as long as other changes do.
        let connections = pool.configuration.maximumConnections
        imports = RunningImports(maximum: max(1, connections - 2), maximumSmall: connections > 2 ? 1 : 0)
    }

    /// The statement timeout, also of a statement that waits for an import. [ours]
    static let statementTimeout = Duration.seconds(30)
    /// The statement timeout of an import. [ours]
    static let importTimeout = Duration.seconds(1_200)
    /// `lock_timeout`. It is short because tenants share few connections. [ours]
    static let lockTimeout = "2s"
    /// The maximum lag of this server's lookup index. [ours]
    private static let visibilityTimeout = Duration.seconds(30)

    /// Waits until this server's lookups use the rows of a transaction.
    func isVisible(_ transaction: UInt64?) async -> Bool {
        guard let transaction else { return true }
        return await feed.hasSeen(transaction, within: Self.visibilityTimeout)
    }
}

extension TenantTransaction {
    /// Nil if the transaction has locked and written nothing.
    fileprivate func number() async throws -> UInt64? {
        let text = try await execute("SELECT pg_current_xact_id_if_assigned()::text").one()
            .decode(at: 0, as: String?.self)
        return text.flatMap { UInt64($0) }
    }
}

// MARK: - Tenants

extension PostgresAdministrationStore {
    /// - Parameter isTest: Whether it is a test tenant.
    public func createTenant(
        slug: TenantSlug, name: DisplayName, isTest: Bool = false
    ) async throws -> Tenant {
        let id = TenantID(UUID())
        do {
            return try await write(id) { transaction in
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.tenants (tenant_id, slug, name, is_test)
                    VALUES (\(id.uuid), \(slug.text), \(name.text), \(isTest))
                    """)
                guard let tenant = try await transaction.tenant() else {
                    throw AdministrationError.tenantDeleted
                }
                return tenant
            }
        } catch let error as PostgreSQLError where error.isUniqueViolation("tenants_slug_key") {
            throw AdministrationError.tenantExists(slug)
        }
    }

    /// By slug.
    public func tenants() async throws -> [Tenant] {
        try await readAcrossTenants(
            "SELECT \(unsafeSQL: Tenant.columns) FROM doorstep.tenants ORDER BY slug"
        ).map { try Tenant(row: $0) }
    }

    /// - Throws: `AdministrationError.unknownTenant`.
    public func tenant(_ slug: TenantSlug) async throws -> Tenant {
        let rows = try await readAcrossTenants(
            "SELECT \(unsafeSQL: Tenant.columns) FROM doorstep.tenants WHERE slug = \(slug.text)")
        guard let row = rows.first else { throw AdministrationError.unknownTenant(slug) }
        return try Tenant(row: row)
    }

    /// Suspends or resumes a tenant. Does nothing if the tenant already has this state.
    public func setSuspended(_ isSuspended: Bool, _ slug: TenantSlug) async throws -> Tenant {
        let id = try await tenant(slug).id
        return try await write(id) { transaction in
            let rows = try await transaction.execute(
                """
                UPDATE doorstep.tenants
                SET suspended_at = CASE WHEN \(isSuspended) THEN coalesce(suspended_at, now()) END
                WHERE tenant_id = \(id.uuid)
                RETURNING \(unsafeSQL: Tenant.columns)
                """)
            guard let row = rows.first else { throw AdministrationError.unknownTenant(slug) }
            return try Tenant(row: row)
        }
    }

    /// Changes the tenant's own limits.
    /// - Parameter change: Receives the limits of the locked row. If it throws, they stay as they are.
    public func changeLimits(
        of slug: TenantSlug, _ change: @Sendable (inout RequestLimits) throws -> Void
    ) async throws -> Tenant {
        let id = try await tenant(slug).id
        return try await write(id) { transaction in
            guard let tenant = try await transaction.tenant(lock: "FOR NO KEY UPDATE") else {
                throw AdministrationError.unknownTenant(slug)
            }
            var limits = tenant.limits
            try change(&limits)
            let rows = try await transaction.execute(
                """
                UPDATE doorstep.tenants
                SET key_rate = \(limits.key?.perSecond), key_burst = \(limits.key?.burst),
                    client_rate = \(limits.client?.perSecond), client_burst = \(limits.client?.burst),
                    new_instance_rate = \(limits.newInstances?.perSecond),
                    new_instance_burst = \(limits.newInstances?.burst),
                    client_new_instance_rate = \(limits.clientNewInstances?.perSecond),
                    client_new_instance_burst = \(limits.clientNewInstances?.burst)
                WHERE tenant_id = \(id.uuid)
                RETURNING \(unsafeSQL: Tenant.columns)
                """)
            return try Tenant(row: rows.one())
        }
    }

    /// Changes the tenant's own quotas. If the closure throws, they stay as they are. A tenant that exceeds a new quota keeps its rows.
    public func changeQuotas(
        of slug: TenantSlug, _ change: @Sendable (inout [QuotaKind: Quota]) throws -> Void
    ) async throws -> Tenant {
        let id = try await tenant(slug).id
        return try await write(id) { transaction in
            guard let tenant = try await transaction.tenant(lock: "FOR NO KEY UPDATE") else {
                throw AdministrationError.unknownTenant(slug)
            }
            var quotas = tenant.ownQuotas
            try change(&quotas)
            try await transaction.execute(
                """
                UPDATE doorstep.tenants SET quotas = \(JSONValue.object(quotas.json).text)::jsonb
                WHERE tenant_id = \(id.uuid)
                """)
            guard let tenant = try await transaction.tenant() else {
                throw AdministrationError.unknownTenant(slug)
            }
            return tenant
        }
    }

    /// The quotas of tenants without their own quotas.
    public func defaultQuotas() async throws -> [QuotaKind: Quota] {
        let rows = try await readAcrossTenants(
            "SELECT kind, maximum_rows, maximum_bytes FROM doorstep.quota_defaults")
        return try rows.reduce(into: [:]) { quotas, row in
            let (kind, rows, bytes) = try row.decode(String.self, Int?.self, Int?.self)
            guard let kind = QuotaKind(rawValue: kind) else { return }
            quotas[kind] = Quota(rows: rows, bytes: bytes)
        }
    }

    /// Changes default quotas. Amounts that are nil stay as they are; ``Quota/off`` removes the limit.
    /// - Returns: All default quotas.
    public func changeDefaultQuotas(_ quotas: [QuotaKind: Quota]) async throws -> [QuotaKind: Quota] {
        try await pool.withTransaction(as: role, TransactionMode(isReadOnly: isReadOnly)) { transaction in
            for (kind, quota) in quotas.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                try await transaction.execute(
                    """
                    UPDATE doorstep.quota_defaults
                    SET maximum_rows = nullif(coalesce(\(quota.rows), maximum_rows), \(Quota.off)),
                        maximum_bytes = nullif(coalesce(\(quota.bytes), maximum_bytes), \(Quota.off))
                    WHERE kind = \(kind.rawValue)
                    """)
            }
        }
        return try await defaultQuotas()
    }
}

extension TenantTransaction {
    /// The tenant; nil if it no longer exists.
    /// - Parameter lock: The clause that locks the row, or an empty text.
    func tenant(lock: String = "") async throws -> Tenant? {
        try await execute(
            """
            SELECT \(unsafeSQL: Tenant.columns) FROM doorstep.tenants
            WHERE tenant_id = \(tenant.uuid) \(unsafeSQL: lock)
            """
        ).first.map { try Tenant(row: $0) }
    }
}

extension PostgreSQLError {
    /// Whether a statement tried to change something in a read-only transaction.
    var isReadOnlyTransaction: Bool { serverError?.sqlState == "25006" }

    /// Whether a row was refused because its tenant was deleted meanwhile. `events` refers to `event_recordings`, not to tenants.
    var isOfTenantThatIsGone: Bool {
        guard isForeignKeyViolation(), let constraint = serverError?.constraint else { return false }
        return constraint.hasSuffix("_tenant_id_fkey") && constraint != "events_tenant_id_fkey"
    }
}

extension Tenant {
    fileprivate static let columns = """
        tenant_id, slug, name, created_at, suspended_at, key_rate, key_burst, client_rate, client_burst, \
        new_instance_rate, new_instance_burst, client_new_instance_rate, client_new_instance_burst, \
        collapse_policy, quotas, (
            SELECT jsonb_object_agg(kind, jsonb_build_object(
                'rows', jsonb_build_object('used', row_count, 'limit', maximum_rows),
                'bytes', jsonb_build_object('used', byte_count, 'limit', maximum_bytes)))
            FROM doorstep.tenant_quotas(tenants.tenant_id)), cors_origins, is_test
        """

    /// Reads the columns in ``columns``.
    fileprivate init(row: Row) throws {
        let (id, slug, name, createdAt, suspendedAt) = (
            try row.decode(at: 0, as: UUID.self), try row.decode(at: 1, as: String.self),
            try row.decode(at: 2, as: String.self), try row.decode(at: 3, as: Date.self),
            try row.decode(at: 4, as: Date?.self)
        )
        let limits = RequestLimits(
            key: try RateLimit(row, at: 5), client: try RateLimit(row, at: 7),
            newInstances: try RateLimit(row, at: 9), clientNewInstances: try RateLimit(row, at: 11))
        guard let collapsePolicy = CollapsePolicy(rawValue: try row.decode(at: 13, as: String.self)) else {
            throw PersistenceError.unreadable("tenants")
        }
        let (quotas, usage) = (
            try row.decode(at: 14, as: JSONText.self), try row.decode(at: 15, as: JSONText?.self)
        )
        let (origins, isTest) = (
            try row.decode(at: 16, as: [String].self), try row.decode(at: 17, as: Bool.self)
        )
        self = try PersistenceError.reading("tenants") {
            var quotas = try JSONObjectReader(JSONValue(parsing: quotas.text.utf8))
            var usage = try JSONObjectReader(
                usage.map { try JSONValue(parsing: $0.text.utf8) } ?? .object([:]))
            return Tenant(
                id: TenantID(id), slug: try TenantSlug(slug), name: try DisplayName(stored: name),
                isTest: isTest, createdAt: createdAt, suspendedAt: suspendedAt, limits: limits,
                collapsePolicy: collapsePolicy, corsOrigins: try WebOrigin.list(origins),
                ownQuotas: try [QuotaKind: Quota](&quotas), usage: try [QuotaKind: QuotaUsage](&usage))
        }
    }
}

extension RateLimit {
    /// Reads a rate, and the burst in the next column; nil if it has none.
    fileprivate init?(_ row: Row, at column: Int) throws {
        guard let perSecond = try row.decode(at: column, as: Int32?.self),
            let burst = try row.decode(at: column + 1, as: Int32?.self)
        else { return nil }
        self.init(perSecond: Int(perSecond), burst: Int(burst))
    }
}
