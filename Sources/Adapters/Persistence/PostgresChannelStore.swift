public import APNsPayload
import Foundation
public import Notifications
public import PostgreSQL
public import Tenancy

/// Stores the owners of channels in PostgreSQL, as `doorstep_app`.
public struct PostgresChannelStore: ChannelStore {
    private let pool: ConnectionPool

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    public func team(of clip: BundleID, of tenant: TenantID) async throws -> (team: TeamID, isOfTest: Bool)? {
        try await transaction(of: tenant, .readOnly) { transaction in
            try await transaction.execute(
                """
                SELECT team_id, is_test FROM doorstep.clips JOIN doorstep.tenants USING (tenant_id)
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
                """
            ).first.map { row in
                let (team, isOfTest) = try row.decode(String.self, Bool.self)
                return (try PersistenceError.reading("clips") { try TeamID(team) }, isOfTest)
            }
        }
    }

    public func checkRoom(
        of clip: BundleID, _ environment: APNsEnvironment, of tenant: TenantID
    ) async throws {
        // The maximum length so far of IDs from APNs. [observed]
        guard let id = ChannelID(Data(count: 16).base64EncodedString()) else { return }
        let trial = BroadcastChannel(
            id: id, clip: clip, environment: environment, storesLastMessage: false, createdAt: Date())
        do {
            try await transaction(of: tenant) { transaction in
                try await transaction.add(trial)
                // Runs the quota check that COMMIT would run.
                try await transaction.execute("SET CONSTRAINTS ALL IMMEDIATE")
                throw TrialEnded()
            }
        } catch is TrialEnded {}
    }

    /// Thrown to roll back a trial.
    private struct TrialEnded: Error {}

    public func add(_ channel: BroadcastChannel, of tenant: TenantID) async throws {
        try await transaction(of: tenant) { try await $0.add(channel) }
    }

    /// All channels, sorted by clip, environment and time of creation.
    public func channels(of tenant: TenantID) async throws -> [BroadcastChannel] {
        try await transaction(of: tenant, .readOnly) { try await $0.channels() }
    }

    public func channel(_ id: ChannelID, of tenant: TenantID) async throws -> BroadcastChannel? {
        try await transaction(of: tenant, .readOnly) { transaction in
            try await transaction.channels().first { $0.id == id }
        }
    }

    public func remove(_ channel: BroadcastChannel, of tenant: TenantID) async throws {
        try await transaction(of: tenant) { transaction in
            _ = try await transaction.execute(
                """
                DELETE FROM doorstep.channels
                WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(channel.clip.text)
                    AND environment = \(channel.environment.rawValue) AND channel_id = \(channel.id.text)
                """)
        }
    }

    private func transaction<Result: Sendable>(
        of tenant: TenantID, _ mode: TransactionMode = .readWrite,
        _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        try await reportingUnavailability {
            try await pool.withTenantTransaction(tenant, as: .app, mode) { try await body($0) }
        }
    }
}

extension TenantTransaction {
    /// A client may repeat the request if the first response was lost.
    fileprivate func add(_ channel: BroadcastChannel) async throws {
        try await execute(
            """
            INSERT INTO doorstep.channels
                (tenant_id, bundle_id, environment, channel_id, stores_last_message, created_at)
            VALUES (\(tenant.uuid), \(channel.clip.text), \(channel.environment.rawValue),
                \(channel.id.text), \(channel.storesLastMessage), \(channel.createdAt))
            ON CONFLICT DO NOTHING
            """)
    }

    fileprivate func channels() async throws -> [BroadcastChannel] {
        try await execute(
            """
            SELECT \(unsafeSQL: BroadcastChannel.columns) FROM doorstep.channels
            WHERE tenant_id = \(tenant.uuid) ORDER BY bundle_id, environment, created_at, channel_id
            """
        ).map { try BroadcastChannel(row: $0) }
    }
}

extension BroadcastChannel {
    static let columns = "channel_id, bundle_id, environment, stores_last_message, created_at"

    /// Reads the columns in ``columns``.
    init(row: Row) throws {
        let (id, clip, environment, storesLastMessage, createdAt) = try row.decode(
            String.self, String.self, String.self, Bool.self, Date.self)
        self = try PersistenceError.reading("channels") {
            guard let id = ChannelID(id), let environment = APNsEnvironment(rawValue: environment) else {
                throw PersistenceError.unreadable("channels")
            }
            return BroadcastChannel(
                id: id, clip: try BundleID(clip), environment: environment,
                storesLastMessage: storesLastMessage, createdAt: createdAt)
        }
    }
}
