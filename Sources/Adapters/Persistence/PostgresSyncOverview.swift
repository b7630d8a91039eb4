public import AppStoreSync
import Foundation
public import PostgreSQL
public import Tenancy

/// The stored state of registrations at App Store Connect, read as `doorstep_admin`. Apple is not called, and no key is decrypted.
public struct PostgresSyncOverview: Sendable {
    private let pool: ConnectionPool

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    /// - Parameter limit: The maximum number of refusals and of runs.
    public func overview(of tenant: TenantID, limit: Int) async throws -> StoredSyncs {
        try await pool.withTenantTransaction(tenant, as: .admin, .snapshot) { transaction in
            StoredSyncs(
                connections: try await transaction.storeConnections(),
                clips: try await transaction.registeredClips(),
                refusals: try await transaction.registrationRefusals(limit),
                runs: try await transaction.registrationRuns(limit))
        }
    }
}

extension TenantTransaction {
    fileprivate func registeredClips() async throws -> [StoredSyncs.OfClip] {
        try await execute(
            """
            SELECT coalesce(e.bundle_id, r.bundle_id), coalesce(registered, 0), coalesce(unanswered, 0),
                coalesce(undesired, 0), coalesce(refused, 0), sent_at
            FROM (
                SELECT bundle_id, count(*) FILTER (WHERE phase = 'created') AS registered,
                    count(*) FILTER (WHERE phase = 'creating') AS unanswered,
                    count(*) FILTER (WHERE phase = 'created' AND undesired_since IS NOT NULL) AS undesired,
                    max(sent_at) AS sent_at
                FROM doorstep.app_store_experiences WHERE tenant_id = \(tenant.uuid) GROUP BY bundle_id
            ) e FULL JOIN (
                SELECT bundle_id, count(*) AS refused
                FROM doorstep.app_store_refusals WHERE tenant_id = \(tenant.uuid) GROUP BY bundle_id
            ) r USING (bundle_id)
            ORDER BY 1
            """
        ).map { row in
            let (clip, registered, unanswered, undesired, refused, sentAt) = try row.decode(
                String.self, Int.self, Int.self, Int.self, Int.self, Date?.self)
            return try PersistenceError.reading("app_store_experiences") {
                StoredSyncs.OfClip(
                    clip: try BundleID(clip), registered: registered, unanswered: unanswered,
                    undesired: undesired, refused: refused, sentAt: sentAt)
            }
        }
    }

    fileprivate func registrationRefusals(_ limit: Int) async throws -> [StoredSyncs.Refusal] {
        try await execute(
            """
            SELECT bundle_id, url, code, source, refused_at FROM doorstep.app_store_refusals
            WHERE tenant_id = \(tenant.uuid) ORDER BY bundle_id, url LIMIT \(limit)
            """
        ).map { row in
            let (clip, url, code, source, refusedAt) = try row.decode(
                String.self, String.self, String.self, String?.self, Date.self)
            return try PersistenceError.reading("app_store_refusals") {
                StoredSyncs.Refusal(
                    clip: try BundleID(clip), url: url, code: code, source: source, refusedAt: refusedAt)
            }
        }
    }

    fileprivate func registrationRuns(_ limit: Int) async throws -> [StoredSyncs.Run] {
        try await execute(
            """
            SELECT bundle_id, actor, started_at, ended_at, outcome FROM doorstep.app_store_runs
            WHERE tenant_id = \(tenant.uuid) ORDER BY started_at DESC, run_id LIMIT \(limit)
            """
        ).map { row in
            let (clip, actor, startedAt, endedAt, outcome) = try row.decode(
                String.self, String.self, Date.self, Date?.self, String?.self)
            return try PersistenceError.reading("app_store_runs") {
                StoredSyncs.Run(
                    clip: try BundleID(clip), actor: actor, startedAt: startedAt, endedAt: endedAt,
                    outcome: outcome)
            }
        }
    }
}
