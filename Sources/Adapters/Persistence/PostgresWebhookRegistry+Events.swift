import Foundation
public import Notifications
import PostgreSQL
public import Tenancy

/// The recorded events, which are read by snapshots like the log of changes (``IndexFeed``).
extension PostgresWebhookRegistry {
    public func recordEvents(of tenant: TenantID) async throws -> Bool {
        let pause = EventRecording.pause / .seconds(1)
        return try await write(tenant, by: "") { transaction in
            // At most once a minute, because a listener asks more often.
            let isRenewed =
                try await transaction.execute(
                    """
                    INSERT INTO doorstep.event_recordings AS r (tenant_id, ends_at, first_xid)
                    VALUES (\(tenant.uuid), now() + make_interval(secs => \(pause)),
                        pg_snapshot_xmax(pg_current_snapshot()))
                    ON CONFLICT (tenant_id) DO UPDATE SET
                        ends_at = excluded.ends_at,
                        first_xid = CASE WHEN r.ends_at < now() THEN excluded.first_xid ELSE r.first_xid END
                    WHERE r.ends_at < excluded.ends_at - interval '1 minute'
                    """
                ).affectedRows > 0
            if isRenewed {
                try await transaction.execute(
                    """
                    WITH old AS (
                        DELETE FROM doorstep.events
                        WHERE tenant_id = \(tenant.uuid)
                            AND recorded_at < now() - make_interval(
                                secs => \(EventRecording.lifetime / .seconds(1)))
                        RETURNING xid)
                    UPDATE doorstep.event_recordings
                    SET first_xid = greatest(
                        first_xid, (SELECT max(xid::text::bigint) + 1 FROM old)::text::xid8)
                    WHERE tenant_id = \(tenant.uuid) AND EXISTS (SELECT FROM old)
                    """)
            }
            return try await transaction.execute(
                """
                SELECT count(*) >= \(EventRecording.limit) FROM (
                    SELECT FROM doorstep.events WHERE tenant_id = \(tenant.uuid)
                    LIMIT \(EventRecording.limit)) AS e
                """
            ).one().decode(at: 0)
        }
    }

    public func events(of tenant: TenantID, after: EventPosition?, limit: Int) async throws -> EventPage {
        try await read(tenant) { transaction in
            // One statement, so that all events are from its snapshot.
            let rows = try await transaction.execute(
                """
                SELECT s.target::text, pg_snapshot_xmax(s.present)::text::bigint, (
                        SELECT first_xid::text::bigint FROM doorstep.event_recordings
                        WHERE tenant_id = \(tenant.uuid)),
                    e.xid::text::bigint, e.message_id, e.body
                FROM (
                    SELECT present, coalesce(\(after?.part?.snapshot.text)::pg_snapshot, present) AS target,
                        \(after?.seen.text)::pg_snapshot AS seen
                    FROM pg_current_snapshot() AS present) AS s
                LEFT JOIN LATERAL (
                    SELECT xid, message_id, body FROM doorstep.events
                    WHERE tenant_id = \(tenant.uuid) AND xid >= pg_snapshot_xmin(s.seen)
                        AND NOT pg_visible_in_snapshot(xid, s.seen) AND pg_visible_in_snapshot(xid, s.target)
                        AND (xid, message_id) > (
                            \((after?.part?.transaction ?? 0).description)::xid8,
                            \(after?.part?.message ?? Self.firstMessage)::uuid)
                    ORDER BY xid, message_id LIMIT \(limit)) AS e ON true
                ORDER BY e.xid, e.message_id
                """
            ).map { try $0.decode(String.self, Int.self, Int?.self, Int?.self, UUID?.self, [UInt8]?.self) }
            guard let (target, newest, first, _, _, _) = rows.first, let snapshot = EventSnapshot(target)
            else {
                throw PersistenceError.unreadable("events")
            }
            guard let after else {
                return EventPage(bodies: [], next: EventPosition(seen: snapshot), hasMissed: false)
            }
            let events = rows.compactMap { row in
                row.3.flatMap { xid in row.4.flatMap { id in row.5.map { (xid: xid, id: id, body: $0) } } }
            }
            var next = EventPosition(seen: snapshot)
            if let last = events.last, events.count == limit {
                next = EventPosition(
                    seen: after.seen,
                    part: EventPosition.Part(of: snapshot, transaction: last.xid, message: last.id))
            }
            let hasMissed = first.map { after.seen.newest < $0 } ?? true
            return EventPage(
                bodies: events.map(\.body), next: next,
                hasMissed: hasMissed || after.seen.newest > newest)
        }
    }

    private static let firstMessage = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    public func record(_ sample: WebhookMessage, type: String, of tenant: TenantID) async throws -> Bool {
        try await write(tenant, by: "") { transaction in
            try await transaction.execute(
                """
                INSERT INTO doorstep.events (tenant_id, message_id, type, body)
                SELECT tenant_id, \(sample.id), \(type), \(sample.body) FROM doorstep.event_recordings
                WHERE tenant_id = \(tenant.uuid) AND ends_at > now()
                """
            ).affectedRows > 0
        }
    }
}
