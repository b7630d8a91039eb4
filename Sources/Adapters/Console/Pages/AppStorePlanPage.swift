import Administration
import AppStoreSync
import Formats
import Persistence
import Tenancy

/// The result of a clip's last App Store Connect check: planned steps and drift.
enum AppStorePlanPage {
    /// Rows per page. [ours]
    private static let pageLength = 100
    /// The maximum number of missing URLs on the page. A check stores no more. [ours]
    private static let maximumMissing = 100

    @Sendable static func response(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let checks = request.stores.syncChecks
        guard let clip = request.path["clip"].flatMap({ try? BundleID($0) }),
            let check = try await checks.latest(of: clip, of: tenant.id)
        else { throw ConsoleRefusal.notFound }
        let after = request.query["after"]
        let rows = try await checks.rows(
            of: check.clip, of: tenant.id, within: nil, after: after, limit: pageLength + 1)
        let stored = try await request.stores.syncs.overview(of: tenant.id, limit: AppStorePage.limit)
        return .page(
            page(tenant, check, rows, isFirst: after == nil, isOutOfDate: check.isOutOfDate(stored)))
    }

    private static func page(
        _ tenant: Tenant, _ check: LatestCheck, _ rows: [SyncCheck.Row], isFirst: Bool,
        isOutOfDate: Bool
    ) -> Page {
        Page(
            title: "Plan of \(check.clip.text)", tenant: tenant, section: .appstore,
            commands: [
                "doorstep appstore plan --tenant \(tenant.slug) --clip \(check.clip.text) --unmanaged",
                "doorstep appstore drift --tenant \(tenant.slug) --clip \(check.clip.text)",
            ]
        ) { main in
            main.element(
                .p, .class("hint"),
                text:
                    "Result of the last check. Run a command to ask App Store Connect now.")
            if isOutOfDate {
                main.element(
                    .p, .class("finding"), .role("status"),
                    text:
                        "This result is out of date: a run began after the check. Run a command to check again."
                )
            }
            main.facts([
                ("Checked", { dd in if let at = check.checkedAt { dd.time(at) } else { dd.text("never") } }),
                ("Result", { $0.outcome(of: check) }),
                ("Clip", { $0.name(check.release?.text ?? "unknown whether it is on the App Store") }),
            ])
            guard let summary = check.summary else { return }
            main.counts("Planned steps", summary["counts"])
            main.counts("Findings", summary["findings"])
            main.counts("Apple Maps places: found, pending, not found", summary["places"])
            missing((summary["missing"]?.arrayValue ?? []).compactMap(\.stringValue), &main)
            main.element(.h2, text: "Experiences")
            list(tenant, check, rows, isFirst: isFirst, &main)
        }
    }

    private static func missing(_ urls: [String], _ html: inout HTMLWriter) {
        guard !urls.isEmpty else { return }
        html.element(.h2, text: "Missing at Apple")
        html.element(.p, text: "Doorstep registered these URLs, and Apple no longer lists them.")
        html.element(.ul) { list in
            for url in urls.prefix(maximumMissing) { list.element(.li) { $0.name(url) } }
        }
        if urls.count >= maximumMissing {
            html.element(.p, .class("hint"), text: "This list is incomplete. The command lists all URLs.")
        }
    }

    private static func list(
        _ tenant: Tenant, _ check: LatestCheck, _ rows: [SyncCheck.Row], isFirst: Bool,
        _ html: inout HTMLWriter
    ) {
        guard !rows.isEmpty else {
            return html.element(.p, text: "No changes and no findings.")
        }
        let shown = rows.prefix(pageLength)
        html.table("Experiences by URL", columns: ["URL", "Step", "Details"]) { table in
            for one in shown {
                table.element(.tr) { row in
                    row.element(.th, .scope("row")) { th in
                        th.element(
                            .a, .class("row"),
                            .href(HTMLLink(.diagnose, of: tenant, query: [("url", one.url)]))
                        ) { $0.name(one.url) }
                    }
                    row.element(
                        .td, text: (one.json["step"]?.stringValue ?? "").replacing("_", with: " "))
                    row.element(.td) { $0.details(of: one.json) }
                }
            }
        }
        html.element(.p, .class("paging")) { p in
            let clip = check.clip.text
            if !isFirst {
                p.element(.a, .href(HTMLLink(.appstore, of: tenant, clip)), text: "First page")
            }
            if rows.count > pageLength, let last = shown.last {
                p.element(
                    .a, .href(HTMLLink(.appstore, of: tenant, clip, query: [("after", last.url)])),
                    text: "Next \(pageLength)")
            }
        }
    }
}

extension HTMLWriter {
    /// The result of the last check.
    mutating func outcome(of check: LatestCheck) {
        let (kind, sign, text) =
            switch (check.failure, check.checkedAt) {
            case (_?, _): ("failed", "✕ ", "failed")
            case (nil, _?): ("ok", "✓ ", "complete")
            case (nil, nil): ("unknown", "– ", "never checked")
            }
        element(.span, .class("status \(kind)")) { span in
            span.element(.span, .ariaHidden, text: sign)
            span.text(text)
        }
        guard let failure = check.failure else { return }
        self.text(", App Store Connect could not be read: ")
        name(failure)
    }

    /// A table of counts by name. Writes nothing if all are zero.
    fileprivate mutating func counts(_ caption: String, _ json: JSONValue?) {
        let counts = (json?.objectValue ?? [:]).compactMap { name, value in
            value.numberValue?.int.map { (name, $0) }
        }.filter { $0.1 > 0 }.sorted { $0.0 < $1.0 }
        guard !counts.isEmpty else { return }
        table(caption, columns: ["Kind", "Count"]) { rows in
            for (name, count) in counts {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { $0.name(name.replacing("_", with: " ")) }
                    row.element(.td, .class("number"), text: count.grouped)
                }
            }
        }
    }

    /// The changes, blockers and findings of one row of a plan.
    fileprivate mutating func details(of row: JSONObject) {
        element(.ul) { list in
            for change in (row["changes"]?.arrayValue ?? []).compactMap(\.objectValue) {
                list.element(.li) { item in
                    item.name(change["path"]?.stringValue ?? "")
                    item.text(": ")
                    item.value(change["old"])
                    item.text(" → ")
                    item.value(change["new"])
                }
            }
            for code in ["blocks", "findings"].flatMap({ row[$0]?.arrayValue ?? [] }).compactMap(
                \.objectValue)
            {
                list.element(.li) { item in
                    item.element(.code) { $0.name(code["code"]?.stringValue ?? "") }
                    guard let detail = code["detail"]?.stringValue else { return }
                    item.text(" ")
                    item.name(detail)
                }
            }
            if let former = row["formerURL"]?.stringValue {
                list.element(.li) { item in
                    item.text("replaces ")
                    item.name(former)
                }
            }
            for id in ([row["id"]].compactMap(\.self) + (row["ids"]?.arrayValue ?? [])).compactMap(
                \.stringValue)
            {
                list.element(.li) { item in
                    item.text("Apple's ID ")
                    item.element(.code) { $0.name(id) }
                }
            }
        }
    }
}
