import Administration
import Formats
import Foundation
import HTTPTypes
import Invocation
import Persistence
import Tenancy

/// A tenant's API keys, and the form that creates one.
struct KeysPage: Sendable {
    private let forms: SubmittedForms

    /// The maximum number of keys on the page. [ours]
    private static let listLength = 200

    init(_ forms: SubmittedForms) {
        self.forms = forms
    }

    @Sendable func index(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        return .page(try await page(request, tenant, KeyDraft()))
    }

    @Sendable func create(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        var draft = KeyDraft(request.form)
        guard let scopes = draft.checked() else { return .page(try await page(request, tenant, draft)) }
        do {
            let checked = draft
            let (key, record) = try await forms.once(request) {
                try await request.stores.administration.keys.create(
                    checked.kind, by: APIKey.generate, named: checked.displayName,
                    scopes: scopes.isEmpty ? nil : scopes,
                    locations: checked.identifiers,
                    expiresAt: checked.days.map { request.now.addingTimeInterval($0 * 86_400) },
                    by: request.actor, of: tenant.id)
            }
            return .page(shown(key, record, request, tenant, "Key created"))
        } catch let error as AdministrationError where error.code == "unknown_location" {
            draft.errors["locations"] = "\(error)".capitalizedSentence + "."
            return .page(try await page(request, tenant, draft))
        }
    }

    /// The direct response to the form. The key is in no URL, and a reload is refused.
    func shown(
        _ key: APIKey, _ record: KeyRecord, _ request: ConsoleRequest, _ tenant: Tenant, _ title: String
    ) -> Page {
        Page(
            title: title, tenant: tenant, section: .keys,
            commands: ["doorstep key show --tenant \(tenant.slug) \(record.id)"]
        ) { main in
            main.secret(
                key.text,
                "Save this key now. Doorstep stores only its SHA-256 and cannot show it again."
            )
            main.keyFacts(record, at: request.now)
            main.element(.p) { p in
                p.element(.a, .href(HTMLLink(.keys, of: tenant)), text: "I have saved the key – done")
            }
        }
    }

    private func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ draft: KeyDraft
    ) async throws -> Page {
        let keys = try await request.stores.administration.newestKeys(
            of: tenant.id, limit: Self.listLength + 1)
        var page = Page(
            title: "Keys", tenant: tenant, section: .keys,
            commands: [
                "doorstep key list --tenant \(tenant.slug)",
                "doorstep key create --tenant \(tenant.slug) \(draft.arguments)",
            ],
            notice: request.query["revoked"] == nil ? nil : "Key revoked. Servers refuse it within a second."
        ) { main in
            main.errors(
                [
                    ("Name", draft.errors["name"]), ("Permissions", draft.errors["scopes"]),
                    ("Locations", draft.errors["locations"]),
                    ("Lifetime", draft.errors["days"]),
                ])
            Self.list(keys, tenant, at: request.now, &main)
            main.element(.h2, .id("create"), text: "Create a key")
            if request.mayChange { Self.form(draft, tenant, &main) } else { main.readOnlyHint() }
        }
        if !draft.errors.isEmpty { page.status = .unprocessableContent }
        return page
    }

    private static func list(
        _ keys: [KeyRecord], _ tenant: Tenant, at now: Date, _ html: inout HTMLWriter
    ) {
        guard !keys.isEmpty else {
            return html.element(.p, text: "No keys yet. Apps and servers need a key to call the API.")
        }
        let columns = [
            "Key", "Name", "Kind", "Scopes", "Restricted to", "Created", "Last used", "Expires", "Status",
        ]
        let shown = keys.prefix(listLength)
        html.table(
            keys.count == 1
                ? "1 key" : "\(shown.count.grouped) keys: active keys first, then newest first",
            columns: columns
        ) { rows in
            for key in shown {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { th in
                        th.element(
                            .a, .class("row"),
                            .href(HTMLLink(.keys, of: tenant, key.id.description))
                        ) { $0.element(.code, text: key.hint + "…") }
                    }
                    row.element(.td) { td in
                        if let name = key.name { td.name(name.text) }
                    }
                    row.element(.td, text: key.kind.rawValue)
                    row.element(.td, text: key.scopes.list.map(\.rawValue).joined(separator: ", "))
                    row.element(.td) { $0.restriction(of: key) }
                    row.element(.td) { $0.time(key.createdAt) }
                    row.element(.td, text: key.lastUsedOn ?? "never")
                    row.element(.td) { td in
                        if let end = key.expiresAt { td.time(end) } else { td.text("never") }
                    }
                    row.element(.td) { $0.status(of: key, at: now) }
                }
            }
        }
        if keys.count > listLength {
            html.element(.p, .class("hint"), text: "Showing \(listLength). The command lists all keys.")
        }
    }

    private static func form(_ draft: KeyDraft, _ tenant: Tenant, _ html: inout HTMLWriter) {
        html.element(.form, .class("stack"), .post, .action(HTMLLink(.keys, of: tenant))) { form in
            form.formNumber()
            form.field(
                "Name", name: "name", value: draft.name, hint: "Purpose of the key.",
                error: draft.errors["name"], isRequired: false)
            form.element(.div, .class("field")) { div in
                div.element(.label, .for("kind"), text: "Kind")
                div.element(.select, .id("kind"), .name("kind"), .ariaDescribedby("kind-hint")) { select in
                    for kind in KeyKind.allCases {
                        select.element(
                            .option, .value(kind.rawValue), kind == draft.kind ? .selected : nil,
                            text: kind.rawValue)
                    }
                }
                div.element(
                    .p, .id("kind-hint"), .class("hint"),
                    text: "Publishable keys may ship in apps. Keep secret keys on servers.")
            }
            form.element(
                .div, .class("field"), .role("group"), .ariaLabelledby("scopes"),
                draft.errors["scopes"].map { _ in .ariaDescribedby("scopes-error") }
            ) { div in
                div.element(
                    .p, .id("scopes"), text: "Permissions (none selected = the default for this kind)")
                for scope in Scope.allCases {
                    div.tick(
                        scope.rawValue, name: "scope.\(scope.rawValue)", isOn: draft.scopes.contains(scope))
                }
                if let error = draft.errors["scopes"] {
                    div.element(.p, .id("scopes-error"), .class("error"), text: error)
                }
            }
            form.element(.div, .class("field")) { div in
                div.element(.label, .for("locations"), text: "Restricted to these locations, one per line")
                div.element(
                    .textarea, .id("locations"), .name("locations"), .rows(3), .spellcheck(false),
                    draft.errors["locations"].map { _ in .ariaInvalid },
                    .ariaDescribedby(
                        draft.errors["locations"] == nil ? "locations-hint" : "locations-hint locations-error"
                    ),
                    text: draft.locations)
                div.element(
                    .p, .id("locations-hint"), .class("hint"),
                    text:
                        "Location identifiers. Empty = all locations. Only for secret keys without permission to register or manage."
                )
                if let error = draft.errors["locations"] {
                    div.element(.p, .id("locations-error"), .class("error"), text: error)
                }
            }
            form.field(
                "Lifetime in days", name: "days", value: draft.lifetime, hint: "Empty = never expires",
                error: draft.errors["days"], inputmode: "decimal", isRequired: false)
            form.element(.p) { $0.element(.button, .class("main"), text: "Create and show the key once") }
        }
    }
}

extension HTMLWriter {
    mutating func restriction(of key: KeyRecord) {
        guard let locations = key.locations else { return text("All locations") }
        let identifiers = locations.map(\.text).sorted()
        name(identifiers.prefix(3).joined(separator: ", "))
        if identifiers.count > 3 { text(" and \(identifiers.count - 3) more") }
    }

    mutating func status(of key: KeyRecord, at now: Date) {
        let status = key.status(at: now)
        element(.span, .class("status \(status == .active ? "ok" : "unknown")")) { span in
            span.element(.span, .ariaHidden, text: status == .active ? "✓ " : "– ")
            span.text(status.rawValue)
        }
    }

    /// The data of a key.
    mutating func keyFacts(_ key: KeyRecord, at now: Date) {
        let facts: [(String, (inout HTMLWriter) -> Void)] = [
            ("Name", { dd in if let name = key.name { dd.name(name.text) } else { dd.text("none") } }),
            ("ID", { $0.element(.code, text: key.id.description) }),
            ("Begins with", { $0.element(.code, text: key.hint) }), ("Kind", { $0.text(key.kind.rawValue) }),
            ("Permissions", { $0.text(key.scopes.list.map(\.rawValue).joined(separator: ", ")) }),
            (
                "Restricted to",
                {
                    $0.name(
                        key.locations.map { $0.map(\.text).sorted().joined(separator: ", ") }
                            ?? "All locations")
                }
            ),
            ("Created", { $0.time(key.createdAt) }), ("Last used", { $0.text(key.lastUsedOn ?? "never") }),
            ("Expires", { dd in if let end = key.expiresAt { dd.time(end) } else { dd.text("never") } }),
            ("Status", { $0.status(of: key, at: now) }),
        ]
        self.facts(facts)
    }
}
