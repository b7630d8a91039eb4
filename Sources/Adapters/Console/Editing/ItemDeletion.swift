import Administration
import Formats
import HTTPTypes
import Persistence
import Tenancy

/// Deletes an item of one kind, also together with the items that refer to it.
struct ItemDeletion<Item: EditableItem>: Sendable {
    private let findings: FindingsCache

    init(_ findings: FindingsCache) {
        self.findings = findings
    }

    @Sendable func form(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        guard let item = try await request.itemInPath(Item.self, of: tenant) else {
            throw ConsoleRefusal.notFound
        }
        return .page(page(request, tenant, item))
    }

    @Sendable func delete(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        guard let item = try await request.itemInPath(Item.self, of: tenant) else {
            throw ConsoleRefusal.notFound
        }
        try request.requireChange()
        let (version, isCascade) = (request.form["version"], request.form["cascade"] != nil)
        do {
            _ = try await request.store(Item.self).delete(
                item.key, of: tenant.id, by: request.session.access.actor, cascade: isCascade
            ) { current in
                guard current.version == version else { throw Changed(now: current) }
            }
            await findings.forget(tenant.id)
            return .seeOther(HTMLLink(Item.section, of: tenant, query: [("deleted", "1")]))
        } catch let error as Changed {
            var page = page(
                request, tenant, error.now,
                error: "This \(Item.noun) has changed since you opened it. Nothing was deleted.")
            page.status = .conflict
            return .page(page)
        } catch AdministrationError.inUse(_, let dependents) {
            var page = page(request, tenant, item, dependents: dependents)
            page.status = .conflict
            return .page(page)
        }
    }

    /// Another user has changed the item since the form was shown.
    private struct Changed: Error {
        let now: Item
    }

    private func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ item: Item, dependents: [Dependents] = [],
        error: String? = nil
    ) -> Page {
        let command = "doorstep \(Item.commandName) delete --tenant \(tenant.slug) \(item.commandArguments)"
        return Page(
            title: "Delete \(item.heading)?", tenant: tenant, section: Item.section,
            commands: [dependents.isEmpty ? command : command + " --cascade"]
        ) { main in
            if let error { main.element(.p, .class("error"), .role("alert"), text: error) }
            if !dependents.isEmpty {
                main.element(.div, .class("error"), .role("alert")) { div in
                    div.element(.p, text: "Nothing was deleted. These items refer to this \(Item.noun):")
                    div.element(.ul) { list in
                        for found in dependents { list.element(.li) { $0.name(found.description) } }
                    }
                }
            }
            main.element(
                .p,
                text: "Servers stop using this \(Item.noun) within a second. "
                    + (dependents.isEmpty
                        ? "You can add it again from the audit log."
                        : "From the audit log, you can add locations, experiences, short codes and App Clips again, but no instances, channels or App Store connections.")
            )
            main.facts(of: item)
            guard request.mayChange else { return main.readOnlyHint() }
            main.element(
                .form, .post, .action(HTMLLink(item: item.key, Item.self, of: tenant, "delete"))
            ) { form in
                form.hiddenField("version", item.version)
                if !dependents.isEmpty { form.hiddenField("cascade", "1") }
                form.element(.p) { p in
                    p.element(
                        .button, .class("danger"),
                        text: dependents.isEmpty
                            ? "Delete the \(Item.noun)" : "Delete the \(Item.noun) and all these items")
                    p.text(" ")
                    p.element(.a, .href(HTMLLink(item: item.key, Item.self, of: tenant)), text: "Cancel")
                }
            }
        }
    }
}

extension HTMLWriter {
    /// The fields of an item that have a value.
    mutating func facts<Item: EditableItem>(of item: Item) {
        let draft = ItemDraft(item)
        facts(
            draft.inputs.filter { !draft[$0.name].isEmpty }.map { input in
                (
                    input.label,
                    { dd in
                        dd.element(.span, .class("lines")) { $0.name(input.title(of: draft[input.name])) }
                    }
                )
            })
    }

    /// Links to edit and delete an item, for sessions that may.
    mutating func changes<Item: EditableItem>(of item: Item, _ request: ConsoleRequest, _ tenant: Tenant) {
        guard request.mayChange else { return }
        element(.p, .class("actions")) { p in
            p.element(
                .a, .class("button"), .href(HTMLLink(item: item.key, Item.self, of: tenant, "edit")),
                .data("key", "e"), text: "Edit")
            p.element(
                .a, .class("button"), .href(HTMLLink(item: item.key, Item.self, of: tenant, "delete")),
                text: "Delete")
        }
    }

    /// A link to the form of a new item, for sessions that may.
    mutating func addition<Item: EditableItem>(
        of _: Item.Type, _ request: ConsoleRequest, _ tenant: Tenant, query: [(String, String?)] = []
    ) {
        guard request.mayChange else { return }
        element(.p) { p in
            p.element(
                .a, .class("button"), .href(HTMLLink(adding: Item.self, to: tenant, query: query)),
                text: "Add \(Item.noun.withArticle)")
        }
    }
}

extension ConsoleRequest {
    /// The notice after an item was saved or deleted; nil for none.
    var changeNotice: String? {
        if query["saved"] != nil { return "Saved. Lookups follow within a second." }
        return query["deleted"].map { _ in "Deleted. Lookups follow within a second." }
    }
}
