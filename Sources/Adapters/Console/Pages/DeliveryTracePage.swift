import Administration
import Formats
import Foundation
import Invocation
import Notifications
import Tenancy

/// The trace of a delivery or a notification, the retry of a failed delivery, and the cancellation of a notification.
enum DeliveryTracePage {
    /// The maximum number of a notification's deliveries on the page. [ours]
    private static let maximumDeliveries = 100

    @Sendable static func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let id = try identifier(request)
        guard
            let trace = try await request.stores.traces.trace(
                id, of: tenant.id, after: nil, limit: maximumDeliveries)
        else { throw ConsoleRefusal.notFound }
        return .page(page(request, tenant, DeliveryID(id), trace))
    }

    @Sendable static func retry(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let delivery = DeliveryID(try identifier(request))
        guard try await request.stores.deliveries.notification(of: delivery, of: tenant.id) != nil else {
            throw ConsoleRefusal.notFound
        }
        let counts = try await request.stores.deliveries.retry(
            DeliverySelection(ids: [delivery]), of: tenant.id, at: request.now, expecting: nil)
        let outcome =
            counts.queued == 1
            ? "queued" : counts.tooLate == 1 ? "late" : counts.tokenDead == 1 ? "dead" : "none"
        return .seeOther(
            HTMLLink(
                to: "t", tenant.slug.text, "deliveries", delivery.description, query: [("retried", outcome)]))
    }

    @Sendable static func cancel(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let id = NotificationID(try identifier(request))
        let outcome: String
        switch try await request.stores.traces.store.cancel(
            id, of: tenant.id, by: request.session.access.actor)
        {
        case .unknown: throw ConsoleRefusal.notFound
        case .cancelled: outcome = "cancelled"
        case .finished: outcome = "finished"
        }
        return .seeOther(
            HTMLLink(to: "t", tenant.slug.text, "deliveries", id.description, query: [("cancel", outcome)]))
    }

    private static func identifier(_ request: ConsoleRequest) throws -> UUID {
        guard let id = request.path["id"].flatMap({ UUID(text: $0) }) else { throw ConsoleRefusal.notFound }
        return id
    }

    private static func notice(_ request: ConsoleRequest) -> String? {
        switch request.query["cancel"] {
        case "cancelled": return "Cancelled. Queued deliveries are not sent."
        case "finished": return "Not cancelled: all deliveries are finished."
        default: break
        }
        return switch request.query["retried"] {
        case "queued": "Queued again."
        case "late": "Not retried: the delivery is too old, or its notification was cancelled."
        case "dead": "Not retried: APNs reported its token as dead. Send a new notification."
        case "none": "Not retried: only refused, uncertain and expired deliveries can be retried."
        default: nil
        }
    }

    private static func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ id: DeliveryID, _ trace: NotificationTrace
    ) -> Page {
        let isDelivery = trace.notification.id.uuid != id.uuid
        var commands = ["doorstep delivery trace --tenant \(tenant.slug) \(id)"]
        if isDelivery, trace.notification.cancelledAt == nil, trace.deliveries.contains(where: \.isRetriable)
        {
            commands.append("doorstep delivery retry --tenant \(tenant.slug) \(id)")
        }
        if !isDelivery { commands.append("doorstep delivery cancel --tenant \(tenant.slug) \(id)") }
        return Page(
            title: isDelivery ? "Delivery" : "Notification", tenant: tenant, section: .deliveries,
            commands: commands, notice: notice(request)
        ) { main in
            for delivery in trace.deliveries where isDelivery {
                facts(delivery, &main)
                if request.mayChange, delivery.isRetriable, trace.notification.cancelledAt == nil {
                    again(tenant, delivery, &main)
                }
                responses(delivery, &main)
            }
            main.element(.h2, text: isDelivery ? "Notification" : "Content")
            notification(tenant, trace, linked: isDelivery, &main)
            if !isDelivery {
                deliveries(tenant, trace, &main)
                if request.mayChange { cancellation(tenant, trace, &main) }
            }
        }
    }

    private static func facts(_ delivery: RecordedDelivery, _ html: inout HTMLWriter) {
        html.element(.dl, .class("facts")) { list in
            list.fact("State") { $0.state(delivery.state) }
            if let reason = delivery.reason { list.fact("Reason") { $0.name(reason) } }
            if let instance = delivery.instance {
                list.fact("Instance") { $0.element(.code, text: instance.description) }
            }
            list.fact("Environment") { $0.text("\(delivery.environment)") }
            list.fact("Attempts") { $0.text("\(delivery.attempt)") }
            for (name, date) in [
                ("Due", delivery.dueAt), ("Finished", delivery.finishedAt),
                ("Expires", delivery.expiresAt),
            ] {
                if let date { list.fact(name) { $0.time(date) } }
            }
            for warning in delivery.warnings { list.fact("Warning") { $0.name(warning) } }
        }
    }

    private static func again(
        _ tenant: Tenant, _ delivery: RecordedDelivery, _ html: inout HTMLWriter
    ) {
        if delivery.state == .uncertain {
            html.element(
                .p, .class("hint"),
                text: "APNs may have accepted this delivery. If you retry it, the device may show it twice.")
        }
        html.element(
            .form, .post,
            .action(HTMLLink(to: "t", tenant.slug.text, "deliveries", delivery.id.description, "retry"))
        ) { $0.element(.button, .class("main"), text: "Retry") }
    }

    /// The form that cancels a notification, if something is left to cancel.
    private static func cancellation(
        _ tenant: Tenant, _ trace: NotificationTrace, _ html: inout HTMLWriter
    ) {
        let isUnfinished = trace.counts.contains { $0.state == .queued || $0.state == .sending }
        guard trace.notification.cancelledAt == nil, isUnfinished || !trace.isComplete else { return }
        html.element(.h2, text: "Cancel this notification")
        html.element(
            .p,
            text:
                "Queued deliveries end without being sent. You cannot undo this. Deliveries that are being sent now may still arrive."
        )
        html.element(
            .form, .post,
            .action(
                HTMLLink(to: "t", tenant.slug.text, "deliveries", trace.notification.id.description, "cancel")
            )
        ) { $0.element(.button, .class("danger"), text: "Cancel the queued deliveries") }
    }

    private static func responses(_ delivery: RecordedDelivery, _ html: inout HTMLWriter) {
        guard !delivery.responses.isEmpty else {
            return html.element(.p, text: "No attempt yet.")
        }
        html.table("Attempts", columns: ["Attempt", "Time", "APNs response"]) { rows in
            for response in delivery.responses {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row"), text: "\(response.attempt)")
                    row.element(.td) { $0.time(response.at) }
                    row.element(.td) { td in
                        switch response.result {
                        case .answered(let status, let reason, _):
                            td.text("\(status) ")
                            td.name(reason ?? "")
                        case .failed(let failure):
                            td.text("no response: ")
                            td.name(failure)
                        }
                    }
                }
            }
        }
    }

    private static func notification(
        _ tenant: Tenant, _ trace: NotificationTrace, linked: Bool, _ html: inout HTMLWriter
    ) {
        let notification = trace.notification
        html.element(.dl, .class("facts")) { list in
            list.fact("Identifier") { dd in
                if linked {
                    dd.element(
                        .a,
                        .href(HTMLLink(to: "t", tenant.slug.text, "deliveries", notification.id.description))
                    ) { $0.element(.code, text: notification.id.description) }
                } else {
                    dd.element(.code, text: notification.id.description)
                }
            }
            list.fact("Created") { $0.time(notification.createdAt) }
            if let cancelledAt = notification.cancelledAt { list.fact("Cancelled") { $0.time(cancelledAt) } }
            list.fact("URL") { dd in
                dd.element(.a, .href(HTMLLink(.diagnose, of: tenant, query: [("url", notification.url)]))) {
                    $0.name(notification.url)
                }
            }
            list.fact("Clip") { $0.name(notification.clip.text) }
            if let location = notification.location {
                list.fact("Location") { dd in
                    dd.element(.a, .href(HTMLLink(location: location, of: tenant))) { $0.name(location.text) }
                }
            }
            for warning in notification.warnings { list.fact("Warning") { $0.name(warning.detail) } }
        }
        html.element(.details) { details in
            details.element(.summary, text: "Payload")
            details.element(.pre, .tabindex(0)) { pre in
                pre.element(.code) { $0.name(String(decoding: notification.payload, as: UTF8.self)) }
            }
        }
    }

    private static func deliveries(
        _ tenant: Tenant, _ trace: NotificationTrace, _ html: inout HTMLWriter
    ) {
        html.element(.h2, text: "Deliveries")
        if !trace.isComplete {
            html.element(
                .p,
                text: "Doorstep is still adding this notification's audience. More deliveries will follow.")
        }
        html.table("Deliveries by state and reason", columns: ["State", "Reason", "Count"]) { rows in
            for count in trace.counts {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { $0.state(count.state) }
                    row.element(.td) { $0.name(count.reason ?? "") }
                    row.element(.td, .class("number"), text: count.count.grouped)
                }
            }
        }
        html.element(.ul) { list in
            for delivery in trace.deliveries {
                list.element(.li) { item in
                    item.element(.a, .class("row"), .href(HTMLLink(delivery: delivery.id, of: tenant))) {
                        $0.element(.code, text: delivery.id.description)
                    }
                    item.text(" ")
                    item.state(delivery.state)
                }
            }
        }
        if trace.hasMore {
            html.element(
                .p, .class("hint"), text: "This list is incomplete. The command lists all deliveries.")
        }
    }
}

extension HTMLWriter {
    /// One fact in a list of facts.
    mutating func fact(_ name: String, _ value: (inout HTMLWriter) -> Void) {
        element(.dt, text: name)
        element(.dd) { value(&$0) }
    }
}
