import Foundation
import Invocation
import Notifications
import PostgreSQL
import Tenancy

extension Audience {
    /// Whether launches determine the audience, so that it may have many instances.
    var isOfLaunches: Bool {
        switch self {
        case .business, .urlPrefix: true
        case .instance, .activity, .channel: false
        }
    }

    /// The column by which its launches are sorted, before the instance.
    var orderingColumn: String {
        if case .urlPrefix = self { "url" } else { "launched_at" }
    }
}

extension Query.StringInterpolation {
    /// A statement that returns the next launches of an audience in their order. Each kind of audience has its own statement, which
    /// uses its own index.
    mutating func appendInterpolation(
        launchesOf distribution: Distribution, _ tenant: TenantID, behind place: AudiencePosition?,
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
            appendInterpolation(at: distribution.notification.business, isIndexed: true)
            if let place {
                appendLiteral(" AND (s.launched_at, s.instance_id) > (")
                appendInterpolation(place.launchedAt)
                appendLiteral(", ")
                appendInterpolation(place.instance)
                appendLiteral(")")
            }
            appendEnd(distribution.audience, limit)
        case .urlPrefix(let prefix):
            // Conditions that the index does not cover are checked for each launch that is read, so the number of launches is
            // limited.
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
            // The subscribers of a channel are unknown.
            appendLiteral(
                "SELECT NULL::uuid AS instance_id, now() AS launched_at, '' AS url, true AS is_meant WHERE false"
            )
        }
    }

    /// The beginning of a statement that returns launches.
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

    /// The condition that a notification concerns a launch. If `askedAt` is nil, it concerns every launch.
    ///
    /// A notification to the visitors of a business concerns instances that were launched there in the last hours. A notification
    /// to a URL concerns every earlier launch.
    mutating func appendInterpolation(meant audience: Audience, askedAt: Date?) {
        guard let askedAt else { return appendLiteral("true") }
        if case .urlPrefix = audience {
            appendLiteral("known_since <= ")
        } else {
            appendLiteral("present_since <= ")
        }
        appendInterpolation(askedAt)
    }

    /// The condition that a launch `s` represents its instance: it is the latest launch at a business, or the first launch that
    /// matches a prefix.
    mutating func appendInterpolation(
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

    /// The order in which an audience is processed. It is the order of the audience's index.
    mutating func appendInterpolation(orderOf audience: Audience) {
        appendLiteral("m.place_\(audience.orderingColumn), m.instance_id")
    }

    mutating func appendInterpolation(backwardsOrderOf audience: Audience) {
        appendLiteral("s.\(audience.orderingColumn) DESC, s.instance_id DESC")
    }

    /// The condition that a launch was at a business.
    /// - Parameter isIndexed: False prevents the use of an index. An instance has few launches, while a business may have most
    ///   launches of the tenant, but for a new table the planner does not know this.
    mutating func appendInterpolation(at business: Business, isIndexed: Bool) {
        let (column, value) =
            switch business {
            case .location(let identifier): ("location_identifier", identifier.text)
            case .experience(let url): ("experience_url", url)
            }
        appendLiteral(column + (isIndexed ? " = " : " IS NOT DISTINCT FROM "))
        appendInterpolation(value)
    }

    /// The condition that a notification `n` is from another business.
    mutating func appendInterpolation(otherBusinessThan business: Business) {
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

    /// Adds the condition that a URL has the query items of a prefix.
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

/// The URLs from a first URL up to an end; only the first URL if there is no end.
private struct URLRange {
    let first: String
    let end: String?

    /// The ranges of URLs that a prefix matches apart from its query items, as in ``URLPrefix/matches(_:)``: after host and path
    /// follows nothing, a slash or the query. The ranges are sorted.
    static func ranges(of prefix: URLPrefix) -> [URLRange] {
        let path = (["https://" + prefix.host] + prefix.pathComponents).joined(separator: "/")
        // Each range ends before the character that follows '/' or '?'.
        return [
            URLRange(first: path, end: nil), URLRange(first: path + "/", end: path + "0"),
            URLRange(first: path + "?", end: path + "@"),
        ]
    }
}
