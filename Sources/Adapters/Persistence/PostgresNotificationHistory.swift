import APNsPayload
import Formats
import Foundation
import Invocation
public import Notifications
public import PostgreSQL
public import Tenancy

/// A tenant's notifications, instances and channels in PostgreSQL. The role is `doorstep_admin`, or `doorstep_manager` for keys. Neither
/// role may read tokens.
public struct PostgresNotificationHistory: NotificationHistory {
    private let pool: ConnectionPool
    private let role: DatabaseRole
    private let mode: TransactionMode

    public init(_ pool: ConnectionPool) {
        self.init(pool, as: .admin, timeout: .seconds(600))
    }

    /// Creates a history for requests, which wait less long than a command. The role is `doorstep_manager`.
    public init(managing pool: ConnectionPool) {
        self.init(pool, as: .manager, timeout: .seconds(30))
    }

    private init(_ pool: ConnectionPool, as role: DatabaseRole, timeout: Duration) {
        self.pool = pool
        self.role = role
        mode = TransactionMode(isReadOnly: true, statementTimeout: timeout)
    }

    public func notifications(
        _ selection: NotificationSelection, of tenant: TenantID, before last: NotificationID?, limit: Int
    ) async throws -> [RecordedNotification] {
        // An ID contains the time of its notification. An ID without a time belongs to no notification.
        let createdAt = last.map { $0.uuid.time ?? .distantPast } ?? .distantFuture
        return try await read(tenant) { transaction in
            try await transaction.execute(
                Self.newest(selection, of: tenant, before: (createdAt, last?.uuid ?? .lowest), limit: limit)
            ).map { row in
                try RecordedNotification(
                    row: row, id: NotificationID(try row.decode("notification_id", as: UUID.self)),
                    createdAt: try row.decode("created_at", as: Date.self))
            }
        }
    }

    private static func newest(
        _ selection: NotificationSelection, of tenant: TenantID, before last: (time: Date, id: UUID),
        limit: Int
    ) -> Query {
        // The row comparison alone would not limit the partitions.
        guard let locations = selection.locations else {
            return """
                SELECT \(unsafeSQL: columns) FROM doorstep.notifications
                WHERE tenant_id = \(tenant.uuid) AND created_at <= \(last.time)
                    AND (created_at, notification_id) < (\(last.time), \(last.id)) AND \(selection)
                ORDER BY created_at DESC, notification_id DESC LIMIT \(limit)
                """
        }
        // Finds the newest notifications of each location with the index, and then the newest of these, because no index sorts
        // several locations together.
        return """
            SELECT n.* FROM unnest(\(locations.map(\.text))::text[]) AS l (identifier) CROSS JOIN LATERAL (
                SELECT \(unsafeSQL: columns) FROM doorstep.notifications
                WHERE tenant_id = \(tenant.uuid) AND created_at <= \(last.time)
                    AND (created_at, notification_id) < (\(last.time), \(last.id)) AND \(selection)
                    AND location_identifier = l.identifier AND (audience ->> 'ofLocation')::boolean
                ORDER BY created_at DESC, notification_id DESC LIMIT \(limit)) AS n
            ORDER BY created_at DESC, notification_id DESC LIMIT \(limit)
            """
    }

    private static let columns = """
        notification_id, created_at, url, experience_url, experience_kind, bundle_id, location_identifier, \
        audience::text AS audience, push_type, priority, collapse_id, expiration, payload, \
        warnings::text AS warnings, cancelled_at
        """

    public func instances(
        _ selection: InstanceSelection, of tenant: TenantID, after last: InstanceID?, limit: Int
    ) async throws -> [InstanceSummary] {
        try await read(tenant) { try await $0.instances(selection, after: last, limit: limit) }
    }

    public func latestInstances(
        _ selection: InstanceSelection, of tenant: TenantID, after last: LaunchLocation?, limit: Int
    ) async throws -> [InstanceSummary] {
        try await read(tenant) { try await $0.latestInstances(selection, after: last, limit: limit) }
    }

    public func channels(
        _ selection: ChannelSelection, of tenant: TenantID, after last: ChannelCursor?, limit: Int
    ) async throws -> [BroadcastChannel] {
        try await read(tenant) { transaction in
            try await transaction.execute(
                """
                SELECT \(unsafeSQL: BroadcastChannel.columns) FROM doorstep.channels
                WHERE tenant_id = \(tenant.uuid) AND (bundle_id, environment, channel_id)
                    > (\(last?.clip.text ?? ""), \(last?.environment.rawValue ?? ""), \(last?.id.text ?? ""))
                    AND \(selection)
                ORDER BY bundle_id, environment, channel_id LIMIT \(limit)
                """
            ).map { try BroadcastChannel(row: $0) }
        }
    }

    private func read<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        func read() async throws -> Result {
            try await pool.withTenantTransaction(tenant, as: role, mode) { try await body($0) }
        }
        // Operators get PostgreSQL's own error.
        return role == .manager ? try await reportingUnavailability(read) : try await read()
    }
}

extension Query.StringInterpolation {
    /// The conditions of a selection.
    fileprivate mutating func appendInterpolation(_ selection: NotificationSelection) {
        // These conditions select the tenant's indexes.
        appendLiteral("push_type <> ''")
        if let clip = selection.clip {
            appendLiteral(" AND bundle_id = ")
            appendInterpolation(clip.text)
        }
        if let location = selection.location {
            appendLiteral(" AND location_identifier = ")
            appendInterpolation(location.text)
        }
    }

    fileprivate mutating func appendInterpolation(_ selection: ChannelSelection) {
        appendLiteral("true")
        if let clip = selection.clip {
            appendLiteral(" AND bundle_id = ")
            appendInterpolation(clip.text)
        }
        if let environment = selection.environment {
            appendLiteral(" AND environment = ")
            appendInterpolation(environment.rawValue)
        }
    }
}
