public import Foundation
public import PostgreSQL
import Tenancy

/// Deletes unused keys of App Attest, old counts, and revocations of keys that can no longer be valid.
///
/// Several servers can do this at once. `doorstep_router` finds the tenants with rows to delete; `doorstep_app` deletes them in
/// transactions of each tenant.
public struct AttestationRetention: Sendable {
    /// The numbers of deleted rows.
    public struct Work: Sendable, Hashable {
        public var keys: Int
        public var revocations: Int
        public var counts: Int

        public init(keys: Int = 0, revocations: Int = 0, counts: Int = 0) {
            self.keys = keys
            self.revocations = revocations
            self.counts = counts
        }
    }

    private let pool: ConnectionPool

    /// The maximum number of rows that one transaction deletes, so that other transactions wait only briefly.
    private static let batch = 1_000
    /// The number of days after which an unused key is deleted. Its installation then attests a new key. [ours]
    private static let keyRetention = 90
    /// The number of days after which a revocation is deleted. A revoked key is not used, so the key itself is deleted earlier, and
    /// its last token has expired.
    private static let revocationRetention = keyRetention + 1
    /// The number of days after which counts are deleted. It exceeds the days that decide whether attestation can be required.
    /// [ours]
    private static let countRetention = 30

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    public func maintain(at now: Date = Date()) async throws -> Work {
        var work = Work()
        let steps = Self.steps(at: now)
        for tenant in try await tenants(at: now) {
            for (step, count) in steps {
                work[keyPath: count] += try await pool.prune(tenant, batch: Self.batch, step(tenant))
            }
        }
        return work
    }

    /// The tenants with rows to delete. The first entry of an index finds each of them, as in ``NotificationRetention``.
    private func tenants(at now: Date) async throws -> [TenantID] {
        try await pool.withTransaction(as: .router) { transaction in
            try await transaction.execute(
                """
                SELECT t.tenant_id FROM doorstep.tenants AS t
                WHERE (SELECT min(last_used_on) FROM doorstep.attest_keys AS k
                        WHERE k.tenant_id = t.tenant_id AND last_used_on >= '-infinity')
                        < (\(now) AT TIME ZONE 'UTC')::date - \(Self.keyRetention)::integer
                    OR (SELECT min(revoked_at) FROM doorstep.revoked_attest_keys AS r
                        WHERE r.tenant_id = t.tenant_id) < \(Self.oldest(now))
                    OR (SELECT min(day) FROM doorstep.attestation_days AS d
                        WHERE d.tenant_id = t.tenant_id AND day >= '-infinity')
                        < (\(now) AT TIME ZONE 'UTC')::date - \(Self.countRetention)::integer
                """
            ).map { TenantID(try $0.decode(at: 0)) }
        }
    }

    private static func oldest(_ now: Date) -> Date {
        now.addingTimeInterval(-86_400 * Double(revocationRetention))
    }

    /// Keys first. Data that belongs to a key is deleted after the key.
    private static func steps(
        at now: Date
    ) -> [(@Sendable (TenantID) -> Query, any WritableKeyPath<Work, Int> & Sendable)] {
        [
            (
                { tenant in
                    // Checks the condition again, because a key may have been used since the rows were chosen.
                    """
                    DELETE FROM doorstep.attest_keys
                    WHERE tenant_id = \(tenant.uuid)
                        AND last_used_on < (\(now) AT TIME ZONE 'UTC')::date - \(keyRetention)::integer
                        AND key_id IN (
                            SELECT key_id FROM doorstep.attest_keys
                            WHERE tenant_id = \(tenant.uuid)
                                AND last_used_on < (\(now) AT TIME ZONE 'UTC')::date - \(keyRetention)::integer
                            ORDER BY last_used_on LIMIT \(batch))
                    """
                }, \.keys
            ),
            (
                { tenant in
                    """
                    DELETE FROM doorstep.revoked_attest_keys
                    WHERE tenant_id = \(tenant.uuid) AND key_id IN (
                        SELECT key_id FROM doorstep.revoked_attest_keys AS r
                        WHERE tenant_id = \(tenant.uuid) AND revoked_at < \(oldest(now)) AND NOT EXISTS (
                            SELECT FROM doorstep.attest_keys AS k
                            WHERE k.tenant_id = \(tenant.uuid) AND k.key_id = r.key_id)
                        LIMIT \(batch))
                    """
                }, \.revocations
            ),
            (
                { tenant in
                    """
                    DELETE FROM doorstep.attestation_days
                    WHERE tenant_id = \(tenant.uuid) AND (bundle_id, operation, day) IN (
                        SELECT bundle_id, operation, day FROM doorstep.attestation_days
                        WHERE tenant_id = \(tenant.uuid)
                            AND day < (\(now) AT TIME ZONE 'UTC')::date - \(countRetention)::integer
                        ORDER BY day LIMIT \(batch))
                    """
                }, \.counts
            ),
        ]
    }
}
