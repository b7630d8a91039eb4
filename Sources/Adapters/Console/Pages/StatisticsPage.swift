import Administration
import Confirmations
import Formats
import Foundation
import Invocation
import Tenancy

/// Counts of lookups, confirmations, launch reports and deliveries in a period, by day, location, source or experience.
enum StatisticsPage {
    /// The maximum number of rows on the page. [ours]
    private static let maximumListed = 100
    /// The maximum number of rows in the file. [ours]
    private static let maximumExported = 100_000

    @Sendable static func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let filter = try StatisticsFilter(request)
        let history = request.stores.confirmations
        let (selection, grouping) = (filter.selection, filter.grouping)
        async let days = history.statistics(
            selection, by: .day, of: tenant.id, .group(after: nil), limit: maximumExported)
        async let ranked =
            grouping == .day
            ? []
            : history.statistics(
                selection, by: grouping, of: tenant.id, .busiest, limit: maximumListed + 1)
        let (byDay, busiest) = try await (days, ranked)
        let rows = grouping == .day ? byDay.reversed() : busiest
        return .page(
            Page(
                title: "Statistics", tenant: tenant, section: .statistics,
                commands: ["doorstep statistics list --tenant \(tenant.slug)\(filter.arguments)"]
            ) { main in
                form(tenant, filter, &main)
                guard !byDay.isEmpty else {
                    return main.element(.p, text: "Nothing was counted in this period.")
                }
                main.funnel(byDay)
                main.element(.h2, text: "By \(grouping.rawValue)")
                main.statistics(
                    rows.count > maximumListed
                        ? "The \(grouping == .day ? "newest" : "busiest") \(maximumListed)"
                        : "\(rows.count.grouped) rows",
                    rows.prefix(maximumListed),
                    by: grouping, of: tenant)
                main.element(.p) { p in
                    p.element(
                        .a,
                        .href(HTMLLink(to: "t", tenant.slug.text, "statistics.csv", query: filter.query)),
                        text: "Download as CSV")
                    p.text(" (at most \(maximumExported.grouped) rows).")
                }
            })
    }

    @Sendable static func file(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let filter = try StatisticsFilter(request)
        let rows = try await request.stores.confirmations.statistics(
            filter.selection, by: filter.grouping, of: tenant.id, .group(after: nil), limit: maximumExported)
        var bytes: [UInt8] = []
        var writer = CSVWriter(forSpreadsheets: true) { bytes += $0 }
        try writer.append(
            [filter.grouping.rawValue, "lookups", "confirmations", "inRegion", "launchReports", "delivered"])
        for row in rows { try writer.append([row.group] + row.steps.map { $0.count.map { "\($0)" } ?? "" }) }
        try writer.finish()
        return .file(
            bytes, type: "text/csv; charset=utf-8",
            name: "statistics-\(tenant.slug)-by-\(filter.grouping.rawValue).csv")
    }

    private static func form(_ tenant: Tenant, _ filter: StatisticsFilter, _ html: inout HTMLWriter) {
        html.element(.form, .class("filter"), .action(HTMLLink(.statistics, of: tenant))) { form in
            form.element(.div, .class("field")) { div in
                div.element(.label, .for("by"), text: "Group by")
                div.element(.select, .id("by"), .name("by")) { select in
                    for grouping in StatisticsGrouping.allCases {
                        select.element(
                            .option, .value(grouping.rawValue),
                            grouping == filter.grouping ? .selected : nil, text: grouping.rawValue)
                    }
                }
            }
            form.field("First day (UTC)", name: "from", value: filter.from, isRequired: false)
            form.field("Last day (UTC)", name: "to", value: filter.to, isRequired: false)
            form.field("Location", name: "location", value: filter.location?.text ?? "", isRequired: false)
            form.element(.p) { $0.element(.button, text: "Show") }
        }
    }
}

/// The filter of statistics in a page's URL.
struct StatisticsFilter: Sendable {
    let grouping: StatisticsGrouping
    /// The first and the last day, such as `2026-03-01`.
    let from: String
    let to: String
    let location: LocationIdentifier?
    let selection: ConfirmationSelection

    /// Without days in the URL, the last 30 days count.
    /// - Throws: ``ConsoleRefusal`` for a value that is not valid.
    init(_ request: ConsoleRequest) throws {
        func value<Value>(_ name: String, _ read: (String) -> Value?) throws -> Value? {
            guard let text = request.query[name] else { return nil }
            guard let value = read(text) else {
                throw ConsoleRefusal.malformed("The value of '\(name)' in the URL is not valid.")
            }
            return value
        }
        func day(_ text: String) -> Date? {
            Date(rfc3339: text + "T00:00:00Z").flatMap { $0.timeIntervalSince1970 >= 0 ? $0 : nil }
        }
        grouping = try value("by", StatisticsGrouping.init(rawValue:)) ?? .day
        location = try value("location") { try? LocationIdentifier($0) }
        let last = try value("to", day) ?? request.now.startOfDay
        let first = try value("from", day) ?? last.start(ofDays: LocationsPage.days)
        guard first <= last else {
            throw ConsoleRefusal.malformed("The first day is after the last day.")
        }
        (from, to) = (String(first.rfc3339.prefix(10)), String(last.rfc3339.prefix(10)))
        selection = ConfirmationSelection(
            location: location, start: first, end: last.addingTimeInterval(86_400))
    }

    var query: [(String, String?)] {
        [("by", grouping.rawValue), ("from", from), ("to", to), ("location", location?.text)]
    }

    var arguments: String {
        " --by \(grouping.rawValue) --from \(from) --to \(to)"
            + (location.map { " --location \($0.text.shellQuoted)" } ?? "")
    }
}

extension Statistics {
    /// The counts in the order of a launch, with their titles.
    var steps: [(title: String, count: Int?)] {
        [
            ("Lookups", lookups), ("Confirmations", confirmations), ("In region", inRegion),
            ("Launch reports", launchReports), ("Delivered", delivered),
        ]
    }
}

extension Sequence<Statistics> {
    /// The sums of the counts.
    var total: Statistics {
        reduce(into: Statistics(group: "", confirmations: 0, inRegion: 0, delivered: 0)) { total, row in
            total.lookups += row.lookups
            total.confirmations = (total.confirmations ?? 0) + (row.confirmations ?? 0)
            total.inRegion = (total.inRegion ?? 0) + (row.inRegion ?? 0)
            total.launchReports += row.launchReports
            total.delivered = (total.delivered ?? 0) + (row.delivered ?? 0)
        }
    }
}

extension HTMLWriter {
    /// The way from lookups to deliveries, as bars with their numbers.
    mutating func funnel(_ days: [Statistics]) {
        let steps = days.total.steps.map { ($0.title, $0.count ?? 0) }
        let highest = Swift.max(steps.map(\.1).max() ?? 0, 1)
        let (length, height) = (460.0, 16.0)
        element(.ul, .class("funnel")) { list in
            for (title, count) in steps {
                list.element(.li) { item in
                    item.element(.span, text: title)
                    item.element(.strong, .class("number"), text: count.grouped)
                    item.element(.svg, .ariaHidden, .viewBox(width: Int(length), height: Int(height))) {
                        svg in
                        svg.element(
                            .rect, .class("bar"), .x(0), .y(0),
                            .width(Double(count) / Double(highest) * length), .height(height))
                    }
                }
            }
        }
    }

    /// A table of counts.
    mutating func statistics(
        _ caption: String, _ rows: some Sequence<Statistics>, by grouping: StatisticsGrouping,
        of tenant: Tenant
    ) {
        let columns = Statistics(group: "").steps.map(\.title)
        table(caption, columns: [grouping.rawValue.capitalizedSentence] + columns) { table in
            for row in rows {
                table.element(.tr) { tr in
                    tr.element(.th, .scope("row")) { th in
                        if grouping == .location, let identifier = try? LocationIdentifier(row.group) {
                            th.element(.a, .class("row"), .href(HTMLLink(location: identifier, of: tenant))) {
                                $0.name(row.group)
                            }
                        } else {
                            th.name(row.group.isEmpty ? "no location" : row.group)
                        }
                    }
                    for (_, count) in row.steps {
                        tr.element(.td, .class("number"), text: count?.grouped ?? "–")
                    }
                }
            }
        }
    }
}
