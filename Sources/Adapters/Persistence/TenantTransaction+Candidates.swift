import APNsPayload
import Foundation
import Invocation
import Notifications
import PostgreSQL
import Tenancy

/// The instances of some launches of an audience.
struct AudienceCandidates: Sendable {
    var members: [Candidate]
    /// The number of members that can be reached.
    let reachable: Int
    /// The unreachable instances that are not among the members: one candidate for each kind, with the number of instances.
    let others: [(candidate: Candidate, count: Int)]
    /// The last launch that was read; nil if no launch remained.
    let last: AudiencePosition?
    /// Whether there are launches after `last`.
    let hasMore: Bool
}

extension TenantTransaction {
    /// The planner expects few launches and instances, because its statistics are wrong for new tables and for tenants with many
    /// rows. Each statement is written for one index, and uses the order of this index.
    func followIndexes() async throws {
        try await execute(
            """
            SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
                set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)
            """)
    }

    /// The candidates of a notification, from the next launches of its audience.
    ///
    /// Finds out which instances can be reached, because only these are returned one by one. ``Distribution`` decides about each
    /// candidate.
    /// - Parameters:
    ///   - place: The launch after which to continue; nil for the first.
    ///   - askedAt: The time of the request by the database's clock. Later launches do not count. Nil counts all launches.
    ///   - limit: The maximum number of launches to read.
    ///   - skipped: The maximum number of unreachable instances that are returned one by one.
    func candidates(
        for distribution: Distribution, behind place: AudiencePosition?, askedAt: Date?, limit: Int,
        skipped: Int
    ) async throws -> AudienceCandidates {
        let rows = try await execute(
            """
            WITH scanned AS MATERIALIZED (
                \(launchesOf: distribution, tenant, behind: place, askedAt: askedAt, limit: limit)
            ), last AS (
                SELECT launched_at, url, instance_id, (SELECT count(*) FROM scanned) = \(limit) AS has_more
                FROM scanned s ORDER BY \(backwardsOrderOf: distribution.audience) LIMIT 1
            ), member AS (
                \(Query.members(of: distribution, tenant, askedAt: askedAt))
            ), numbered AS (
                SELECT m.*, row_number() OVER w AS number,
                    count(*) FILTER (WHERE NOT m.is_reachable) OVER w AS unreachable
                FROM member m
                WINDOW w AS (ORDER BY \(orderOf: distribution.audience) ROWS UNBOUNDED PRECEDING)
            )
            SELECT last.launched_at AS last_launched_at, last.url AS last_url, last.instance_id AS last_instance,
                last.has_more AS has_more, count(n.number) AS count, single.instance_id AS instance_id,
                bool_and(n.is_reachable) AS is_reachable, n.bundle_id AS bundle_id, n.app AS app,
                n.environment AS environment, n.permission AS permission, max(n.launched_at) AS launched_at,
                max(n.launched_there_at) AS launched_there_at, max(n.route_url) AS route_url,
                max(n.route_experience_url) AS route_experience_url, max(n.confirmed_at) AS confirmed_at,
                coalesce(bool_and(n.is_of_no_location), false) AS is_of_no_location, n.is_retired AS is_retired
            FROM last
            LEFT JOIN numbered n ON true
            LEFT JOIN LATERAL (
                SELECT CASE WHEN n.is_reachable OR n.unreachable <= \(skipped) THEN n.instance_id END AS instance_id
                ) AS single ON true
            GROUP BY last.launched_at, last.url, last.instance_id, last.has_more, single.instance_id, n.bundle_id, n.app,
                n.environment, n.permission, n.is_there, n.is_recent, n.is_confirmed, n.is_retired
            ORDER BY min(n.number)
            """)
        return try AudienceCandidates(rows)
    }

    /// The given instances that already have a delivery of a notification.
    func instancesDecided(
        among instances: [UUID], of id: NotificationID, _ createdAt: Date
    ) async throws -> Set<UUID> {
        let rows = try await execute(
            """
            SELECT i.instance_id FROM unnest(\(instances)) AS i (instance_id)
            CROSS JOIN LATERAL (
                SELECT FROM doorstep.deliveries
                WHERE tenant_id = \(tenant.uuid) AND instance_id = i.instance_id AND created_at = \(createdAt)
                    AND notification_id = \(id.uuid) AND token_kind <> ''
                LIMIT 1) AS d
            """)
        return Set(try rows.map { try $0.decode(at: 0, as: UUID.self) })
    }

    /// The given instances for which a notification of another business of the clip may still wait at APNs.
    ///
    /// Deliveries without an expiration may wait at APNs for 30 days [Apple]. This searches one day [ours].
    func instancesOfOtherBusinesses(
        among instances: [UUID], _ distribution: Distribution
    ) async throws -> Set<UUID> {
        let notification = distribution.notification
        guard distribution.clipIsMultiBusiness, distribution.receiver == .device, !instances.isEmpty,
            !notification.audience.isOfLocation
        else { return [] }
        let since = notification.createdAt.addingTimeInterval(-86_400)
        let rows = try await execute(
            """
            SELECT DISTINCT i.instance_id FROM unnest(\(instances)) AS i (instance_id)
            CROSS JOIN LATERAL (
                -- An instance at a time: of an array behind the tenant the planner may make a filter for all that was sent.
                SELECT created_at, notification_id FROM doorstep.deliveries
                WHERE tenant_id = \(tenant.uuid) AND instance_id = i.instance_id AND created_at >= \(since)
                    AND created_at <= \(notification.createdAt) AND token_kind = 'device'
                    AND state IN ('queued', 'sending', 'delivered', 'uncertain')
                    AND (expires_at IS NULL OR expires_at > \(notification.createdAt))
                OFFSET 0) AS d
            CROSS JOIN LATERAL (
                SELECT FROM doorstep.notifications n
                WHERE n.tenant_id = \(tenant.uuid) AND n.notification_id = d.notification_id
                    AND n.created_at = d.created_at AND n.bundle_id = \(notification.clip.text)
                    AND \(otherBusinessThan: notification.business)
                OFFSET 0) AS n
            """)
        return Set(try rows.map { try $0.decode(at: 0, as: UUID.self) })
    }
}

extension AudiencePosition {
    fileprivate init(row: Row) throws {
        launchedAt = try row.decode("last_launched_at")
        url = try row.decode("last_url")
        instance = try row.decode("last_instance")
    }
}

extension Candidate {
    /// - Parameter instance: Nil if the candidate represents several instances.
    fileprivate init(row: Row, instance: UUID?) throws {
        let bundleID: String = try row.decode("bundle_id")
        let app: String = try row.decode("app")
        let environment: String = try row.decode("environment")
        let permission: String = try row.decode("permission")
        let url: String? = try row.decode("route_url")
        let experienceURL: String? = try row.decode("route_experience_url")
        let isOfNoLocation: Bool = try row.decode("is_of_no_location")
        let isRetired: Bool? = try row.decode("is_retired")
        let launchedAt: Date = try row.decode("launched_at")
        let launchedThereAt: Date? = try row.decode("launched_there_at")
        let confirmedAt: Date? = try row.decode("confirmed_at")
        self = try PersistenceError.reading("instances") {
            guard let app = InstalledApp(rawValue: app),
                let environment = APNsEnvironment(rawValue: environment),
                let permission = NotificationPermission(rawValue: permission)
            else { throw PersistenceError.unreadable("instances") }
            var launch: URLLaunch?
            if let url, let experienceURL {
                launch = URLLaunch(url: url, experienceURL: experienceURL, isOfNoLocation: isOfNoLocation)
            }
            return Candidate(
                instance: InstanceID(instance ?? UUID()), clip: try BundleID(bundleID), app: app,
                environment: environment, permission: permission, launchedAt: launchedAt,
                launchedAtBusiness: launchedThereAt, launch: launch, confirmedAt: confirmedAt,
                token: isRetired.map { $0 ? .dead : .good } ?? .none, hasOtherBusiness: false)
        }
    }
}

extension AudienceCandidates {
    /// Reads the rows of the statement in ``TenantTransaction/candidates(for:behind:askedAt:limit:skipped:)``.
    fileprivate init(_ rows: QueryResult) throws {
        var members: [Candidate] = []
        var reachable = 0
        var others: [(Candidate, Int)] = []
        for row in rows {
            let count: Int = try row.decode("count")
            guard count > 0 else { continue }
            let instance: UUID? = try row.decode("instance_id")
            let candidate = try Candidate(row: row, instance: instance)
            if instance == nil { others.append((candidate, count)) } else { members.append(candidate) }
            if try row.decode("is_reachable") { reachable += 1 }
        }
        self.init(
            members: members, reachable: reachable, others: others,
            last: try rows.first.map { try AudiencePosition(row: $0) },
            hasMore: try rows.first?.decode("has_more") ?? false)
    }
}

extension Query {
    /// The instances of the launches in `scanned`, each with the launch by which it is reached and whether it can be reached.
    fileprivate static func members(
        of distribution: Distribution, _ tenant: TenantID, askedAt: Date?
    ) -> Query {
        let notification = distribution.notification
        let asked = notification.audience
        let isDevice = distribution.receiver == .device
        let start = distribution.audienceStart
        return """
            SELECT s.instance_id, s.launched_at AS place_launched_at, s.url AS place_url, i.bundle_id, i.app,
                i.environment, i.permission, i.launched_at, r.url AS route_url,
                r.experience_url AS route_experience_url, r.is_of_no_location, r.is_there,
                CASE WHEN r.is_there THEN r.launched_at END AS launched_there_at, r.confirmed_at, t.is_retired,
                i.launched_at > \(start) AS is_recent, coalesce(r.confirmed_at > \(start), false) AS is_confirmed,
                coalesce(i.bundle_id = \(notification.clip.text)
                    AND (i.app <> 'clip' OR NOT \(distribution.clipIsMultiBusiness)
                        OR coalesce(r.is_there OR \(distribution.namesInstance) AND r.is_of_no_location, false))
                    AND (\(asked.environment == nil) OR i.environment = \(asked.environment?.rawValue ?? ""))
                    AND (NOT \(asked.confirmedOnly) OR r.confirmed_at > \(start))
                    AND NOT t.is_retired
                    AND (NOT \(isDevice)
                        OR i.permission = ANY (\(Distribution.reachablePermissions.map(\.rawValue)))
                            AND (i.app <> 'clip' OR i.permission <> 'ephemeral' OR i.launched_at > \(start))),
                    false) AS is_reachable
            FROM scanned s
            -- By what the instance is told from others on its device: its latest launch at the business or, where there
            -- was none, its latest of all.
            LEFT JOIN LATERAL (
                SELECT o.url, o.experience_url, o.is_there, o.launched_at, o.location_identifier IS NULL AS is_of_no_location,
                    max(o.confirmed_at) FILTER (WHERE o.is_there) OVER () AS confirmed_at
                FROM (
                    SELECT url, experience_url, location_identifier, launched_at, confirmed_at,
                        \(at: notification.business, isIndexed: false) AS is_there
                    FROM doorstep.launches
                    WHERE tenant_id = \(tenant.uuid) AND instance_id = s.instance_id AND \(meant: distribution.audience, askedAt: askedAt)
                    OFFSET 0) AS o
                ORDER BY o.is_there DESC, o.launched_at DESC, o.url DESC LIMIT 1) AS r ON true
            CROSS JOIN LATERAL (
                SELECT bundle_id, app, environment, permission, launched_at FROM doorstep.instances
                WHERE tenant_id = \(tenant.uuid) AND instance_id = s.instance_id
                OFFSET 0) AS i
            LEFT JOIN LATERAL (
                SELECT retired_at IS NOT NULL AS is_retired FROM doorstep.push_tokens
                WHERE tenant_id = \(tenant.uuid) AND instance_id = s.instance_id
                    AND kind = \(distribution.receiver.kind) AND name = \(distribution.receiver.name)
                OFFSET 0) AS t ON true
            -- Other clips may serve the same location.
            WHERE s.is_meant AND (i.bundle_id = \(notification.clip.text) OR NOT \(distribution.audience.isOfLaunches))
                AND \(isFirstOf: distribution.audience, tenant, askedAt: askedAt)
                AND (NOT \(asked.isOfLocation) OR coalesce(r.is_there, false))
            """
    }
}
