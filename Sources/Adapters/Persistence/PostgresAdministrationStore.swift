public import Administration
import Foundation
import JSON
public import PostgreSQL
public import RateLimiting
public import Tenancy

/// Tenants and all their data in PostgreSQL. The role is `doorstep_admin`; ``ManagerAccess`` uses `doorstep_manager` for one tenant.
///
/// Each call is one transaction: it succeeds completely, or throws and changes nothing. Refusals are `AdministrationError`s.
/// Every change is in the audit log under the store's actor. `PostgresAdministrationStore+….swift` has a file for each kind of
/// item.
public struct PostgresAdministrationStore: Sendable {
    private let pool: ConnectionPool
    private let role: DatabaseRole
    let actor: String
    /// Statement timeout of long work, such as imports.
    private let longTimeout: Duration
    /// Whether the database refuses all changes. A change then throws `ReadOnlyAccess`.
    private let isReadOnly: Bool

    /// - Parameter actor: The actor in the audit log, such as `operator:alice`.
    public init(_ pool: ConnectionPool, actor: String, isReadOnly: Bool = false) {
        self.init(pool, as: .admin, actor: actor, longTimeout: .seconds(3_600), isReadOnly: isReadOnly)
    }

    init(
        _ pool: ConnectionPool, as role: DatabaseRole, actor: String, longTimeout: Duration,
        isReadOnly: Bool = false
    ) {
        self.pool = pool
        self.role = role
        self.actor = actor
        self.longTimeout = longTimeout
        self.isReadOnly = isReadOnly
    }

    func acting(as actor: String) -> PostgresAdministrationStore {
        PostgresAdministrationStore(
            pool, as: role, actor: actor, longTimeout: longTimeout, isReadOnly: isReadOnly)
    }

    func read<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        try await pool.withTenantTransaction(tenant, as: role, .readOnly, body)
    }

    /// Reads from one snapshot, with the timeout of an export.
    func readMuch<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        var mode = TransactionMode.snapshot
        mode.statementTimeout = longTimeout
        return try await pool.withTenantTransaction(tenant, as: role, mode, body)
    }

    func write<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        try await write(tenant, .readWrite, body)
    }

    /// Writes for as long as an import takes.
    func writeMuch<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        try await write(tenant, TransactionMode(statementTimeout: longTimeout), body)
    }

    private func write<Result: Sendable>(
        _ tenant: TenantID, _ mode: TransactionMode, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        var mode = mode
        mode.isReadOnly = isReadOnly
        do {
            return try await pool.withTenantTransaction(tenant, as: role, actor: actor, mode, body)
        } catch let error as PostgreSQLError where error.isOfTenantThatIsGone {
            throw AdministrationError.tenantDeleted
        } catch let error as PostgreSQLError where isReadOnly && error.isReadOnlyTransaction {
            throw ReadOnlyAccess()
        }
    }

    func readAcrossTenants(_ query: Query) async throws -> QueryResult {
        try await pool.withTransaction(as: role) { try await $0.execute(query) }
    }
}

// MARK: - Tenants

extension PostgresAdministrationStore {
    public func createTenant(slug: TenantSlug, name: DisplayName) async throws -> Tenant {
        let id = TenantID(UUID())
        do {
            return try await write(id) { transaction in
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.tenants (tenant_id, slug, name)
                    VALUES (\(id.uuid), \(slug.text), \(name.text))
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

    public func tenant(_ slug: TenantSlug) async throws -> Tenant {
        let rows = try await readAcrossTenants(
            "SELECT \(unsafeSQL: Tenant.columns) FROM doorstep.tenants WHERE slug = \(slug.text)")
        guard let row = rows.first else { throw AdministrationError.unknownTenant(slug) }
        return try Tenant(row: row)
    }

    /// Suspends or resumes; a tenant that is so already stays as it is.
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

    public func rename(_ slug: TenantSlug, to name: DisplayName) async throws -> Tenant {
        let id = try await tenant(slug).id
        return try await write(id) { transaction in
            let rows = try await transaction.execute(
                """
                UPDATE doorstep.tenants SET name = \(name.text) WHERE tenant_id = \(id.uuid)
                RETURNING \(unsafeSQL: Tenant.columns)
                """)
            guard let row = rows.first else { throw AdministrationError.unknownTenant(slug) }
            return try Tenant(row: row)
        }
    }

    /// Changes the tenant's own limits.
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

    /// Changes the tenant's own quotas. A tenant that exceeds a new quota keeps its rows.
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

    /// The quotas of tenants that have none of their own.
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
    /// - Parameter lock: the clause that locks the row, or nothing.
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

    /// Whether a row was refused because its tenant was deleted in the meantime.
    var isOfTenantThatIsGone: Bool {
        [
            "card_images", "clips", "domains", "locations", "short_codes", "api_keys", "revoked_attest_keys",
            "webhooks",
        ].contains { isForeignKeyViolation("\($0)_tenant_id_fkey") }
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
            FROM doorstep.tenant_quotas(tenants.tenant_id)), cors_origins
        """

    /// Takes ``columns``.
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
        let origins = try row.decode(at: 16, as: [String].self)
        self = try PersistenceError.reading("tenants") {
            var quotas = try JSONObjectReader(JSONValue(parsing: quotas.text.utf8))
            var usage = try JSONObjectReader(
                usage.map { try JSONValue(parsing: $0.text.utf8) } ?? .object([:]))
            return Tenant(
                id: TenantID(id), slug: try TenantSlug(slug), name: try DisplayName(stored: name),
                createdAt: createdAt, suspendedAt: suspendedAt, limits: limits,
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
