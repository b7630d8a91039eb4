import Logging
import Persistence
import ServiceLifecycle

/// Deletes expired data, and creates future partitions, while the server runs.
///
/// Its failures do not affect the server: failed work is tried again some minutes later.
struct RetentionService: Service {
    private let subject: String
    private let maintain: @Sendable () async throws -> [(String, Int)]
    private let logger: Logger

    private static let interval = Duration.seconds(600)

    init(_ days: ConfirmationDays, logger: Logger) {
        self.init("days of confirmations", logger) {
            let retention = try await days.maintain()
            return [
                ("dropped", retention.dropped), ("added", retention.added), ("indexed", retention.indexed),
            ]
        }
    }

    init(_ notifications: NotificationRetention, logger: Logger) {
        self.init("instances and notifications", logger) {
            let work = try await notifications.maintain()
            return [
                ("instances_pruned", work.instances), ("activities_pruned", work.activities),
                ("idempotency_keys_pruned", work.idempotencyKeys),
                ("webhook_messages_pruned", work.webhookMessages),
                ("event_recordings_pruned", work.eventRecordings), ("days_dropped", work.droppedDays),
                ("days_added", work.addedDays),
            ]
        }
    }

    init(_ attestation: AttestationRetention, logger: Logger) {
        self.init("keys of App Attest", logger) {
            let work = try await attestation.maintain()
            return [
                ("keys_pruned", work.keys), ("revocations_pruned", work.revocations),
                ("counts_pruned", work.counts),
            ]
        }
    }

    init(_ keys: KeyRetention, logger: Logger) {
        self.init("revoked keys", logger) { [("keys_pruned", try await keys.maintain())] }
    }

    init(_ auditLog: AuditLogRetention, logger: Logger) {
        self.init("old entries of the audit log", logger) {
            [("entries_pruned", try await auditLog.maintain())]
        }
    }

    init(_ launches: LaunchRetention, logger: Logger) {
        self.init("old counts of launches", logger) {
            [("counts_pruned", try await launches.maintain())]
        }
    }

    init(_ requests: RefusedRequestRetention, logger: Logger) {
        self.init("old refused requests", logger) {
            [("requests_pruned", try await requests.maintain())]
        }
    }

    init(_ sessions: PostgresConsoleSessions, retention: Int, logger: Logger) {
        self.init("old events of the console", logger) {
            [("events_pruned", try await sessions.pruneEvents(retention: retention))]
        }
    }

    /// - Parameter maintain: Does the due work, and returns the number of changes by kind.
    private init(
        _ subject: String, _ logger: Logger, maintain: @escaping @Sendable () async throws -> [(String, Int)]
    ) {
        self.subject = subject
        self.maintain = maintain
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await maintainOnce()
                // Delayed randomly, so that servers do not work at the same time.
                try? await Task.sleep(for: Self.interval * Double.random(in: 0.5...1.5))
            }
        }
    }

    private func maintainOnce() async {
        do {
            let work = try await maintain()
            if work.contains(where: { $0.1 > 0 }) {
                logger.info(
                    "\(subject)",
                    metadata: Dictionary(uniqueKeysWithValues: work.map { ($0, "\($1)") }))
            }
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning(
                "\(subject) could not be maintained: trying again", metadata: ["error": "\(error)"])
        }
    }
}
