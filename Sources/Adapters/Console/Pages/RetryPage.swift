import Administration
import Formats
import Foundation
import HTTPTypes
import Notifications
import Tenancy

/// Retries many deliveries: reviews their number first, then retries exactly this number or none.
enum RetryPage {
    /// The maximum number of deliveries at once. [ours]
    private static let maximumCount = 1_000

    @Sendable static func review(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let filter = try filter(request.query)
        let since = filter.start(at: request.now)
        let count = try await request.stores.deliveries.retriable(
            filter.selection(since: since), of: tenant.id, at: request.now, upTo: maximumCount + 1)
        return .page(page(request, tenant, filter, since: since, count))
    }

    @Sendable static func retry(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        try request.requireChange()
        let filter = try filter(request.form)
        guard let count = request.form["count"].flatMap({ Int($0) }), (1...maximumCount).contains(count)
        else {
            throw ConsoleRefusal.malformed(
                "The number of deliveries must be from 1 to \(maximumCount.grouped).")
        }
        // Keeps the start of the reviewed period, which would begin later by now.
        guard let since = request.form["since"].flatMap({ Date(rfc3339: $0) }) else {
            throw ConsoleRefusal.malformed("The form is incomplete. Nothing was done.")
        }
        do {
            let counts = try await request.stores.deliveries.retry(
                filter.selection(since: since), of: tenant.id, at: request.now, expecting: count)
            return .seeOther(
                HTMLLink(.deliveries, of: tenant, query: filter.query + [("queued", "\(counts.queued)")]))
        } catch let error as OtherDeliveries {
            var page = page(request, tenant, filter, since: since, error.counts.queued, isOther: true)
            page.status = .conflict
            return .page(page)
        }
    }

    private static func filter(_ fields: FormFields) throws -> DeliveryFilter {
        let filter = DeliveryFilter(fields)
        guard let state = filter.state, DeliveryState.retriable.contains(state) else {
            throw ConsoleRefusal.malformed("Only refused, uncertain and expired deliveries can be retried.")
        }
        return filter
    }

    private static func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ filter: DeliveryFilter, since: Date,
        _ count: Int, isOther: Bool = false
    ) -> Page {
        Page(
            title: "Retry deliveries", tenant: tenant, section: .deliveries,
            commands: ["doorstep delivery retry --tenant \(tenant.slug)\(filter.arguments(at: request.now))"]
        ) { main in
            if isOther {
                main.element(
                    .p, .class("error"), .role("alert"),
                    text: "The number of deliveries has changed. None was retried. Review them again.")
            }
            main.element(.dl, .class("facts")) { list in
                list.fact("State") { dd in if let state = filter.state { dd.state(state) } }
                if let reason = filter.reason { list.fact("Reason") { $0.name(reason) } }
                list.fact("Created in the last") {
                    $0.text("\(filter.days) \(filter.days == 1 ? "day" : "days")")
                }
                list.fact("Deliveries to retry") {
                    $0.text(count > maximumCount ? "more than \(maximumCount.grouped)" : count.grouped)
                }
            }
            main.element(
                .p, .class("hint"),
                text:
                    "Expired notifications, and those without an expiry older than 24 h, are not retried. Deliveries to a token that APNs reported as dead (such as Unregistered) are not retried either. Send a new notification instead."
            )
            if filter.state == .uncertain {
                main.element(
                    .p,
                    text:
                        "APNs may have accepted these deliveries. If you retry them, devices may show them twice."
                )
            }
            if count > maximumCount {
                main.element(
                    .p, .class("error"),
                    text:
                        "The console retries at most \(maximumCount.grouped) deliveries at once. Choose a reason or fewer days, or use the command."
                )
            } else if !request.mayChange {
                main.readOnlyHint()
            } else if count > 0 {
                main.element(
                    .form, .post, .action(HTMLLink(to: "t", tenant.slug.text, "retry"))
                ) { form in
                    for (name, value) in filter.query { form.hiddenField(name, value ?? "") }
                    form.hiddenField("since", since.rfc3339)
                    form.hiddenField("count", "\(count)")
                    form.element(.button, .class("main"), text: "Retry \(count.grouped)")
                }
            }
            main.element(.p) { p in
                p.element(
                    .a, .href(HTMLLink(.deliveries, of: tenant, query: filter.query)),
                    text: "Cancel")
            }
        }
    }
}
