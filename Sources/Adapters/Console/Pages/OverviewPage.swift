import Administration
import Confirmations
import Formats
import Foundation
import Tenancy

/// What happened at a tenant's locations in the last days, compared with the week before, and the places that need attention.
struct OverviewPage: Sendable {
    private let findings: FindingsCache
    private let finished: FinishedDays<Statistics>
    private let servers: ConsoleServer.Servers
    private let rankings = RecentValues<(busiest: [Statistics], outside: [Statistics])>()

    /// The period of the rankings, in days. [ours]
    private static let rankedDays = 7
    /// The rows of a ranking. [ours]
    private static let ranked = 5

    init(
        _ findings: FindingsCache, _ finished: FinishedDays<Statistics>,
        servers: @escaping ConsoleServer.Servers
    ) {
        self.findings = findings
        self.finished = finished
        self.servers = servers
    }

    @Sendable func response(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let (history, now) = (request.stores.confirmations, request.now)
        let recent = ConfirmationSelection(start: now.start(ofDays: Self.rankedDays))
        async let counted = finished.counts(of: tenant.id, days: LocationsPage.days, at: now) {
            try await history.statistics($0, by: .day, of: tenant.id, .group(after: nil), limit: 1_000)
        }
        async let rankings = rankings.value(of: tenant.id, at: now) {
            async let busiest = history.statistics(
                recent, by: .location, of: tenant.id, .busiest, limit: Self.ranked)
            async let outside = history.statistics(
                recent, by: .location, of: tenant.id, .mostOutsideRegion, limit: Self.ranked)
            return try await (busiest, outside)
        }
        let found = try await findings.findings(of: tenant, at: now)
        let days = try await counted.sorted { $0.group < $1.group }
        let steps = try await SetupSteps(request, tenant, days.total)
        let (busy, wrong) = try await rankings
        let servers = try await servers()
        return .page(
            Page(
                title: "Overview", tenant: tenant, section: .overview,
                commands: ["doorstep statistics list --tenant \(tenant.slug)"]
            ) { main in
                main.warningWithoutServer(servers)
                if let found { Self.findings(found, of: tenant, &main) }
                steps?.write(into: &main)
                guard !days.isEmpty else { return Self.empty(tenant, &main) }
                Self.comparison(days, at: now, of: tenant, &main)
                main.element(.h2, text: "The last \(LocationsPage.days) days")
                main.funnel(days)
                main.element(.h2, text: "The last \(Self.rankedDays) days")
                main.statistics("Busiest locations", busy, by: .location, of: tenant)
                guard !wrong.isEmpty else { return }
                main.element(
                    .p, .class("hint"),
                    text:
                        "Many confirmations outside the region can mean that its centre is wrong, or its radius too small."
                )
                main.statistics("Most confirmations outside the region", wrong, by: .location, of: tenant)
            })
    }

    private static func findings(
        _ found: FindingsCache.Found, of tenant: Tenant, _ html: inout HTMLWriter
    ) {
        guard !found.all.isEmpty else { return }
        html.element(.p, .class("finding")) { p in
            p.element(
                .a, .href(HTMLLink(.problems, of: tenant)),
                text: found.all.count == 1 ? "1 problem" : "\(found.all.count.grouped) problems")
            p.text(" in the catalogue.")
        }
    }

    private static func empty(_ tenant: Tenant, _ html: inout HTMLWriter) {
        html.element(
            .p,
            text: "Nothing was counted in the last \(LocationsPage.days) days. Look a URL up, as a clip does:"
        )
        html.element(.pre) {
            $0.element(.code, text: "curl 'https://SERVER/v1/lookup?url=URL' -H 'Authorization: Bearer KEY'")
        }
    }

    /// Today and the last week, each beside the same days of the week before.
    private static func comparison(
        _ days: [Statistics], at now: Date, of tenant: Tenant, _ html: inout HTMLWriter
    ) {
        func total(_ range: Range<Int>) -> Statistics {
            // Counts back from today, which is 0.
            let first = now.start(ofDays: range.upperBound).rfc3339.prefix(10)
            let last = now.start(ofDays: range.lowerBound + 1).rfc3339.prefix(10)
            return days.filter { $0.group >= first && $0.group <= last }.total
        }
        let rows = [
            ("Today so far", total(0..<1)), ("The same day last week", total(7..<8)),
            ("Yesterday", total(1..<2)), ("7 days until yesterday", total(1..<8)),
            ("The 7 days before", total(8..<15)),
        ]
        html.table("Days of UTC", columns: ["Period"] + Statistics(group: "").steps.map(\.title)) { table in
            for (title, counts) in rows {
                table.element(.tr) { tr in
                    tr.element(.th, .scope("row"), text: title)
                    for (_, count) in counts.steps {
                        tr.element(.td, .class("number"), text: (count ?? 0).grouped)
                    }
                }
            }
        }
    }
}
