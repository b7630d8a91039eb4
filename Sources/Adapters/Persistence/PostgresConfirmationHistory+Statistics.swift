public import Confirmations
import PostgreSQL
public import Tenancy

extension PostgresConfirmationHistory {
    public func statistics(
        _ selection: ConfirmationSelection, by grouping: StatisticsGrouping, of tenant: TenantID,
        _ order: StatisticsOrder, limit: Int
    ) async throws -> [Statistics] {
        let expressions = grouping.expressions
        let (hasConfirmations, hasDeliveries) = (grouping.hasConfirmations, grouping.hasDeliveries)
        let (start, end) = (selection.start, selection.end)
        let rows = try await transaction(of: tenant) { transaction in
            // Deliveries have the partition of their notification.
            try await transaction.execute(
                """
                WITH launched AS (
                    SELECT \(constant: expressions.launch) AS k, sum(lookups) AS lookups, sum(launch_reports) AS reports
                    FROM doorstep.launch_days
                    WHERE tenant_id = \(tenant.uuid) AND day >= (\(start) AT TIME ZONE 'UTC')::date
                        AND day < (\(end) AT TIME ZONE 'UTC')::date AND \(selection)
                    GROUP BY k
                ), confirmed AS (
                    SELECT \(constant: expressions.confirmation) AS k, count(*) AS confirmations,
                        count(*) FILTER (WHERE outcome = 'inRegion') AS in_region,
                        count(*) FILTER (WHERE outcome = 'notInRegion') AS not_in_region
                    FROM doorstep.confirmations
                    WHERE \(hasConfirmations) AND tenant_id = \(tenant.uuid) AND minute >= \(start) AND minute < \(end)
                        AND \(selection)
                    GROUP BY k
                ), delivered AS (
                    SELECT \(constant: expressions.notification) AS k, count(*) AS deliveries
                    FROM doorstep.deliveries AS d
                        JOIN doorstep.notifications AS n USING (tenant_id, created_at, notification_id)
                    WHERE \(hasDeliveries) AND tenant_id = \(tenant.uuid) AND created_at >= \(start) AND created_at < \(end)
                        AND d.state = 'delivered' AND \(selection)
                    GROUP BY k
                ), grouped AS (
                    SELECT (\(constant: expressions.name)) COLLATE "C" AS name, coalesce(lookups, 0)::bigint AS lookups,
                        coalesce(confirmations, 0) AS confirmations, coalesce(in_region, 0) AS in_region,
                        coalesce(not_in_region, 0) AS not_in_region, coalesce(reports, 0)::bigint AS reports,
                        coalesce(deliveries, 0) AS deliveries
                    FROM launched FULL JOIN confirmed USING (k) FULL JOIN delivered USING (k)
                )
                SELECT name, lookups, confirmations, in_region, reports, deliveries FROM grouped
                \(order) LIMIT \(limit)
                """
            ).map { try $0.decode(String.self, Int.self, Int.self, Int.self, Int.self, Int.self) }
        }
        return rows.map { group, lookups, confirmations, inRegion, reports, delivered in
            Statistics(
                group: group, lookups: lookups, confirmations: hasConfirmations ? confirmations : nil,
                inRegion: hasConfirmations ? inRegion : nil, launchReports: reports,
                delivered: hasDeliveries ? delivered : nil)
        }
    }
}

extension StatisticsGrouping {
    /// The SQL expressions of the group in each table, which have one type, and of its name.
    fileprivate var expressions:
        (launch: StaticString, confirmation: StaticString, notification: StaticString, name: StaticString)
    {
        switch self {
        case .day:
            // All days of UTC have the same length. `date_trunc` would look up the time zone for each row.
            (
                "day", "(date_bin('1 day', minute, '2000-01-01T00:00Z') AT TIME ZONE 'UTC')::date",
                "(date_bin('1 day', created_at, '2000-01-01T00:00Z') AT TIME ZONE 'UTC')::date",
                "to_char(k, 'YYYY-MM-DD')"
            )
        case .location:
            (
                "location_identifier", "coalesce(location_identifier, '')",
                "coalesce(location_identifier, '')", "k"
            )
        case .source: ("source", "source", "''::text", "k")
        case .experience: ("experience_url", "''::text", "experience_url", "k")
        }
    }

    /// Whether confirmations are counted. They have no experience.
    fileprivate var hasConfirmations: Bool { self != .experience }

    /// Whether deliveries are counted. They have no source.
    fileprivate var hasDeliveries: Bool { self != .source }
}

extension Query.StringInterpolation {
    /// The clauses after `FROM`, up to the order.
    fileprivate mutating func appendInterpolation(_ order: StatisticsOrder) {
        switch order {
        case .group(nil): appendLiteral("ORDER BY name")
        case .group(let last?):
            appendLiteral("WHERE name > ")
            appendInterpolation(last)
            appendLiteral(" ORDER BY name")
        case .busiest: appendLiteral("ORDER BY lookups + confirmations DESC, name")
        case .mostOutsideRegion:
            appendLiteral("WHERE not_in_region > 0 ORDER BY not_in_region DESC, name")
        }
    }
}
