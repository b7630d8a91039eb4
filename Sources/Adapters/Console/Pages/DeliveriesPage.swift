import Administration
import Formats
import Foundation
import Notifications
import Tenancy

/// A tenant's deliveries: counts by state and reason, and a list.
enum DeliveriesPage {
    /// Deliveries per page. [ours]
    private static let pageLength = 50
    /// The page counts at most this many of the newest deliveries. [ours]
    private static let maximumCount = 10_000

    @Sendable static func list(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let filter = DeliveryFilter(request.query)
        let before = try last(request.query)
        let all = DeliverySelection(since: filter.start(at: request.now))
        let counts = try await request.stores.deliveries.counts(all, of: tenant.id, limit: maximumCount)
        let deliveries = try await request.stores.deliveries.deliveries(
            filter.selection(since: filter.start(at: request.now)), of: tenant.id, before: before,
            limit: pageLength + 1)
        return .page(page(request, tenant, filter, counts, deliveries, isFirst: before == nil))
    }

    private static func last(_ query: FormFields) throws -> DeliveryID? {
        guard let text = query["before"] else { return nil }
        guard let uuid = UUID(text: text) else {
            throw ConsoleRefusal.malformed("The page cursor in the URL is not valid. Open the list again.")
        }
        return DeliveryID(uuid)
    }

    private static func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ filter: DeliveryFilter, _ counts: [DeliveryCount],
        _ deliveries: [ListedDelivery], isFirst: Bool
    ) -> Page {
        Page(
            title: "Deliveries", tenant: tenant, section: .deliveries,
            commands: ["doorstep delivery list --tenant \(tenant.slug)\(filter.arguments(at: request.now))"],
            notice: request.query["queued"].flatMap { Int($0) }.map { "\($0.grouped) queued again." }
        ) { main in
            self.form(tenant, filter, &main)
            guard !counts.isEmpty else {
                return main.element(.p, text: "No deliveries in this period.")
            }
            states(tenant, filter, counts, &main)
            if request.mayChange, filter.isRetriable {
                main.element(.p) { p in
                    p.element(
                        .a, .class("button"),
                        .href(HTMLLink(to: "t", tenant.slug.text, "retry", query: filter.query)),
                        text: "Retry these deliveries")
                }
            }
            list(tenant, filter, deliveries, isFirst: isFirst, &main)
        }
    }

    private static func form(_ tenant: Tenant, _ filter: DeliveryFilter, _ html: inout HTMLWriter) {
        html.element(.form, .class("filter"), .action(HTMLLink(.deliveries, of: tenant))) { form in
            form.choice(
                "State", name: "state", ["any"] + DeliveryState.allCases.map(\.rawValue),
                chosen: filter.state?.rawValue ?? "any")
            form.field("Reason", name: "reason", value: filter.reason ?? "", isRequired: false)
            form.choice(
                "Created in the last (days)", name: "days", DeliveryFilter.periods.map(String.init),
                chosen: "\(filter.days)")
            form.element(.button, text: "Filter")
        }
    }

    private static func states(
        _ tenant: Tenant, _ filter: DeliveryFilter, _ counts: [DeliveryCount], _ html: inout HTMLWriter
    ) {
        let total = counts.reduce(0) { $0 + $1.count }
        let caption =
            total == maximumCount
            ? "Newest \(total.grouped) by state and reason" : "By state and reason"
        html.table(caption, columns: ["State", "Reason", "Count"]) { rows in
            for state in DeliveryState.allCases {
                for count in counts where count.state == state {
                    rows.element(.tr) { row in
                        row.element(.th, .scope("row")) { th in
                            let link = DeliveryFilter(state: state, reason: count.reason, days: filter.days)
                            th.element(
                                .a, .class("row"),
                                .href(HTMLLink(.deliveries, of: tenant, query: link.query)),
                                .ariaLabel("\(state.rawValue) \(count.reason ?? "")"), text: state.rawValue)
                        }
                        row.element(.td) { td in
                            if let reason = count.reason { td.element(.code) { $0.name(reason) } }
                        }
                        row.element(.td, .class("number"), text: count.count.grouped)
                    }
                }
            }
        }
    }

    private static func list(
        _ tenant: Tenant, _ filter: DeliveryFilter, _ deliveries: [ListedDelivery], isFirst: Bool,
        _ html: inout HTMLWriter
    ) {
        guard !deliveries.isEmpty else { return html.element(.p, text: "No deliveries match.") }
        let shown = deliveries.prefix(pageLength)
        html.table(
            "Deliveries, newest first", columns: ["Delivery", "Created", "State", "Reason", "Attempts"]
        ) { rows in
            for one in shown {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { th in
                        th.element(.a, .class("row"), .href(HTMLLink(delivery: one.delivery.id, of: tenant)))
                        {
                            $0.element(.code, text: one.delivery.id.description)
                        }
                    }
                    row.element(.td) { $0.time(one.createdAt) }
                    row.element(.td) { $0.state(one.delivery.state) }
                    row.element(.td) { $0.name(one.delivery.reason ?? "") }
                    row.element(.td, .class("number"), text: "\(one.delivery.attempt)")
                }
            }
        }
        html.element(.p, .class("paging")) { p in
            if !isFirst {
                p.element(.a, .href(HTMLLink(.deliveries, of: tenant, query: filter.query)), text: "Newest")
            }
            if deliveries.count > pageLength, let last = shown.last {
                let query = filter.query + [("before", Optional(last.delivery.id.description))]
                p.element(.a, .href(HTMLLink(.deliveries, of: tenant, query: query)), text: "Older")
            }
        }
    }
}

/// The filter of deliveries in a page's URL.
struct DeliveryFilter: Sendable {
    let state: DeliveryState?
    let reason: String?
    /// The age limit of the notifications, in days.
    let days: Int

    static let periods = [1, 7, 30]

    init(state: DeliveryState?, reason: String?, days: Int) {
        self.state = state
        self.reason = reason
        self.days = days
    }

    init(_ fields: FormFields) {
        let days = fields["days"].flatMap { Int($0) } ?? 7
        self.init(
            state: fields["state"].flatMap { DeliveryState(rawValue: $0) }, reason: fields["reason"],
            days: Self.periods.contains(days) ? days : 7)
    }

    /// Whether a retry of these deliveries can succeed.
    var isRetriable: Bool {
        state.map(DeliveryState.retriable.contains) == true
            && reason.map(DeliveryVerdict.deadTokenReasons.contains) != true
    }

    var query: [(String, String?)] {
        [("state", state?.rawValue), ("reason", reason), ("days", "\(days)")]
    }

    /// Rounded down to a second, as in forms and commands.
    func start(at now: Date) -> Date {
        Date(timeIntervalSince1970: (now.timeIntervalSince1970 - Double(days) * 86_400).rounded(.down))
    }

    func selection(since start: Date) -> DeliverySelection {
        DeliverySelection(state: state, reason: reason, since: start)
    }

    /// The options of the equivalent command.
    func arguments(at now: Date) -> String {
        (state.map { " --state \($0.rawValue)" } ?? "")
            + (reason.map { " --reason \($0.shellQuoted)" } ?? "") + " --since \(start(at: now).rfc3339)"
    }
}

extension HTMLLink {
    init(delivery: DeliveryID, of tenant: Tenant) {
        self = HTMLLink(to: "t", tenant.slug.text, "deliveries", delivery.description)
    }
}

extension HTMLWriter {
    /// The state's name and sign. Readers need not see its colour.
    mutating func state(_ state: DeliveryState) {
        let (sign, kind) =
            switch state {
            case .delivered: ("✓", "ok")
            case .refused, .expired: ("✕", "failed")
            case .uncertain: ("?", "warning")
            case .skipped, .queued, .sending: ("–", "unknown")
            }
        element(.span, .class("status \(kind)")) { span in
            span.element(.span, .ariaHidden, text: "\(sign) ")
            span.text(state.rawValue)
        }
    }
}
