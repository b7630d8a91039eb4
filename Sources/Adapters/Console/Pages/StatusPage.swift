import Administration
import Formats
import Foundation
import Lookups

/// The deployment's status, for sessions that see all tenants.
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
                Self.servers(status, &main)
                self.responses(at: request.now, &main)
                Self.database(status, &main)
                Self.queues(status, at: request.now, &main)
                self.apns(&main)
                Self.connections(status, &main)
            })
    }

    private static func servers(_ status: InstallationStatus, _ html: inout HTMLWriter) {
        html.element(.h2, text: "Servers")
        html.warningWithoutServer(status.servers)
        guard !status.servers.isEmpty else { return }
        html.table("Servers of the last week", columns: ["Host", "Version", "State", "Started", "Last seen"])
        { rows in
            for server in status.servers {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { $0.name(server.host) }
                    row.element(.td, text: server.version)
                    row.element(.td) { td in
                        if server.isRunning {
                            td.text("running")
                        } else if server.endedAt != nil {
                            td.text("ended")
                        } else {
                            td.badge("not seen", "warning")
                        }
                    }
                    row.element(.td) { $0.time(server.startedAt) }
                    row.element(.td) { $0.time(server.seenAt) }
                }
            }
        }
    }

    /// The console's own lookup index. Each server has another one; see its `/metrics`.
    private func responses(at now: Date, _ html: inout HTMLWriter) {
        html.element(.h2, text: "Lookup index of this console")
        guard let state = table.current else { return html.element(.p, text: "Not loaded yet.") }
        html.facts([
            (
                "As of",
                { dd in
                    dd.time(state.asOf)
                    dd.text(", \(max(0, Int(now.timeIntervalSince(state.asOf)))) seconds ago")
                }
            ), ("Source", { $0.text(state.source.rawValue) }),
            ("Tenants", { $0.text(state.table.tenantCount.grouped) }),
            ("Experiences", { $0.text(state.table.experienceCount.grouped) }),
            ("Locations", { $0.text(state.table.locationCount.grouped) }),
            ("Memory", { $0.text("\(state.table.memory.grouped) bytes") }),
        ])
        html.element(
            .p, .class("hint"),
            text:
                "Each server has its own lookup index. See the metric doorstep_lookup_index_age_seconds at the server's /metrics."
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
                        dd.badge("out of date", "warning")
                    }
                }
            ),
        ])
    }

    private static func queues(_ status: InstallationStatus, at now: Date, _ html: inout HTMLWriter) {
        html.element(.h2, text: "Queues")
        html.table("Queues of all tenants", columns: ["Queue", "Waiting", "Overdue"]) { rows in
            for queue in status.queues {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row"), text: queue.kind.title)
                    let isCut = queue.count == InstallationStatus.countLimit
                    row.element(
                        .td, .class("number"), text: "\(queue.count.grouped)\(isCut ? " or more" : "")")
                    row.element(.td) { td in
                        guard let due = queue.firstDueAt, due < now else { return td.text("no") }
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
                    "Notifications go to Apple, as far as the console knows. If a server uses --apns-production or --apns-sandbox, start the console with the same options."
            )
        }
        for detour in detours { html.element(.p) { $0.badge(detour, "warning") } }
    }

    private static func connections(_ status: InstallationStatus, _ html: inout HTMLWriter) {
        html.element(.h2, text: "Database connections")
        html.table("Connections", columns: ["Login", "Program", "Connections"]) { rows in
            for connections in status.connections {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { $0.name(connections.login) }
                    row.element(.td) { $0.name(connections.program) }
                    row.element(.td, .class("number"), text: connections.count.grouped)
                }
            }
        }
        html.element(.p, .class("hint"), text: "Each running server has several connections.")
    }
}

extension HTMLWriter {
    /// A warning if none of the servers runs.
    mutating func warningWithoutServer(_ servers: [InstallationStatus.Server]) {
        guard !servers.contains(where: \.isRunning) else { return }
        element(.p, .class("error"), .role("status")) { p in
            if let last = servers.first {
                p.text("No server has been seen since ")
                p.time(last.seenAt)
                p.text(".")
            } else {
                p.text("No server has been seen.")
            }
            p.text(" If none runs, lookups get no response, and notifications and webhooks wait.")
        }
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
