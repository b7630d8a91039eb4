public import AppStoreSync
public import Foundation
public import PostgreSQL
public import Tenancy

/// The requests of one key of a tenant in PostgreSQL, counted by minute. The role is `doorstep_admin`.
public struct PostgresRequestLedger: RequestLedger {
    private let pool: ConnectionPool
    private let tenant: TenantID
    private let keyID: String
    private let role: DatabaseRole

    /// An hour and two minutes: reserved requests are used within a minute, and a started minute counts completely.
    private static let window: TimeInterval = 3_600 + 120

    public init(_ pool: ConnectionPool, keyID: String, of tenant: TenantID) {
        self.init(pool, keyID: keyID, of: tenant, as: .admin)
    }

    /// Creates a ledger for a server. The role is `doorstep_app`.
    public init(serving pool: ConnectionPool, keyID: String, of tenant: TenantID) {
        self.init(pool, keyID: keyID, of: tenant, as: .app)
    }

    private init(_ pool: ConnectionPool, keyID: String, of tenant: TenantID, as role: DatabaseRole) {
        self.role = role
        self.pool = pool
        self.keyID = keyID
        self.tenant = tenant
    }

    public func spend(_ count: Int, of allowance: Int, at now: Date) async throws -> RequestGrant {
        try await locked { transaction in
            let (spent, oldest) = try await spent(at: now, transaction)
            let granted = max(0, min(count, allowance - spent))
            if granted > 0 { try await add(granted, at: now, transaction) }
            return RequestGrant(
                count: granted, spent: spent + granted,
                next: (oldest ?? now).addingTimeInterval(Self.window + 1))
        }
    }

    public func raise(to count: Int, at now: Date) async throws {
        try await locked { transaction in
            let (spent, _) = try await spent(at: now, transaction)
            if count > spent { try await add(count - spent, at: now, transaction) }
        }
    }

    /// The number of requests in the past hour, and the minute of the first one.
    private func spent(at now: Date, _ transaction: TenantTransaction) async throws -> (Int, Date?) {
        try await transaction.execute(
            """
            SELECT coalesce(sum(spent), 0)::bigint, min(minute) FROM doorstep.app_store_budget
            WHERE tenant_id = \(tenant.uuid) AND key_id = \(keyID)
                AND minute > \(now.addingTimeInterval(-Self.window))
            """
        ).one().decode(Int.self, Date?.self)
    }

    private func add(_ count: Int, at now: Date, _ transaction: TenantTransaction) async throws {
        try await transaction.execute(
            """
            DELETE FROM doorstep.app_store_budget
            WHERE tenant_id = \(tenant.uuid) AND key_id = \(keyID)
                AND minute <= \(now.addingTimeInterval(-Self.window))
            """)
        try await transaction.execute(
            """
            INSERT INTO doorstep.app_store_budget AS b (tenant_id, key_id, minute, spent)
            VALUES (\(tenant.uuid), \(keyID), date_trunc('minute', \(now)::timestamptz), \(Int32(clamping: count)))
            ON CONFLICT (tenant_id, key_id, minute) DO UPDATE SET spent = b.spent + excluded.spent
            """)
    }

    /// Locks the rows. Otherwise two simultaneous reservations would use the same remaining requests.
    private func locked<Result: Sendable>(
        _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        try await pool.withTenantTransaction(tenant, as: role) { transaction in
            try await transaction.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(\("app store budget \(tenant) \(keyID)"), 0))")
            return try await body(transaction)
        }
    }
}
