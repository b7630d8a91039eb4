import Administration
import Encodings
import Foundation
import HTML
import HTTPSyntax
import HTTPTypes
import Notifications
import Tenancy

/// Has many deliveries tried again: first how many they are, then as many as were seen, or none.
enum RetryPage {
    /// How many at once. [ours]
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
                "How many are to be tried again is from 1 to \(maximumCount.grouped).")
        }
        // Those of the days that were seen: by now they begin later.
        guard let since = request.form["since"].flatMap({ Date(rfc3339: $0) }) else {
            throw ConsoleRefusal.malformed("The form is not whole. Nothing was done.")
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
            throw ConsoleRefusal.malformed("What is tried again is refused, uncertain or expired.")
        }
        return filter
    }

    private static func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ filter: DeliveryFilter, since: Date,
        _ count: Int, isOther: Bool = false
    ) -> Page {
        Page(
            title: "Try again", tenant: tenant, section: .deliveries,
            commands: ["doorstep delivery retry --tenant \(tenant.slug)\(filter.arguments(at: request.now))"]
        ) { main in
            if isOther {
                main.element(
                    .p, .class("error"), .role("alert"),
                    text: "They are not as many any more as you have seen. None was tried again.")
            }
            main.element(.dl, .class("facts")) { list in
                list.fact("State") { dd in if let state = filter.state { dd.state(state) } }
                if let reason = filter.reason { list.fact("Reason") { $0.name(reason) } }
                list.fact("Of the last") { $0.text("\(filter.days) \(filter.days == 1 ? "day" : "days")") }
                list.fact("To be tried again") {
                    $0.text(count > maximumCount ? "more than \(maximumCount.grouped)" : count.grouped)
                }
            }
            main.element(
                .p, .class("hint"),
                text:
                    "Deliveries that have expired, or have no expiration and are older than a day, stay as they are. So do deliveries whose token APNs reported as dead, such as Unregistered: a new notification goes to the instance's next token."
            )
            if filter.state == .uncertain {
                main.element(
                    .p, text: "APNs may have taken them: devices may show them twice if they are tried again."
                )
            }
            if count > maximumCount {
                main.element(
                    .p, .class("error"),
                    text:
                        "At most \(maximumCount.grouped) are tried again at once here: choose a reason or fewer days, or take the command."
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
                    form.element(.button, .class("main"), text: "Try \(count.grouped) again")
                }
            }
            main.element(.p) { p in
                p.element(
                    .a, .href(HTMLLink(.deliveries, of: tenant, query: filter.query)),
                    text: "Leave them as they are")
            }
        }
    }
}
