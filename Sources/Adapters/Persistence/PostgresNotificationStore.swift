import APNsPayload
import Administration
import Formats
import Foundation
public import Notifications
public import PostgreSQL
import Synchronization
public import Tenancy

/// Stores notifications and deliveries in PostgreSQL as `doorstep_app`; `doorstep_router` finds unfinished audiences.
///
/// One transaction stores the notification, the idempotency key and the deliveries of the first part of the audience. One transaction
/// for each further part stores its deliveries and the progress. A repeated request waits for the lock of the first request's key,
/// and gets the same response.
public struct PostgresNotificationStore: NotificationStore {
    private let pool: ConnectionPool
    private let partSize: AudiencePartSize
    /// Whether a cancellation is refused with `ReadOnlyAccess`.
    private let isReadOnly: Bool

    /// The pause after a part that cannot be stored, so that it does not block other audiences of the tenant.
    private static let pause = Duration.seconds(30)
    /// The pause of an audience that has no room: the database makes room once a day. [ours]
    private static let pauseAtQuota = Duration.seconds(900)

    /// - Parameter isReadOnly: Whether a cancellation is refused with `ReadOnlyAccess`.
    public init(
        _ pool: ConnectionPool, partSize: AudiencePartSize = AudiencePartSize(), isReadOnly: Bool = false
    ) {
        self.pool = pool
        self.isReadOnly = isReadOnly
        self.partSize = partSize
    }

    public func add(
        _ distribution: Distribution, for key: IdempotencyKey?, of tenant: TenantID
    ) async throws -> Addition {
        do {
            do {
                return try await addOnce(distribution, for: key, of: tenant)
            } catch let error as PostgreSQLError where error.isOfAnotherPartition {
                // Today's partitions do not exist yet.
                try await pool.withTransaction(as: .router, .readWrite) { transaction in
                    _ = try await transaction.execute("SELECT doorstep.add_notification_days()")
                }
                return try await addOnce(distribution, for: key, of: tenant)
            }
        } catch let refusal as IntakeRefusal {
            // Rolled back with the idempotency key.
            return .refused(refusal)
        } catch let error as PostgreSQLError where error.isNoResponse || error.isForeignKeyViolation() {
            // Alternatively, the tenant and its keys have just been deleted. Then the next request is refused.
            throw StoreUnavailable(error)
        }
    }

    private func addOnce(
        _ distribution: Distribution, for key: IdempotencyKey?, of tenant: TenantID
    ) async throws -> Addition {
        try await pool.withTenantTransaction(tenant, as: .app) { transaction in
            if let key, try await !transaction.take(key, for: distribution.notification.id) {
                // The transaction that took the key has now committed.
                guard let earlier = try await transaction.addition(with: key) else {
                    throw PersistenceError.unreadable("idempotency_keys")
                }
                return earlier
            }
            let (collapsePolicy, isTest) = try await transaction.notificationRules()
            let distribution = try (isTest ? distribution.inSandboxOnly() : distribution)
                .collapsing(under: collapsePolicy)
            let notification = distribution.notification
            let part = try await firstPart(of: distribution, in: transaction)
            try await transaction.insert(notification, skipped: part.skipped)
            try await transaction.insert(part.deliveries, of: notification)
            try await transaction.keepPlace(of: part, of: notification)
            let answered = part.deliveries.prefix(Addition.answeredDeliveries)
            return .added(
                NotificationTrace(
                    notification: notification, counts: part.counts, deliveries: Array(answered),
                    hasMore: answered.count < part.deliveries.count, isComplete: !part.hasMore))
        }
    }

    private func firstPart(
        of distribution: Distribution, in transaction: TenantTransaction
    ) async throws -> DecidedPart {
        guard case .channel(let channel) = distribution.audience else {
            let part = try await transaction.decidePart(of: distribution, partSize)
            guard !distribution.namesInstance || !part.counts.isEmpty else {
                throw IntakeRefusal.unknownInstance
            }
            return part
        }
        let notification = distribution.notification
        let environment = notification.audience.environment ?? .production
        let storesLastMessage = try await transaction.storesLastMessage(
            channel, of: notification.clip, environment)
        guard let storesLastMessage else { throw IntakeRefusal.unknownChannel }
        let hasExpiration = (notification.headers.expiration ?? .immediate) != .immediate
        guard storesLastMessage || !hasExpiration else { throw IntakeRefusal.channelStoresNothing }
        let delivery = RecordedDelivery(
            id: DeliveryID(.timeOrdered(at: notification.createdAt)), instance: nil,
            receiver: distribution.receiver, environment: environment, state: .queued,
            expiresAt: distribution.expiresAt)
        return DecidedPart(deliveries: [delivery])
    }

    // MARK: Further parts

    public func tenantsWithAudiencesToContinue() async throws -> [TenantID] {
        try await reportingUnavailability {
            try await pool.withTransaction(as: .router) { transaction in
                try await transaction.execute(
                    """
                    SELECT DISTINCT c.tenant_id FROM doorstep.audience_cursors c
                    JOIN doorstep.tenants t ON t.tenant_id = c.tenant_id
                    WHERE c.due_at <= now() AND t.suspended_at IS NULL
                    ORDER BY c.tenant_id
                    """
                ).map { TenantID(try $0.decode(at: 0)) }
            }
        }
    }

    public func continueAudience(of tenant: TenantID) async throws -> AudiencePart? {
        let current = Mutex<NotificationID?>(nil)
        do {
            return try await pool.withTenantTransaction(tenant, as: .app) { transaction in
                guard let cursor = try await transaction.lockCursor() else { return nil }
                current.withLock { $0 = cursor.notification }
                return try await transaction.takePart(at: cursor, partSize)
            }
        } catch let error as PostgreSQLError where error.isNoResponse && !error.isSlowStatement {
            throw StoreUnavailable(error)
        } catch {
            // Otherwise this audience would be the first again, and its error would block all others.
            if let notification = current.withLock({ $0 }) {
                try await pool.withTenantTransaction(tenant, as: .app) {
                    try await $0.postpone(
                        notification, by: error is QuotaExceeded ? Self.pauseAtQuota : Self.pause)
                }
            }
            throw error
        }
    }

    // MARK: Cancelling

    public func cancel(
        _ id: NotificationID, of tenant: TenantID, by actor: String
    ) async throws -> Cancellation {
        guard !isReadOnly else { throw ReadOnlyAccess() }
        guard let createdAt = id.uuid.time else { return .unknown }
        return try await reportingUnavailability {
            let outcome = try await pool.withTenantTransaction(tenant, as: .app, actor: actor) {
                try await $0.markCancelled(id, createdAt)
            }
            guard outcome == .cancelled else { return outcome }
            // Servers that lease deliveries from now on see the mark. Those that have locked deliveries already are waited for.
            var last = UUID.timeOrderedRange(at: createdAt).first
            while true {
                let after = last
                let examined = try await pool.withTenantTransaction(tenant, as: .app) {
                    try await $0.endQueued(of: id, createdAt, after: after, limit: Self.cancelledAtOnce)
                }
                guard let end = examined.last, examined.count == Self.cancelledAtOnce else {
                    return .cancelled
                }
                last = end
            }
        }
    }

    /// The number of deliveries that one transaction ends. [ours]
    private static let cancelledAtOnce = 5_000

    public func addition(with key: IdempotencyKey, of tenant: TenantID) async throws -> Addition? {
        try await read(tenant) { try await $0.addition(with: key) }
    }

    public func trace(
        _ id: NotificationID, of tenant: TenantID, after last: DeliveryID?, limit: Int
    ) async throws -> NotificationTrace? {
        try await read(tenant) { try await $0.trace(id, after: last, limit: limit) }
    }

    private func read<Result: Sendable>(
        _ tenant: TenantID, _ body: (TenantTransaction) async throws -> Result
    ) async throws -> Result {
        do {
            return try await pool.withTenantTransaction(tenant, as: .app, .snapshot, body)
        } catch let error as PostgreSQLError where error.isNoResponse {
            throw StoreUnavailable(error)
        }
    }
}

extension TenantTransaction {
    /// Marks a notification as cancelled, unless it was finished before, and takes no further part of its audience.
    fileprivate func markCancelled(_ id: NotificationID, _ createdAt: Date) async throws -> Cancellation {
        // Locks the cursor before the notification, like the transaction that takes a part.
        let hasCursor = try await !execute(
            """
            SELECT FROM doorstep.audience_cursors
            WHERE tenant_id = \(tenant.uuid) AND notification_id = \(id.uuid) FOR UPDATE
            """
        ).isEmpty
        let isCancelled = try await execute(
            """
            SELECT cancelled_at IS NOT NULL FROM doorstep.notifications
            WHERE tenant_id = \(tenant.uuid) AND created_at = \(createdAt) AND notification_id = \(id.uuid)
            FOR NO KEY UPDATE
            """
        ).first.map { try $0.decode(at: 0, as: Bool.self) }
        guard let isCancelled else { return .unknown }
        guard !isCancelled else { return .cancelled }
        let isUnfinished = hasCursor ? true : try await hasUnfinishedDeliveries(of: id, createdAt)
        guard isUnfinished else { return .finished }
        try await execute(
            """
            UPDATE doorstep.notifications SET cancelled_at = now()
            WHERE tenant_id = \(tenant.uuid) AND created_at = \(createdAt) AND notification_id = \(id.uuid)
            """)
        try await dropCursor(of: id)
        try await record(
            .update, "deliveries", before: ["notification": .string(id.description)],
            after: ["state": "cancelled"])
        return .cancelled
    }

    private func hasUnfinishedDeliveries(of id: NotificationID, _ createdAt: Date) async throws -> Bool {
        let (first, end) = UUID.timeOrderedRange(at: createdAt)
        return try await !execute(
            """
            SELECT FROM doorstep.deliveries
            WHERE tenant_id = \(tenant.uuid) AND created_at = \(createdAt) AND notification_id = \(id.uuid)
                AND delivery_id >= \(first) AND delivery_id <= \(end) AND due_at IS NOT NULL
            LIMIT 1
            """
        ).isEmpty
    }

    /// Ends queued deliveries of a cancelled notification, sorted by ID. Waits for servers that lease one, also a delivery whose
    /// lease has ended.
    /// - Returns: The IDs of the examined deliveries.
    fileprivate func endQueued(
        of id: NotificationID, _ createdAt: Date, after last: UUID, limit: Int
    ) async throws -> [UUID] {
        let (_, end) = UUID.timeOrderedRange(at: createdAt)
        let examined = try await execute(
            """
            SELECT delivery_id, state = 'queued' FROM doorstep.deliveries
            WHERE tenant_id = \(tenant.uuid) AND created_at = \(createdAt) AND notification_id = \(id.uuid)
                AND delivery_id > \(last) AND delivery_id <= \(end)
                AND (state = 'queued' OR state = 'sending' AND due_at <= now())
            ORDER BY delivery_id LIMIT \(limit) FOR NO KEY UPDATE
            """
        ).map { try $0.decode(UUID.self, Bool.self) }
        let queued = examined.filter(\.1).map(\.0)
        if !queued.isEmpty { try await self.end(queued, of: [id.uuid], from: (createdAt, createdAt)) }
        return examined.map(\.0)
    }

    /// The tenant's rules for its notifications.
    func notificationRules() async throws -> (collapsePolicy: CollapsePolicy, isTest: Bool) {
        let rows = try await execute(
            "SELECT collapse_policy, is_test FROM doorstep.tenants WHERE tenant_id = \(tenant.uuid)")
        // A deleted tenant is refused.
        guard let row = rows.first else { return (.none, false) }
        let (policy, isTest) = try row.decode(String.self, Bool.self)
        guard let policy = CollapsePolicy(rawValue: policy) else {
            throw PersistenceError.unreadable("tenants")
        }
        return (policy, isTest)
    }

    /// Whether a channel stores its last message; nil for an unknown channel.
    fileprivate func storesLastMessage(
        _ channel: String, of clip: BundleID, _ environment: APNsEnvironment
    ) async throws -> Bool? {
        try await execute(
            """
            SELECT stores_last_message FROM doorstep.channels
            WHERE tenant_id = \(tenant.uuid) AND bundle_id = \(clip.text)
                AND environment = \(environment.rawValue) AND channel_id = \(channel)
            """
        ).first.map { try $0.decode(at: 0) }
    }
}
