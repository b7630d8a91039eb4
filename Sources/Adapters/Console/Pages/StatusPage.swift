import Administration
import Foundation
import HTML
import Lookups

/// How the installation is: for who sees all tenants.
struct StatusPage: Sendable {
    private let table: LiveLookupIndex
    private let status: @Sendable () async throws -> InstallationStatus
    private let detours: [String]

    init(_ dependencies: ConsoleServer.Dependencies, detours: [String]) {
        table = dependencies.table
        status = dependencies.status
        self.detours = detours
    }

    @Sendable func response(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        try request.requireAllTenants()
        let status = try await status()
        return .page(
            Page(title: "Status", commands: ["doorstep status --queues"]) { main in
                self.responses(at: request.now, &main)
                Self.database(status, &main)
                Self.queues(status, at: request.now, &main)
                self.apns(&main)
                Self.connections(status, &main)
            })
    }

    /// The console's own: each server has another, of which its `/metrics` tell.
    private func responses(at now: Date, _ html: inout HTMLWriter) {
        html.element(.h2, text: "What this console answers from")
        guard let state = table.current else { return html.element(.p, text: "Nothing yet.") }
        html.facts([
            (
                "As of",
                { dd in
                    dd.time(state.asOf)
                    dd.text(", \(max(0, Int(now.timeIntervalSince(state.asOf)))) seconds ago")
                }
            ), ("From", { $0.text(state.source.rawValue) }),
            ("Tenants", { $0.text(state.table.tenantCount.grouped) }),
            ("Experiences", { $0.text(state.table.experienceCount.grouped) }),
            ("Locations", { $0.text(state.table.locationCount.grouped) }),
            ("Memory", { $0.text("\(state.table.memory.grouped) bytes") }),
        ])
        html.element(
            .p, .class("hint"),
            text:
                "Each server has a table of its own, and tells of it at /metrics: doorstep_lookup_index_age_seconds."
        )
    }

    private static func database(_ status: InstallationStatus, _ html: inout HTMLWriter) {
        html.element(.h2, text: "Database")
        html.facts([
            ("PostgreSQL", { $0.text(status.databaseRelease) }),
            (
                "Migrations",
                { dd in
                    dd.text("\(status.schemaVersion) of \(status.knownSchemaVersion)")
                    if status.schemaVersion != status.knownSchemaVersion {
                        dd.badge("not up to date", "warning")
                    }
                }
            ),
        ])
    }

    private static func queues(_ status: InstallationStatus, at now: Date, _ html: inout HTMLWriter) {
        html.element(.h2, text: "What waits to be sent")
        html.table("Queues of all tenants", columns: ["What", "Waiting", "Overdue"]) { rows in
            for queue in status.queues {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row"), text: queue.kind.title)
                    let isCut = queue.count == InstallationStatus.countLimit
                    row.element(
                        .td, .class("number"), text: "\(queue.count.grouped)\(isCut ? " or more" : "")")
                    row.element(.td) { td in
                        guard let due = queue.firstDueAt, due < now else { return td.text("nothing") }
                        td.text("by \(Int(now.timeIntervalSince(due)).grouped) seconds")
                    }
                }
            }
        }
    }

    private func apns(_ html: inout HTMLWriter) {
        html.element(.h2, text: "APNs")
        guard !detours.isEmpty else {
            return html.element(
                .p,
                text:
                    "The console knows of no detour: give it --apns-production and --apns-sandbox as the server has them."
            )
        }
        for detour in detours { html.element(.p) { $0.badge(detour, "warning") } }
    }

    private static func connections(_ status: InstallationStatus, _ html: inout HTMLWriter) {
        html.element(.h2, text: "Who is connected to the database")
        html.table("Connections", columns: ["Login", "Program", "Connections"]) { rows in
            for connections in status.connections {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { $0.name(connections.login) }
                    row.element(.td) { $0.name(connections.program) }
                    row.element(.td, .class("number"), text: connections.count.grouped)
                }
            }
        }
        html.element(.p, .class("hint"), text: "Each server has several; none when it is not running.")
    }
}

extension InstallationStatus.Queue.Kind {
    fileprivate var title: String {
        switch self {
        case .deliveries: "Deliveries of notifications"
        case .webhookMessages: "Messages to webhooks"
        }
    }
}
