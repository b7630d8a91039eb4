import Administration
import Formats
import Foundation
import Persistence

/// A tenant's audit log.
enum AuditPage {
    /// Entries per page. [ours]
    private static let pageLength = 50

    @Sendable static func response(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        var filter: [String: String] = [:]
        for name in AuditEntry.filters { filter[name] = request.query[name] }
        let before = request.query["before"].flatMap { Int($0) }
        let found = try await request.stores.administration.auditLog.page(
            of: tenant.id, before: before, limit: pageLength + 1, where: filter)
        return .page(page(request, tenant, filter, found, isFirst: before == nil))
    }

    private static func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ filter: [String: String], _ found: AuditLogPage,
        isFirst: Bool
    ) -> Page {
        let shown = Array(found.entries.prefix(pageLength))
        let next = found.entries.count > pageLength ? shown.last?.id : found.stoppedAt
        return Page(
            title: "Audit log", tenant: tenant, section: .audit,
            commands: [
                (["doorstep audit --tenant \(tenant.slug)"]
                    + AuditEntry.filters.compactMap { name in
                        filter[name].map { "--\(name) \($0.shellQuoted)" }
                    }).joined(separator: " ")
            ]
        ) { main in
            main.element(.form, .class("filter"), .action(HTMLLink(.audit, of: tenant))) { form in
                for (name, label) in [("relation", "Table"), ("actor", "Actor")] {
                    form.element(.div, .class("field")) { div in
                        div.element(.label, .for(name), text: label)
                        div.void(
                            .input, .id(name), .name(name), .type("text"), .value(filter[name] ?? ""),
                            .autocomplete("off"), .spellcheck(false), .maxlength(256))
                    }
                }
                form.element(.button, text: "Filter")
            }
            if !shown.isEmpty {
                main.entries(
                    shown, caption: "Changes, newest first", restoredIn: request.mayChange ? tenant : nil)
            } else if let next {
                main.element(.p, text: "No entries match down to entry \(next). Older entries may match.")
            } else {
                main.element(.p, text: "No entries match.")
            }
            let query = AuditEntry.filters.map { ($0, filter[$0]) }
            main.element(.p, .class("paging")) { p in
                if !isFirst {
                    p.element(.a, .href(HTMLLink(.audit, of: tenant, query: query)), text: "Newest")
                }
                if let next {
                    p.element(
                        .a, .href(HTMLLink(.audit, of: tenant, query: query + [("before", "\(next)")])),
                        text: "Older")
                }
            }
        }
    }
}

extension HTMLWriter {
    /// Entries of an audit log with their changes.
    /// - Parameter tenant: The tenant whose items the entries can restore; nil for no links.
    mutating func entries(_ entries: [AuditEntry], caption: String, restoredIn tenant: Tenant?) {
        table(caption, columns: ["Time", "Actor", "Change", "Before and after"]) { rows in
            for entry in entries {
                rows.element(.tr) { row in
                    row.element(.td) { $0.time(entry.at) }
                    row.element(.td) { td in
                        td.name(entry.actor)
                        td.element(.small, .class("quiet-text"), text: " login \(entry.login)")
                    }
                    row.element(.td, text: "\(entry.action.rawValue) \(entry.relation)")
                    row.element(.td) { td in
                        td.changes(of: entry)
                        guard let link = tenant.flatMap(entry.restoration) else { return }
                        td.element(
                            .a, .href(link), .ariaLabel("\(entry.restorationText), entry \(entry.id)"),
                            text: entry.restorationText)
                    }
                }
            }
        }
    }

    private mutating func changes(of entry: AuditEntry) {
        element(.dl, .class("changes")) { list in
            for (column, before, after) in entry.changes {
                // Omits empty values of rows that were created or deleted.
                if entry.before == nil || entry.after == nil, (after ?? before)?.isEmptyValue == true {
                    continue
                }
                list.element(.dt, text: column)
                list.element(.dd) { dd in
                    if let before, entry.after != nil {
                        dd.value(before)
                        dd.text(" → ")
                    }
                    if let value = after ?? before { dd.value(value) }
                }
            }
        }
    }
}

extension JSONValue {
    fileprivate var isEmptyValue: Bool { self == .null || objectValue?.isEmpty == true }
}
