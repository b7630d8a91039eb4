public import AppStoreSync
import Crypto
import Formats
public import Foundation
import Notifications
public import PostgreSQL
public import Tenancy

/// The checks of App Store Connect in PostgreSQL: the due ones, and their last results.
public struct PostgresSyncChecks: Sendable {
    private let pool: ConnectionPool
    private let role: DatabaseRole

    /// Creates the checks for a command. The role is `doorstep_admin`.
    public init(_ pool: ConnectionPool) {
        self.init(pool, as: .admin)
    }

    /// Creates the checks for a server. The role is `doorstep_app`. Due connections are found with the role `doorstep_router`.
    public init(serving pool: ConnectionPool) {
        self.init(pool, as: .app)
    }

    /// Creates the checks for requests, which only read. The role is `doorstep_manager`.
    public init(managing pool: ConnectionPool) {
        self.init(pool, as: .manager)
    }

    private init(_ pool: ConnectionPool, as role: DatabaseRole) {
        self.pool = pool
        self.role = role
    }

    // MARK: Due checks

    /// Connected clips whose last check is old enough, including those of suspended tenants.
    public func due(limit: Int) async throws -> [(tenant: TenantID, clip: BundleID)] {
        try await pool.withTransaction(as: .router) { transaction in
            try await transaction.execute(
                """
                SELECT c.tenant_id, c.bundle_id FROM doorstep.app_store_connections c
                LEFT JOIN doorstep.app_store_checks s USING (tenant_id, bundle_id)
                WHERE s.due_at IS NULL OR s.due_at <= now()
                ORDER BY s.due_at NULLS FIRST LIMIT \(limit)
                """
            ).map { row in
                let (tenant, clip) = try row.decode(UUID.self, String.self)
                return (TenantID(tenant), try Self.clip(clip))
            }
        }
    }

    /// Claims a due check, so that no other server makes it. The lease limits the claim, in case this server ends.
    /// - Returns: False if another server was quicker.
    public func claim(_ clip: BundleID, of tenant: TenantID, for lease: Duration) async throws -> Bool {
        try await write(tenant) { transaction in
            try await transaction.execute(
                """
                INSERT INTO doorstep.app_store_checks (tenant_id, bundle_id, due_at)
                SELECT tenant_id, bundle_id, now() + make_interval(secs => \(lease / .seconds(1)))
                FROM doorstep.app_store_connections
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
                ON CONFLICT (tenant_id, bundle_id) DO UPDATE SET due_at = excluded.due_at
                WHERE app_store_checks.due_at <= now()
                """
            ).affectedRows == 1
        }
    }

    /// Releases the claim of a failed check, which is repeated after a pause. The previous result remains.
    /// - Parameter failure: The reason of the failed check; nil if nothing failed.
    public func putOff(
        _ clip: BundleID, of tenant: TenantID, for failure: String?, again pause: Duration
    ) async throws {
        try await write(tenant) { transaction in
            _ = try await transaction.execute(
                """
                UPDATE doorstep.app_store_checks
                SET failure = coalesce(\(failure.map { String($0.prefix(128)) }), failure),
                    due_at = now() + make_interval(secs => \(pause / .seconds(1)))
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
                """)
        }
    }

    // MARK: Results

    /// Replaces the previous result, unless the previous one is newer. Creates webhook messages if the state changed.
    /// - Parameter pause: The time until the next check; nil if another run decides it.
    /// - Returns: Whether the state changed.
    @discardableResult
    public func record(
        _ check: SyncCheck, of tenant: TenantID, again pause: Duration? = nil
    ) async throws -> Bool {
        let summary = JSONValue.object(check.summary).text
        let counts = JSONValue(check.counts).text
        let findings = JSONValue.array(check.findings).serialized()
        let digest = Array(SHA256.hash(data: findings))
        return try await write(tenant) { transaction in
            try await transaction.limitLockWaits()
            let row = try await transaction.execute(
                """
                SELECT findings_digest FROM doorstep.app_store_checks
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(check.clip.text) FOR UPDATE
                """
            ).first
            let before = try row.flatMap { try $0.decode(at: 0, as: [UInt8]?.self) }
            let isAnother = before.map { $0 != digest } ?? !check.findings.isEmpty
            let isWanted =
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.app_store_checks
                        (tenant_id, bundle_id, due_at, checked_at, counts, summary, findings_digest)
                    SELECT tenant_id, bundle_id,
                        now() + coalesce(make_interval(secs => \(pause.map { $0 / .seconds(1) })), '0'),
                        \(check.checkedAt)::timestamptz, \(counts)::jsonb, \(summary)::jsonb, \(digest)::bytea
                    FROM doorstep.app_store_connections
                    WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(check.clip.text)
                    ON CONFLICT (tenant_id, bundle_id) DO UPDATE
                    SET due_at = CASE WHEN \(pause == nil)::boolean THEN app_store_checks.due_at ELSE excluded.due_at END,
                        checked_at = excluded.checked_at, counts = excluded.counts, summary = excluded.summary,
                        findings_digest = excluded.findings_digest, failure = NULL
                    WHERE app_store_checks.checked_at IS NULL OR app_store_checks.checked_at <= excluded.checked_at
                    """
                ).affectedRows == 1
            // If the clip was disconnected or checked again meanwhile, the result is discarded.
            guard isWanted else { return false }
            try await replaceRows(of: check, tenant, transaction)
            guard isAnother else { return false }
            try await transaction.tell(
                .appStoreDrift,
                [WebhookMessage(WebhookEvent.appStoreDrift.rawValue, check.message, at: check.checkedAt)])
            return true
        }
    }

    private func replaceRows(
        of check: SyncCheck, _ tenant: TenantID, _ transaction: TenantTransaction
    ) async throws {
        try await transaction.execute(
            """
            DELETE FROM doorstep.app_store_check_rows
            WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(check.clip.text)
            """)
        for start in stride(from: 0, to: check.rows.count, by: Self.rowsAtOnce) {
            let part = check.rows[start..<min(start + Self.rowsAtOnce, check.rows.count)]
            // An empty text means no location, because no identifier is empty.
            try await transaction.execute(
                """
                INSERT INTO doorstep.app_store_check_rows
                    (tenant_id, bundle_id, url, location_identifier, row_json)
                SELECT \(tenant.uuid)::uuid, \(check.clip.text)::text, url, nullif(location, ''), row_json::jsonb
                FROM unnest(\(part.map(\.url)), \(part.map { $0.location ?? "" }),
                    \(part.map { JSONValue.object($0.json).text })) AS r (url, location, row_json)
                """)
        }
    }

    /// The number of rows that one statement writes. [ours]
    private static let rowsAtOnce = 500

    // MARK: Metrics

    /// The measured values of a connected clip.
    public struct Metrics: Sendable {
        public let tenant: TenantID
        public let clip: BundleID
        public let checkedAt: Date?
        public let counts: [String: Int]
        public let failure: String?
    }

    /// The metrics of up to `limit` checked clips. All servers return the same clips.
    public func metrics(limit: Int) async throws -> [Metrics] {
        try await pool.withTransaction(as: .router) { transaction in
            try await transaction.execute(
                """
                SELECT tenant_id, bundle_id, checked_at, counts, failure FROM doorstep.app_store_checks
                ORDER BY tenant_id, bundle_id LIMIT \(limit)
                """
            ).map { row in
                let (tenant, clip, checkedAt, counts, failure) = try row.decode(
                    UUID.self, String.self, Date?.self, JSONText?.self, String?.self)
                let members = try counts.map { try Self.object($0) } ?? [:]
                return Metrics(
                    tenant: TenantID(tenant), clip: try Self.clip(clip), checkedAt: checkedAt,
                    counts: members.reduce(into: [:]) { $0[$1.key] = $1.value.numberValue?.int },
                    failure: failure)
            }
        }
    }

    private func write<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        try await pool.withTenantTransaction(tenant, as: role, .readWrite, body)
    }

    private static func clip(_ text: String) throws -> BundleID {
        try PersistenceError.reading("app_store_checks") { try BundleID(text) }
    }

    private static func object(_ json: JSONText) throws -> JSONObject {
        try PersistenceError.reading("app_store_checks") {
            guard let members = try JSONValue(parsing: json.text.utf8).objectValue else {
                throw PersistenceError.unreadable("app_store_checks")
            }
            return members
        }
    }
}

/// Throws `StoreUnavailable` if the database does not respond.
extension PostgresSyncChecks: LatestChecks {
    public func latest(
        of tenant: TenantID, clip: BundleID?, summarized: Bool
    ) async throws -> [LatestCheck] {
        try await read(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT c.bundle_id, s.checked_at, CASE WHEN \(summarized)::boolean THEN s.summary END, s.failure
                FROM doorstep.app_store_connections c
                LEFT JOIN doorstep.app_store_checks s USING (tenant_id, bundle_id)
                WHERE c.tenant_id = \(tenant.uuid)
                    AND (\(clip == nil)::boolean OR c.bundle_id = \(clip?.text ?? ""))
                ORDER BY c.bundle_id
                """
            ).map { row in
                let (clip, checkedAt, summary, failure) = try row.decode(
                    String.self, Date?.self, JSONText?.self, String?.self)
                return LatestCheck(
                    clip: try Self.clip(clip), checkedAt: checkedAt, summary: try summary.map(Self.object),
                    failure: failure)
            }
        }
    }

    public func rows(
        of clip: BundleID, of tenant: TenantID, within locations: [String]?, after url: String?, limit: Int
    ) async throws -> [SyncCheck.Row] {
        try await read(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT url, location_identifier, row_json FROM doorstep.app_store_check_rows
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text) AND url > \(url ?? "")
                    AND (\(locations == nil)::boolean OR location_identifier = ANY (\(locations ?? [])::text[]))
                ORDER BY url LIMIT \(limit)
                """
            ).map { row in
                let (url, location, json) = try row.decode(String.self, String?.self, JSONText.self)
                return SyncCheck.Row(url: url, location: location, json: try Self.object(json))
            }
        }
    }

    private func read<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        do {
            return try await pool.withTenantTransaction(tenant, as: role, .readOnly, body)
        } catch let error as PostgreSQLError where role == .manager && error.isNoResponse {
            throw StoreUnavailable(error)
        }
    }
}
