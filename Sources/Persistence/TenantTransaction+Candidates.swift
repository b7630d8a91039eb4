import Foundation
import Invocation
import Notifications
import PostgreSQL
import Tenancy

extension TenantTransaction {
    /// Those that a notification is for, by their IDs; one more than may be when there are too many.
    func candidates(for draft: NotificationDraft) async throws -> [Candidate] {
        let receiver = draft.router.receiver
        let limit = NotificationDraft.maximumAudience + 1
        let rows = try await execute(
            """
            SELECT i.instance_id, i.bundle_id, i.app, i.environment, i.permission, i.launched_at, b.launched_at,
                b.confirmed_at, t.kind IS NOT NULL, t.retired_at IS NOT NULL
            FROM (\(audienceOf: draft, tenant, limit: limit)) AS a
            JOIN doorstep.instances i ON i.tenant_id = \(tenant.uuid) AND i.instance_id = a.instance_id
            LEFT JOIN LATERAL (
                SELECT max(l.launched_at) AS launched_at, max(l.confirmed_at) AS confirmed_at
                FROM doorstep.launches l
                WHERE l.tenant_id = i.tenant_id AND l.instance_id = i.instance_id AND \(unindexedBusiness: draft.business)
            ) AS b ON true
            LEFT JOIN doorstep.push_tokens t ON t.tenant_id = i.tenant_id AND t.instance_id = i.instance_id
                AND t.kind = \(receiver.kind) AND t.name = \(receiver.name)
            ORDER BY i.instance_id
            """)
        guard rows.count < limit else { return try rows.map { try Candidate(row: $0, others: []) } }
        let others = try await instancesOfOtherBusinesses(
            among: rows.map { try $0.decode(at: 0, as: UUID.self) }, draft)
        return try rows.map { try Candidate(row: $0, others: others) }
    }

    /// Those for which something of another business of the clip may still wait at APNs.
    ///
    /// What has no expiration may wait there for 30 days [Apple]; here a day is looked back [ours].
    private func instancesOfOtherBusinesses(
        among instances: [UUID], _ draft: NotificationDraft
    ) async throws -> Set<UUID> {
        guard draft.clipIsMultiBusiness, draft.router.receiver == .device, !instances.isEmpty else {
            return []
        }
        let since = draft.createdAt.addingTimeInterval(-86_400)
        let rows = try await execute(
            """
            SELECT DISTINCT i.instance_id FROM unnest(\(instances)) AS i (instance_id)
            CROSS JOIN LATERAL (
                -- An instance at a time: of an array behind the tenant the planner may make a filter for all that was sent.
                SELECT created_at, notification_id FROM doorstep.deliveries
                WHERE tenant_id = \(tenant.uuid) AND instance_id = i.instance_id AND created_at >= \(since)
                    AND created_at <= \(draft.createdAt) AND token_kind = 'device'
                    AND state IN ('queued', 'sending', 'delivered', 'uncertain')
                    AND (expires_at IS NULL OR expires_at > \(draft.createdAt))
                OFFSET 0) AS d
            CROSS JOIN LATERAL (
                SELECT FROM doorstep.notifications n
                WHERE n.tenant_id = \(tenant.uuid) AND n.notification_id = d.notification_id
                    AND n.created_at = d.created_at AND n.bundle_id = \(draft.clip.text)
                    AND \(otherBusinessThan: draft.business)
                OFFSET 0) AS n
            """)
        return Set(try rows.map { try $0.decode(at: 0, as: UUID.self) })
    }
}

extension Candidate {
    fileprivate init(row: Row, others: Set<UUID>) throws {
        let (
            id, bundleID, app, environment, permission, launchedAt, launchedAtBusiness, confirmedAt, hasToken,
            isRetired
        ) = try row.decode(
            UUID.self, String.self, String.self, String.self, String.self, Date.self, Date?.self, Date?.self,
            Bool.self, Bool.self)
        self = try PersistenceError.reading("instances") {
            guard let app = InstalledApp(rawValue: app),
                let environment = APNsEnvironment(rawValue: environment),
                let permission = NotificationPermission(rawValue: permission)
            else { throw PersistenceError.unreadable("instances") }
            return Candidate(
                instance: InstanceID(id), clip: try BundleID(bundleID), app: app, environment: environment,
                permission: permission, launchedAt: launchedAt, launchedAtBusiness: launchedAtBusiness,
                confirmedAt: confirmedAt, token: !hasToken ? .none : isRetired ? .dead : .good,
                hasOtherBusiness: others.contains(id))
        }
    }
}

extension Query.StringInterpolation {
    /// A statement that gives the instances of an audience; one for each kind, so that each finds its index.
    fileprivate mutating func appendInterpolation(
        audienceOf draft: NotificationDraft, _ tenant: TenantID, limit: Int
    ) {
        switch draft.audience {
        case .instance(let id), .activity(let id, _):
            appendLiteral("SELECT ")
            appendInterpolation(id.uuid)
            appendLiteral(" AS instance_id")
        case .business:
            // Other clips may serve the same location.
            appendLiteral(
                """
                SELECT DISTINCT l.instance_id FROM doorstep.launches l
                JOIN doorstep.instances i ON i.tenant_id = l.tenant_id AND i.instance_id = l.instance_id
                WHERE l.launched_at >
                """)
            appendLiteral(" ")
            appendInterpolation(draft.audienceStart)
            appendLiteral(" AND ")
            appendInterpolation(business: draft.business)
            appendCommon(draft, tenant, limit)
        case .urlPrefix(let prefix):
            appendLiteral(
                """
                SELECT DISTINCT l.instance_id FROM doorstep.launches l
                JOIN doorstep.instances i ON i.tenant_id = l.tenant_id AND i.instance_id = l.instance_id
                WHERE
                """)
            appendLiteral(" ")
            appendInterpolation(urlsOf: prefix)
            appendCommon(draft, tenant, limit)
        case .channel:
            // Nobody knows who follows one.
            appendLiteral("SELECT NULL::uuid AS instance_id WHERE false")
        }
    }

    private mutating func appendCommon(_ draft: NotificationDraft, _ tenant: TenantID, _ limit: Int) {
        appendLiteral(" AND l.tenant_id = ")
        appendInterpolation(tenant.uuid)
        appendLiteral(" AND i.bundle_id = ")
        appendInterpolation(draft.clip.text)
        appendLiteral(" LIMIT ")
        appendInterpolation(limit)
    }

    /// Whether a launch `l` was at a business.
    fileprivate mutating func appendInterpolation(business: Business) {
        switch business {
        case .location(let identifier):
            appendLiteral("l.location_identifier = ")
            appendInterpolation(identifier.text)
        case .experience(let url):
            appendLiteral("l.experience_url = ")
            appendInterpolation(url)
        }
    }

    /// The same, but no index is looked for: an instance has few launches, a business may have all of them, and which is
    /// fewer the planner does not know of a table that is new.
    fileprivate mutating func appendInterpolation(unindexedBusiness business: Business) {
        switch business {
        case .location(let identifier):
            appendLiteral("l.location_identifier IS NOT DISTINCT FROM ")
            appendInterpolation(identifier.text)
        case .experience(let url):
            appendLiteral("l.experience_url IS NOT DISTINCT FROM ")
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

    /// Whether the URL of a launch `l` is one that a prefix matches, as ``URLPrefix/matches(_:)`` says: host and path are
    /// followed by nothing, a slash or the query, and the prefix's query items are among the URL's.
    fileprivate mutating func appendInterpolation(urlsOf prefix: URLPrefix) {
        let path = (["https://" + prefix.host] + prefix.pathComponents).joined(separator: "/")
        appendLiteral("(l.url = ")
        appendInterpolation(path)
        // The character after each of the two, so that both are ranges of the index.
        for (first, last) in [("/", "0"), ("?", "@")] {
            appendLiteral(" OR (l.url >= ")
            appendInterpolation(path + first)
            appendLiteral(" AND l.url < ")
            appendInterpolation(path + last)
            appendLiteral(")")
        }
        appendLiteral(")")
        guard !prefix.queryItems.isEmpty else { return }
        appendLiteral(
            """
             AND strpos(l.url, '?') > 0
            AND string_to_array(substr(l.url, strpos(l.url, '?') + 1), '&') @>
            """)
        appendLiteral(" ")
        appendInterpolation(prefix.queryItems.map(\.text))
    }
}
