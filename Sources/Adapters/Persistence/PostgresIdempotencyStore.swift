import Foundation
public import Notifications
public import PostgreSQL
public import Tenancy

/// Idempotency keys and sealed responses in PostgreSQL, written and read as `doorstep_app`.
///
/// 1. `claim` commits a row with a new claim ID.
/// 2. Each read-write transaction of the request sets `performed_at` in this row if the claim ID is still the same; otherwise the
/// transaction is rolled back (`TenantTransaction.recordPerformed(_:)`). The row therefore shows exactly whether the request was
/// carried out, even if the server stopped or lost the connection during COMMIT.
/// 3. `complete` stores the response, or `release` deletes the row of an attempt that did nothing.
///
/// If a server stops between 1 and 2, the next attempt replaces the claim ID after ``lease``. If it stops between 2 and 3, the
/// response is lost, and a repetition gets an error that says so.
public struct PostgresIdempotencyStore: IdempotencyStore {
    private let pool: ConnectionPool

    /// The time for which an attempt counts as running, in seconds. [ours]
    static let lease: TimeInterval = 180

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    public func claim(_ key: IdempotencyKey, of tenant: TenantID) async throws -> IdempotencyClaim.Outcome {
        let claim = IdempotencyClaim(tenant: tenant, key: key.name, id: UUID())
        return try await write(tenant) { transaction in
            try await transaction.deleteExpired(key)
            if let outcome = try await transaction.outcome(of: key, for: claim) { return outcome }
            guard try await transaction.hasRoomForClaim() else { return .tooMany }
            if try await transaction.insert(claim, of: key) { return .claimed(claim) }
            // Another attempt has inserted the row, and may have released it since.
            return try await transaction.outcome(of: key, for: claim) ?? .inUse
        }
    }

    public func complete(_ claim: IdempotencyClaim, with sealedResponse: [UInt8]) async throws {
        try await write(claim.tenant) { transaction in
            _ = try await transaction.execute(
                """
                UPDATE doorstep.idempotency_keys SET sealed_response = \(sealedResponse)
                WHERE tenant_id = \(claim.tenant.uuid) AND key = \(claim.key) AND claim_id = \(claim.id)
                """)
        }
    }

    public func release(_ claim: IdempotencyClaim) async throws {
        try await write(claim.tenant) { transaction in
            // Waits while the attempt's transaction is being committed.
            let isFree =
                try await transaction.execute(
                    """
                    DELETE FROM doorstep.idempotency_keys
                    WHERE tenant_id = \(claim.tenant.uuid) AND key = \(claim.key) AND claim_id = \(claim.id)
                        AND performed_at IS NULL
                    """
                ).affectedRows == 1
            guard !isFree else { return }
            try await transaction.execute(
                """
                UPDATE doorstep.idempotency_keys SET claimed_until = now()
                WHERE tenant_id = \(claim.tenant.uuid) AND key = \(claim.key) AND claim_id = \(claim.id)
                """)
        }
    }

    private func write<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        do {
            return try await reportingUnavailability {
                try await pool.withTenantTransaction(tenant, as: .app, .readWrite, body)
            }
        } catch let error as PostgreSQLError where error.isForeignKeyViolation() {
            // The tenant and its API keys were deleted. The next request is refused.
            throw StoreUnavailable()
        }
    }
}

extension TenantTransaction {
    /// Records that a claim's request was carried out, in the transaction that carries it out.
    /// - Throws: `StoreUnavailable` if another attempt has replaced the claim. Then the transaction is rolled back.
    func recordPerformed(_ claim: IdempotencyClaim) async throws {
        let isCurrent =
            try await execute(
                """
                UPDATE doorstep.idempotency_keys SET performed_at = now()
                WHERE tenant_id = \(tenant.uuid) AND key = \(claim.key) AND claim_id = \(claim.id)
                """
            ).affectedRows == 1
        guard isCurrent else { throw StoreUnavailable() }
    }

    /// - Returns: Nil if the tenant does not have the key.
    fileprivate func outcome(
        of key: IdempotencyKey, for claim: IdempotencyClaim
    ) async throws -> IdempotencyClaim.Outcome? {
        let row = try await execute(
            """
            SELECT request_digest, claim_id, claimed_until > now(), performed_at IS NOT NULL, sealed_response
            FROM doorstep.idempotency_keys WHERE tenant_id = \(tenant.uuid) AND key = \(key.name)
            """
        ).first
        guard let row else { return nil }
        let (digest, id, isRunning, isPerformed, response) = try row.decode(
            [UInt8].self, UUID?.self, Bool?.self, Bool.self, [UInt8]?.self)
        // The idempotency key of a notification has no claim.
        guard let id, digest == key.digest else { return .reused }
        let current = IdempotencyClaim(tenant: tenant, key: key.name, id: id)
        if let response { return .completed(current, sealedResponse: response) }
        if isRunning ?? false { return .inUse }
        if isPerformed { return .responseLost }
        return try await replace(current, by: claim) ? .claimed(claim) : .inUse
    }

    /// Takes over the row of an attempt that no longer counts as running.
    private func replace(_ old: IdempotencyClaim, by new: IdempotencyClaim) async throws -> Bool {
        // Waits while the old attempt's transaction is being committed.
        try await execute(
            """
            UPDATE doorstep.idempotency_keys
            SET claim_id = \(new.id), claimed_until = now() + make_interval(secs => \(PostgresIdempotencyStore.lease))
            WHERE tenant_id = \(tenant.uuid) AND key = \(old.key) AND claim_id = \(old.id) AND performed_at IS NULL
            """
        ).affectedRows == 1
    }

    fileprivate func insert(_ claim: IdempotencyClaim, of key: IdempotencyKey) async throws -> Bool {
        try await execute(
            """
            INSERT INTO doorstep.idempotency_keys (tenant_id, key, request_digest, claim_id, claimed_until)
            VALUES (\(tenant.uuid), \(claim.key), \(key.digest), \(claim.id),
                now() + make_interval(secs => \(PostgresIdempotencyStore.lease)))
            ON CONFLICT DO NOTHING
            """
        ).affectedRows == 1
    }

    /// Concurrent requests may exceed the limit by their number.
    fileprivate func hasRoomForClaim() async throws -> Bool {
        let count: Int = try await execute(
            """
            SELECT count(*) FROM (
                SELECT FROM doorstep.idempotency_keys
                WHERE tenant_id = \(tenant.uuid) AND claim_id IS NOT NULL
                LIMIT \(IdempotencyClaim.maximumCount)) AS claims
            """
        ).one().decode(at: 0)
        return count < IdempotencyClaim.maximumCount
    }
}
