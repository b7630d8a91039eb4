import Administration
import AppStoreSync
import Formats
import Persistence
import Tenancy

/// A tenant's stored App Store Connect state and its last check. No page sends requests to Apple.
enum AppStorePage {
    /// The maximum number of refusals, and of runs, on the page. [ours]
    static let limit = 50

    @Sendable static func response(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let stored = try await request.stores.syncs.overview(of: tenant.id, limit: limit)
        let checks = try await request.stores.syncChecks.latest(
            of: tenant.id, clip: nil, summarized: true)
        let clip = stored.connections.first?.clip.text ?? "com.example.MyApp.Clip"
        return .page(
            Page(
                title: "App Store", tenant: tenant, section: .appstore,
                commands: ["plan", "drift", "apply"].map {
                    "doorstep appstore \($0) --tenant \(tenant.slug) --clip \(clip)"
                }
            ) { main in
                main.element(
                    .p, .class("hint"),
                    text:
                        "Last known state. Run a command to ask Apple now."
                )
                connections(tenant, stored.connections, &main)
                self.checks(tenant, checks, stored, &main)
                clips(stored.clips, &main)
                refusals(tenant, stored.refusals, &main)
                runs(stored.runs, &main)
            })
    }

    private static func connections(
        _ tenant: Tenant, _ connections: [StoreConnection], _ html: inout HTMLWriter
    ) {
        guard !connections.isEmpty else {
            html.element(.p, text: "No clips connected. Connect one:")
            return html.element(.pre, .tabindex(0)) { pre in
                pre.element(
                    .code,
                    text:
                        "doorstep appstore connect --tenant \(tenant.slug) --clip com.example.MyApp.Clip --key AuthKey.p8 --key-id …"
                )
            }
        }
        html.table("Connected clips", columns: ["Clip", "Key", "Key type", "Since"]) { rows in
            for connection in connections {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { $0.name(connection.clip.text) }
                    row.element(.td) { td in td.element(.code) { $0.name(connection.keyID) } }
                    row.element(.td) { td in
                        if let issuer = connection.issuerID {
                            td.text("team key, ")
                            td.element(.code) { $0.name(issuer) }
                        } else {
                            td.text("personal key")
                        }
                    }
                    row.element(.td) { $0.time(connection.connectedAt) }
                }
            }
        }
    }

    private static func checks(
        _ tenant: Tenant, _ checks: [LatestCheck], _ stored: StoredSyncs, _ html: inout HTMLWriter
    ) {
        guard !checks.isEmpty else { return }
        html.element(.h2, text: "Plans and drift")
        html.table("Last check by clip", columns: ["Clip", "Checked", "Result", "In sync"]) { rows in
            for check in checks {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { th in
                        th.element(
                            .a, .class("row"), .href(HTMLLink(.appstore, of: tenant, check.clip.text))
                        ) { $0.name(check.clip.text) }
                    }
                    row.element(.td) { td in
                        if let at = check.checkedAt { td.time(at) } else { td.text("never") }
                        guard check.isOutOfDate(stored) else { return }
                        td.text(" ")
                        td.badge("out of date", "warning")
                    }
                    row.element(.td) { $0.outcome(of: check) }
                    row.element(
                        .td,
                        text: check.summary.map { $0["inStep"] == true ? "yes" : "no" } ?? "unknown")
                }
            }
        }
    }

    private static func clips(_ clips: [StoredSyncs.OfClip], _ html: inout HTMLWriter) {
        html.element(.h2, text: "Experiences")
        guard !clips.isEmpty else { return html.element(.p, text: "No experiences sent to Apple yet.") }
        html.table(
            "Experiences by clip",
            columns: [
                "Clip", "Registered", "No response yet", "To be removed at Apple", "Refused", "Last sent",
            ]
        ) { rows in
            for clip in clips {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { $0.name(clip.clip.text) }
                    for count in [clip.registered, clip.unanswered, clip.undesired, clip.refused] {
                        row.element(.td, .class("number"), text: count.grouped)
                    }
                    row.element(.td) { td in if let sentAt = clip.sentAt { td.time(sentAt) } }
                }
            }
        }
    }

    private static func refusals(
        _ tenant: Tenant, _ refusals: [StoredSyncs.Refusal], _ html: inout HTMLWriter
    ) {
        guard !refusals.isEmpty else { return }
        html.element(.h2, text: "Refused")
        html.element(.p, text: "Doorstep sends a refused experience again only after it changes.")
        html.table("Refused by Apple", columns: ["URL", "Clip", "Apple's error code", "Time"]) { rows in
            for refusal in refusals {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { th in
                        th.element(
                            .a, .class("row"),
                            .href(HTMLLink(.diagnose, of: tenant, query: [("url", refusal.url)]))
                        ) { $0.name(refusal.url) }
                    }
                    row.element(.td) { $0.name(refusal.clip.text) }
                    row.element(.td) { td in
                        td.element(.code) { $0.name(refusal.code) }
                        guard let source = refusal.source else { return }
                        td.text(" ")
                        td.element(.code) { $0.name(source) }
                    }
                    row.element(.td) { $0.time(refusal.refusedAt) }
                }
            }
        }
        if refusals.count == limit {
            html.element(.p, .class("hint"), text: "This list may be incomplete.")
        }
    }

    private static func runs(_ runs: [StoredSyncs.Run], _ html: inout HTMLWriter) {
        guard !runs.isEmpty else { return }
        html.element(.h2, text: "Runs")
        html.table("Runs, newest first", columns: ["Started", "Ended", "Clip", "By", "Outcome"]) { rows in
            for run in runs {
                rows.element(.tr) { row in
                    row.element(.td) { $0.time(run.startedAt) }
                    row.element(.td) { td in if let endedAt = run.endedAt { td.time(endedAt) } }
                    row.element(.td) { $0.name(run.clip.text) }
                    row.element(.td) { $0.name(run.actor) }
                    row.element(.td, text: run.outcome ?? "running")
                }
            }
        }
    }
}

extension LatestCheck {
    /// Whether the check is older than the clip's last run, or than something that was sent to Apple.
    func isOutOfDate(_ stored: StoredSyncs) -> Bool {
        guard let checkedAt else { return false }
        let sent = stored.clips.filter { $0.clip == clip }.compactMap(\.sentAt)
        let runs = stored.runs.filter { $0.clip == clip }.map(\.startedAt)
        return (sent + runs).contains { $0 > checkedAt }
    }
}
