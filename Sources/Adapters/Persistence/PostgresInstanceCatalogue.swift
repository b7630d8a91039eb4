import APNsPayload
import Foundation
import Invocation
public import Notifications
public import PostgreSQL
public import Tenancy

/// A tenant's instances, for operators. They are read and deleted as `doorstep_admin`, which may not read tokens.
public struct PostgresInstanceCatalogue {
    private let pool: ConnectionPool

    public init(_ pool: ConnectionPool) {
        self.pool = pool
    }

    /// Deletes an instance with its launches and tokens.
    /// - Returns: Whether it existed.
    public func delete(_ id: InstanceID, of tenant: TenantID) async throws -> Bool {
        try await pool.withTenantTransaction(tenant, as: .admin) { try await $0.deleteInstance(id) }
    }
}

extension TenantTransaction {
    /// Sorted by the latest launch, newest first.
    func latestInstances(
        _ selection: InstanceSelection, after last: LaunchLocation?, limit: Int
    ) async throws -> [InstanceSummary] {
        try await execute(
            """
            SELECT \(instancesAt: Date(), selection.locations)
            FROM doorstep.instances AS i
            WHERE i.tenant_id = \(tenant.uuid) AND \(selection, tenant) \(after: last)
            ORDER BY i.launched_at DESC, i.instance_id LIMIT \(limit)
            """
        ).map { try InstanceSummary(row: $0) }
    }

    /// Sorted by ID.
    func instances(
        _ selection: InstanceSelection, after last: InstanceID?, limit: Int
    ) async throws -> [InstanceSummary] {
        try await execute(
            """
            SELECT \(instancesAt: Date(), selection.locations)
            FROM doorstep.instances AS i
            WHERE i.tenant_id = \(tenant.uuid) AND \(selection, tenant) \(after: last)
            ORDER BY i.instance_id LIMIT \(limit)
            """
        ).map { try InstanceSummary(row: $0) }
    }
}

extension InstanceSummary {
    fileprivate init(row: Row) throws {
        let (id, clip, app, environment, permission, launchedAt, launches, hasToken, activities) =
            try row.decode(
                UUID.self, String.self, String.self, String.self, String.self, Date.self, Int.self,
                Bool.self, Int.self)
        self = try PersistenceError.reading("instances") {
            guard let app = InstalledApp(rawValue: app),
                let environment = APNsEnvironment(rawValue: environment),
                let permission = NotificationPermission(rawValue: permission)
            else { throw PersistenceError.unreadable("instances") }
            return InstanceSummary(
                id: InstanceID(id), clip: try BundleID(clip), app: app, environment: environment,
                permission: permission, launchedAt: launchedAt, launchCount: launches, hasToken: hasToken,
                activityCount: activities)
        }
    }
}

extension Query.StringInterpolation {
    /// The columns of the summary of an instance `i`, for launches at these locations; nil for all locations.
    fileprivate mutating func appendInterpolation(
        instancesAt now: Date, _ locations: Set<LocationIdentifier>?
    ) {
        appendLiteral("i.instance_id, i.bundle_id, i.app, i.environment, i.permission, ")
        if locations == nil {
            appendLiteral("i.launched_at, ")
        } else {
            appendLaunches("max(launched_at)", within: locations)
            appendLiteral(" AS launched_at, ")
        }
        appendLaunches("count(*)", within: locations)
        appendLiteral(
            """
            ,
                EXISTS (SELECT FROM doorstep.push_tokens AS t
                    WHERE t.tenant_id = i.tenant_id AND t.instance_id = i.instance_id AND t.kind = 'device'
                        AND t.retired_at IS NULL),
                (SELECT count(*) FROM doorstep.push_tokens AS t
                    WHERE t.tenant_id = i.tenant_id AND t.instance_id = i.instance_id AND t.kind = 'activity'
                        AND t.retired_at IS NULL AND t.registered_at >
            """)
        appendLiteral(" ")
        appendInterpolation(now.addingTimeInterval(-Instance.activityLifetime))
        // The location of an activity is unknown.
        appendLiteral(" AND ")
        appendInterpolation(locations == nil)
        appendLiteral(")")
    }

    /// An aggregate of an instance's launches.
    private mutating func appendLaunches(_ aggregate: String, within locations: Set<LocationIdentifier>?) {
        appendLiteral(
            """
            (SELECT \(aggregate) FROM doorstep.launches AS l
                    WHERE l.tenant_id = i.tenant_id AND l.instance_id = i.instance_id
            """)
        appendPlace(within: locations)
        appendLiteral(")")
    }

    private mutating func appendPlace(within locations: Set<LocationIdentifier>?) {
        guard let locations else { return }
        appendLiteral(" AND location_identifier = ANY (")
        appendInterpolation(locations.map(\.text))
        appendLiteral(")")
    }

    /// The conditions of a selection. Each combination has its own text, so that the planner can use its index.
    fileprivate mutating func appendInterpolation(_ selection: InstanceSelection, _ tenant: TenantID) {
        // This condition selects the index of launches, as in `NotificationRetention`.
        appendLiteral("i.launched_at >= '-infinity'")
        if let clip = selection.clip {
            appendLiteral(" AND i.bundle_id = ")
            appendInterpolation(clip.text)
        }
        if let location = selection.location {
            appendLaunch(of: tenant)
            appendLiteral("location_identifier = ")
            appendInterpolation(location.text)
            appendPlace(within: selection.locations)
            appendLiteral(")")
        } else if selection.locations != nil {
            appendLaunch(of: tenant)
            appendLiteral("true")
            appendPlace(within: selection.locations)
            appendLiteral(")")
        }
        if let url = selection.url?.canonicalWithoutFragment {
            appendLaunch(of: tenant)
            appendLiteral("(url = ")
            appendInterpolation(url)
            // URLs that continue with one of these characters sort before texts that begin with the next character: '/' and '0',
            // '?' and '@', '&' and "'".
            for (first, next) in [("/", "0"), ("?", "@"), ("&", "'")] {
                appendLiteral(" OR url >= ")
                appendInterpolation(url + first)
                appendLiteral(" AND url < ")
                appendInterpolation(url + next)
            }
            appendLiteral(")")
            appendPlace(within: selection.locations)
            appendLiteral(")")
        }
    }

    fileprivate mutating func appendInterpolation(after last: InstanceID?) {
        guard let last else { return }
        appendLiteral("AND i.instance_id > ")
        appendInterpolation(last.uuid)
    }

    fileprivate mutating func appendInterpolation(after last: LaunchLocation?) {
        guard let last else { return }
        appendLiteral("AND i.launched_at <= ")
        appendInterpolation(last.launchedAt)
        appendLiteral(" AND (i.launched_at < ")
        appendInterpolation(last.launchedAt)
        appendLiteral(" OR i.instance_id > ")
        appendInterpolation(last.id.uuid)
        appendLiteral(")")
    }

    private mutating func appendLaunch(of tenant: TenantID) {
        appendLiteral(" AND i.instance_id IN (SELECT instance_id FROM doorstep.launches WHERE tenant_id = ")
        appendInterpolation(tenant.uuid)
        appendLiteral(" AND ")
    }
}
