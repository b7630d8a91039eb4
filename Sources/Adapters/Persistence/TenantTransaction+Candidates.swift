import APNsPayload
import Foundation
import Invocation
import Notifications
import PostgreSQL
import Tenancy

/// How much of an audience is taken in at once [ours].
///
/// Bounds what one transaction writes, what it reads to find that, and what a server holds of it.
public struct AudiencePartSize: Sendable {
    /// The instances that the notification is sent to, at most.
    public var reachable = 10_000
    /// The launches that are looked at to find them, at most, or a little more.
    public var launches = 50_000
    /// How many of those who are skipped have a delivery of their own, at most, which tells why; of the first part alone,
    /// and the others are counted by the reason.
    public var skipped = 1_000

    public init() {}
}

/// A launch of an audience, as a place in the order in which it is gone through.
struct AudiencePlace: Sendable, Hashable {
    let launchedAt: Date
    let url: String
    let instance: UUID
}

/// Those of an audience whom some of its launches are of.
struct AudienceCandidates: Sendable {
    var members: [Candidate]
    /// How many of the members are reached.
    let reachable: Int
    /// Those who are not reached and not among the members: one for all who are so, and how many they are.
    let others: [(candidate: Candidate, count: Int)]
    /// The last launch that was looked at; nil when none was left.
    let last: AudiencePlace?
    /// Whether there are more behind it.
    let hasMore: Bool
}

extension TenantTransaction {
    /// What the planner believes of launches and instances is wrong while they are new, and where most tenants have few:
    /// that all of them are found as fast as one. Each statement is written for its index, and goes through it in order.
    func followIndexes() async throws {
        try await execute(
            """
            SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
                set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)
            """)
    }

    /// Those a notification is for, by the next launches of its audience.
    ///
    /// Those that can be reached are told from the others here: they alone are returned one by one. What becomes of each is
    /// decided by ``Distribution`` alone.
    /// - Parameters:
    ///   - place: Behind which to go on; nil for the first.
    ///   - askedAt: By the database's clock: who was launched there since is not meant. Nil for now.
    ///   - limit: How many launches are looked at.
    ///   - skipped: How many of those that cannot be reached are returned one by one, too.
    func candidates(
        for distribution: Distribution, behind place: AudiencePlace?, askedAt: Date?, limit: Int,
        skipped: Int
    ) async throws -> AudienceCandidates {
        let notification = distribution.notification
        let asked = notification.audience
        let isDevice = distribution.receiver == .device
        let start = distribution.audienceStart
        let rows = try await execute(
            """
            WITH scanned AS MATERIALIZED (
                \(launchesOf: distribution, tenant, behind: place, askedAt: askedAt, limit: limit)
            ), last AS (
                SELECT launched_at, url, instance_id, (SELECT count(*) FROM scanned) = \(limit) AS has_more
                FROM scanned s ORDER BY \(backwardsOrderOf: distribution.audience) LIMIT 1
            ), member AS (
                SELECT s.instance_id, s.launched_at AS place_launched_at, s.url AS place_url, i.bundle_id, i.app,
                    i.environment, i.permission, i.launched_at, r.url AS route_url,
                    r.experience_url AS route_experience_url, r.is_there,
                    CASE WHEN r.is_there THEN r.launched_at END AS launched_there_at, r.confirmed_at, t.is_retired,
                    i.launched_at > \(start) AS is_recent, coalesce(r.confirmed_at > \(start), false) AS is_confirmed,
                    coalesce(i.bundle_id = \(notification.clip.text)
                        AND (i.app <> 'clip' OR NOT \(distribution.clipIsMultiBusiness) OR coalesce(r.is_there, false))
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
                    SELECT o.url, o.experience_url, o.is_there, o.launched_at,
                        max(o.confirmed_at) FILTER (WHERE o.is_there) OVER () AS confirmed_at
                    FROM (
                        SELECT url, experience_url, launched_at, confirmed_at,
                            \(unindexedBusiness: notification.business) AS is_there
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
                n.is_retired AS is_retired
            FROM last
            LEFT JOIN numbered n ON true
            LEFT JOIN LATERAL (
                SELECT CASE WHEN n.is_reachable OR n.unreachable <= \(skipped) THEN n.instance_id END AS instance_id
                ) AS single ON true
            GROUP BY last.launched_at, last.url, last.instance_id, last.has_more, single.instance_id, n.bundle_id, n.app,
                n.environment, n.permission, n.is_there, n.is_recent, n.is_confirmed, n.is_retired
            ORDER BY min(n.number)
            """)
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
        return AudienceCandidates(
            members: members, reachable: reachable, others: others,
            last: try rows.first.map { try AudiencePlace(row: $0) },
            hasMore: try rows.first?.decode("has_more") ?? false)
    }

    /// Those among instances that a notification has deliveries for.
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

    /// Those for which something of another business of the clip may still wait at APNs.
    ///
    /// What has no expiration may wait there for 30 days [Apple]; here a day is looked back [ours].
    func instancesOfOtherBusinesses(
        among instances: [UUID], _ distribution: Distribution
    ) async throws -> Set<UUID> {
        let notification = distribution.notification
        guard distribution.clipIsMultiBusiness, distribution.receiver == .device, !instances.isEmpty else {
            return []
        }
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

extension Audience {
    /// Whether it is found among launches, and may be more than one.
    fileprivate var isOfLaunches: Bool {
        switch self {
        case .business, .urlPrefix: true
        case .instance, .activity, .channel: false
        }
    }

    /// What its launches are in the order of, before their instances.
    fileprivate var orderingColumn: String {
        if case .urlPrefix = self { "url" } else { "launched_at" }
    }
}

extension AudiencePlace {
    fileprivate init(row: Row) throws {
        launchedAt = try row.decode("last_launched_at")
        url = try row.decode("last_url")
        instance = try row.decode("last_instance")
    }
}

extension Candidate {
    /// - Parameter instance: Nil for one that stands for others.
    fileprivate init(row: Row, instance: UUID?) throws {
        let bundleID: String = try row.decode("bundle_id")
        let app: String = try row.decode("app")
        let environment: String = try row.decode("environment")
        let permission: String = try row.decode("permission")
        let url: String? = try row.decode("route_url")
        let experienceURL: String? = try row.decode("route_experience_url")
        let isRetired: Bool? = try row.decode("is_retired")
        let launchedAt: Date = try row.decode("launched_at")
        let launchedThereAt: Date? = try row.decode("launched_there_at")
        let confirmedAt: Date? = try row.decode("confirmed_at")
        self = try PersistenceError.reading("instances") {
            guard let app = InstalledApp(rawValue: app),
                let environment = APNsEnvironment(rawValue: environment),
                let permission = NotificationPermission(rawValue: permission)
            else { throw PersistenceError.unreadable("instances") }
            var route: Route?
            if let url, let experienceURL { route = Route(url: url, experienceURL: experienceURL) }
            return Candidate(
                instance: InstanceID(instance ?? UUID()), clip: try BundleID(bundleID), app: app,
                environment: environment, permission: permission, launchedAt: launchedAt,
                launchedAtBusiness: launchedThereAt, route: route, confirmedAt: confirmedAt,
                token: isRetired.map { $0 ? .dead : .good } ?? .none, hasOtherBusiness: false)
        }
    }
}

extension Query.StringInterpolation {
    /// A statement that gives the next launches of an audience, in their order; one for each kind, so that each goes through
    /// its index.
    fileprivate mutating func appendInterpolation(
        launchesOf distribution: Distribution, _ tenant: TenantID, behind place: AudiencePlace?,
        askedAt: Date?, limit: Int
    ) {
        switch distribution.audience {
        case .instance(let id), .activity(let id, _):
            appendLiteral("SELECT ")
            appendInterpolation(id.uuid)
            appendLiteral(" AS instance_id, now() AS launched_at, '' AS url, true AS is_meant")
        case .business:
            appendLaunches(tenant, distribution.audience, askedAt)
            appendLiteral(" AND s.launched_at > ")
            appendInterpolation(distribution.audienceStart)
            appendLiteral(" AND ")
            appendInterpolation(business: distribution.notification.business)
            if let place {
                appendLiteral(" AND (s.launched_at, s.instance_id) > (")
                appendInterpolation(place.launchedAt)
                appendLiteral(", ")
                appendInterpolation(place.instance)
                appendLiteral(")")
            }
            appendEnd(distribution.audience, limit)
        case .urlPrefix(let prefix):
            // What the index does not tell is told of each launch that is looked at, so that these are bounded.
            appendLiteral("SELECT s.instance_id, s.launched_at, s.url, true")
            appendInterpolation(queryItems: prefix, of: "s.url")
            appendLiteral(" AS is_meant FROM (")
            for (index, range) in URLRange.ranges(of: prefix).enumerated() {
                appendLiteral(index > 0 ? " UNION ALL (" : "(")
                appendLaunches(tenant, distribution.audience, askedAt)
                appendLiteral(" AND ")
                appendInterpolation(range: range, of: "s.url")
                if let place {
                    appendLiteral(" AND (s.url, s.instance_id) > (")
                    appendInterpolation(place.url)
                    appendLiteral(", ")
                    appendInterpolation(place.instance)
                    appendLiteral(")")
                }
                appendEnd(distribution.audience, limit)
                appendLiteral(")")
            }
            appendLiteral(") AS s")
            appendEnd(distribution.audience, limit)
        case .channel:
            // Nobody knows who follows one.
            appendLiteral(
                "SELECT NULL::uuid AS instance_id, now() AS launched_at, '' AS url, true AS is_meant WHERE false"
            )
        }
    }

    /// The beginning of a statement that gives launches.
    private mutating func appendLaunches(_ tenant: TenantID, _ audience: Audience, _ askedAt: Date?) {
        appendLiteral(
            "SELECT s.instance_id, s.launched_at, s.url, true AS is_meant FROM doorstep.launches s WHERE s.tenant_id = "
        )
        appendInterpolation(tenant.uuid)
        appendLiteral(" AND ")
        appendInterpolation(meant: audience, askedAt: askedAt)
    }

    private mutating func appendEnd(_ audience: Audience, _ limit: Int) {
        appendLiteral(" ORDER BY s.\(audience.orderingColumn), s.instance_id LIMIT ")
        appendInterpolation(limit)
    }

    /// Whether a launch is one that a notification means which was asked for at a time; nil for now.
    ///
    /// At a business is who was launched there within some hours; by a URL, whoever ever was.
    fileprivate mutating func appendInterpolation(meant audience: Audience, askedAt: Date?) {
        if case .urlPrefix = audience {
            appendLiteral("known_since <= coalesce(")
        } else {
            appendLiteral("present_since <= coalesce(")
        }
        appendInterpolation(askedAt)
        appendLiteral(", now())")
    }

    /// Whether a launch `s` is the one of its instance for which that is met: of the launches at a business the latest, of
    /// those that a prefix matches the first.
    fileprivate mutating func appendInterpolation(
        isFirstOf audience: Audience, _ tenant: TenantID, askedAt: Date?
    ) {
        switch audience {
        case .business: appendLiteral("r.url = s.url")
        case .urlPrefix(let prefix):
            appendLiteral(
                "s.url = (SELECT min(o.url) FROM (SELECT url FROM doorstep.launches WHERE tenant_id = ")
            appendInterpolation(tenant.uuid)
            appendLiteral(" AND instance_id = s.instance_id AND ")
            appendInterpolation(meant: audience, askedAt: askedAt)
            appendLiteral(" OFFSET 0) AS o WHERE (")
            for (index, range) in URLRange.ranges(of: prefix).enumerated() {
                if index > 0 { appendLiteral(" OR ") }
                appendInterpolation(range: range, of: "o.url")
            }
            appendLiteral(")")
            appendInterpolation(queryItems: prefix, of: "o.url")
            appendLiteral(")")
        case .instance, .activity, .channel: appendLiteral("true")
        }
    }

    /// The order in which an audience is gone through, which is its index's.
    fileprivate mutating func appendInterpolation(orderOf audience: Audience) {
        appendLiteral("m.place_\(audience.orderingColumn), m.instance_id")
    }

    fileprivate mutating func appendInterpolation(backwardsOrderOf audience: Audience) {
        appendLiteral("s.\(audience.orderingColumn) DESC, s.instance_id DESC")
    }

    /// Whether a launch was at a business.
    fileprivate mutating func appendInterpolation(business: Business) {
        switch business {
        case .location(let identifier):
            appendLiteral("location_identifier = ")
            appendInterpolation(identifier.text)
        case .experience(let url):
            appendLiteral("experience_url = ")
            appendInterpolation(url)
        }
    }

    /// The same, but no index is looked for: an instance has few launches, a business may have all of them, and which is
    /// fewer the planner does not know of a table that is new.
    fileprivate mutating func appendInterpolation(unindexedBusiness business: Business) {
        switch business {
        case .location(let identifier):
            appendLiteral("location_identifier IS NOT DISTINCT FROM ")
            appendInterpolation(identifier.text)
        case .experience(let url):
            appendLiteral("experience_url IS NOT DISTINCT FROM ")
            appendInterpolation(url)
        }
    }

    /// Whether a notification `n` is of another one.
    fileprivate mutating func appendInterpolation(otherBusinessThan business: Business) {
        switch business {
        case .location(let identifier):
            appendLiteral("n.location_identifier IS DISTINCT FROM ")
            appendInterpolation(identifier.text)
        case .experience(let url):
            appendLiteral("(n.location_identifier IS NOT NULL OR n.experience_url <> ")
            appendInterpolation(url)
            appendLiteral(")")
        }
    }

    fileprivate mutating func appendInterpolation(range: URLRange, of column: String) {
        appendLiteral("(\(column) >= ")
        appendInterpolation(range.first)
        if let end = range.end {
            appendLiteral(" AND \(column) < ")
            appendInterpolation(end)
        } else {
            appendLiteral(" AND \(column) <= ")
            appendInterpolation(range.first)
        }
        appendLiteral(")")
    }

    /// And whether a prefix's query items are among a URL's.
    fileprivate mutating func appendInterpolation(queryItems prefix: URLPrefix, of column: String) {
        guard !prefix.queryItems.isEmpty else { return }
        appendLiteral(
            """
             AND strpos(\(column), '?') > 0
            AND string_to_array(substr(\(column), strpos(\(column), '?') + 1), '&') @>
            """)
        appendLiteral(" ")
        appendInterpolation(prefix.queryItems.map(\.text))
    }
}

/// URLs from a first up to an end; only the first where there is no end.
private struct URLRange {
    let first: String
    let end: String?

    /// Those that a prefix matches, but for its query items, as ``URLPrefix/matches(_:)`` says: host and path are followed by
    /// nothing, a slash or the query. In their order.
    static func ranges(of prefix: URLPrefix) -> [URLRange] {
        let path = (["https://" + prefix.host] + prefix.pathComponents).joined(separator: "/")
        // The character after each of the two ends its range.
        return [
            URLRange(first: path, end: nil), URLRange(first: path + "/", end: path + "0"),
            URLRange(first: path + "?", end: path + "@"),
        ]
    }
}
