import Administration
import Crypto
import Formats
import Foundation
import HTTPTypes
import Lookups
import Persistence
import Tenancy

/// Creates and changes items of one kind: form, review of the effects, save.
struct ItemEditor<Item: EditableItem>: Sendable {
    private let findings: FindingsCache
    private let table: LiveLookupIndex
    private let hasMap: Bool

    init(_ findings: FindingsCache, table: LiveLookupIndex, hasMap: Bool) {
        self.findings = findings
        self.table = table
        self.hasMap = hasMap
    }

    /// The step that a form asks for.
    private enum Step: String {
        case form
        case review
        case save
    }

    // MARK: New items

    /// The form of a new item. `entry` in the query fills it with the values of a deleted item.
    @Sendable func newForm(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let earlier = try await request.earlierState(Item.self, of: tenant, request.query["entry"])
        return .page(try await newPage(request, tenant, Self.newDraft(request.query, from: earlier)))
    }

    /// - Parameter earlier: the deleted item that is added again; nil for none.
    private static func newDraft(_ fields: FormFields, from earlier: Item?) -> ItemDraft<Item> {
        earlier.map { ItemDraft(restoring: $0, in: nil, fields) } ?? ItemDraft(fields)
    }

    @Sendable func create(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        try request.requireChange()
        let earlier = try await request.earlierState(Item.self, of: tenant, request.form["entry"])
        var draft = Self.newDraft(request.form, from: earlier)
        if let item = draft.made(from: nil) {
            // A clip that required attestation requires it again, although its attested requests are deleted.
            let isAgain = earlier.map { Item.name(of: $0.key) == Item.name(of: item.key) } ?? false
            do {
                _ = try await request.store(Item.self).change(
                    item.key, of: tenant.id, by: request.session.access.actor, force: isAgain
                ) { current in
                    guard current == nil else { throw Item.existing(item.key) }
                    return item
                }
                await findings.forget(tenant.id)
                return .seeOther(HTMLLink(item: item.key, Item.self, of: tenant, query: [("saved", "1")]))
            } catch let error where Self.isRefusal(error) {
                draft.refuse(error, in: Self.field(of: error))
            }
        }
        var page = try await newPage(request, tenant, draft)
        page.status = .unprocessableContent
        return .page(page)
    }

    private func newPage(
        _ request: ConsoleRequest, _ tenant: Tenant, _ draft: ItemDraft<Item>
    ) async throws -> Page {
        let choices = try await Item.choices(in: request.stores.administration.items, of: tenant.id)
        return Page(
            title: "Add \(Item.noun.withArticle)", tenant: tenant, section: Item.section,
            commands: [draft.completed(by: Item.example).command(for: nil, of: tenant.slug.text)].compactMap(
                \.self),
            hasMap: hasMap && Item.hasMap
        ) { main in
            guard request.mayChange else { return main.readOnlyHint() }
            main.errors(of: draft)
            main.element(.div, .class(Item.hasMap ? "beside place" : "alone")) { div in
                div.element(
                    .form, .class("stack"), .post, .action(HTMLLink(adding: Item.self, to: tenant))
                ) { form in
                    if let entry = request.form["entry"] ?? request.query["entry"] {
                        form.hiddenField("entry", entry)
                    }
                    form.inputs(of: draft, choices)
                    form.element(.p) { p in
                        p.element(.button, .class("main"), text: "Add the \(Item.noun)")
                        p.text(" ")
                        p.element(.a, .href(HTMLLink(Item.section, of: tenant)), text: "Cancel")
                    }
                }
                if self.hasMap, Item.hasMap { LocationPage.mapOfNewLocation(of: tenant, &div) }
            }
        }
    }

    // MARK: Changes

    /// The form; the review if the query has values of inputs, or an `entry` of the audit log to restore.
    @Sendable func form(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        guard let item = try await request.itemInPath(Item.self, of: tenant) else {
            // A deleted item is added again.
            guard let entry = request.query["entry"] else { throw ConsoleRefusal.notFound }
            return .seeOther(HTMLLink(adding: Item.self, to: tenant, query: [("entry", entry)]))
        }
        if let earlier = try await request.earlierState(Item.self, of: tenant, request.query["entry"]) {
            return .page(
                try await reviewPage(request, tenant, item, ItemDraft(restoring: earlier, in: item)))
        }
        let isFilled = ItemDraft(item).inputs.contains { request.query.has($0.name) }
        return .page(
            try await page(
                request, tenant, item, ItemDraft(item, request.query), isFilled ? .review : .form))
    }

    /// Shows the form or the review again, or saves.
    @Sendable func submit(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        guard let item = try await request.itemInPath(Item.self, of: tenant) else {
            throw ConsoleRefusal.notFound
        }
        try request.requireChange()
        let step = request.form["step"].flatMap(Step.init) ?? .save
        let draft = ItemDraft(item, request.form, isExact: step != .review)
        switch step {
        case .save: return try await save(request, tenant, item, draft)
        case .review where request.form["version"] != item.version:
            return .page(conflict(tenant, item, draft))
        case .form, .review: return .page(try await page(request, tenant, item, draft, step))
        }
    }

    private func save(
        _ request: ConsoleRequest, _ tenant: Tenant, _ item: Item, _ sent: ItemDraft<Item>
    ) async throws -> ConsoleResponse {
        var draft = sent
        guard draft.made(from: item) != nil else {
            return .page(try await formPage(request, tenant, item, draft))
        }
        let version = request.form["version"]
        do {
            let form = request.form
            _ = try await request.store(Item.self).change(
                item.key, of: tenant.id, by: request.session.access.actor
            ) { current in
                guard let current else { throw Item.unknown(item.key) }
                guard current.version == version else { throw Changed(now: current) }
                var draft = ItemDraft(current, form, isExact: true)
                return draft.made(from: current) ?? current
            }
        } catch let error as Changed {
            return .page(conflict(tenant, error.now, ItemDraft(error.now, request.form, isExact: true)))
        } catch let error where Self.isRefusal(error) {
            draft.refuse(error, in: Self.field(of: error))
            return .page(try await formPage(request, tenant, item, draft))
        }
        await findings.forget(tenant.id)
        return .seeOther(HTMLLink(item: item.key, Item.self, of: tenant, query: [("saved", "1")]))
    }

    /// Another user has changed the item since the form was shown.
    private struct Changed: Error {
        let now: Item
    }

    private static func isRefusal(_ error: any Error) -> Bool {
        error is AdministrationError || error is QuotaExceeded
    }

    /// The field to which a refusal refers; "" for none.
    private static func field(of error: any Error) -> String {
        switch error as? AdministrationError {
        case .unknownLocation: "location"
        case .unknownClip: "clip"
        case .unknownImage: "card.image"
        case .experienceExists: "url"
        case .clipExists: "bundleID"
        case .locationExists: "identifier"
        case .itemExists: Item.fields.first { $0.kind == .key }?.name ?? ""
        case .secondDefaultExperience: "kind"
        default: ""
        }
    }

    // MARK: Pages

    /// The form, or the review if the draft is valid.
    private func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ item: Item, _ draft: ItemDraft<Item>, _ step: Step
    ) async throws -> Page {
        step == .review
            ? try await reviewPage(request, tenant, item, draft)
            : try await formPage(request, tenant, item, draft)
    }

    private func frame(
        _ title: String, _ tenant: Tenant, _ item: Item, _ draft: ItemDraft<Item>,
        body: @escaping (inout HTMLWriter) -> Void
    ) -> Page {
        let show = "doorstep \(Item.commandName) show --tenant \(tenant.slug) \(item.commandArguments)"
        return Page(
            title: "\(title) \(item.heading)", tenant: tenant, section: Item.section,
            commands: [draft.command(for: item, of: tenant.slug.text) ?? show],
            hasMap: hasMap && Item.hasMap, body: body)
    }

    private func formPage(
        _ request: ConsoleRequest, _ tenant: Tenant, _ item: Item, _ draft: ItemDraft<Item>
    ) async throws -> Page {
        let choices = try await Item.choices(in: request.stores.administration.items, of: tenant.id)
        let version = request.form["version"] ?? item.version
        var page = frame("Edit", tenant, item, draft) { main in
            guard request.mayChange else { return main.readOnlyHint() }
            main.errors(of: draft)
            main.element(.div, .class(Item.hasMap ? "beside place" : "alone")) { div in
                div.element(
                    .form, .class("stack"), .post,
                    .action(HTMLLink(item: item.key, Item.self, of: tenant, "edit"))
                ) { form in
                    form.hiddenField("step", Step.review.rawValue)
                    form.hiddenField("version", version)
                    form.seen(draft)
                    form.inputs(of: draft, choices)
                    form.element(.p) { p in
                        p.element(.button, .class("main"), text: "Review changes")
                        p.text(" ")
                        p.element(
                            .a, .href(HTMLLink(item: item.key, Item.self, of: tenant)), text: "Cancel")
                    }
                }
                if self.hasMap { item.map(for: .edit, changed: nil, &div) }
            }
        }
        if !draft.errors.isEmpty { page.status = .unprocessableContent }
        return page
    }

    private func reviewPage(
        _ request: ConsoleRequest, _ tenant: Tenant, _ item: Item, _ reviewed: ItemDraft<Item>
    ) async throws -> Page {
        var draft = reviewed
        guard let changed = draft.made(from: item) else {
            return try await formPage(request, tenant, item, draft)
        }
        let meaning = try await item.meaning(
            of: changed, request, tenant, in: table.current?.table(of: tenant.id))
        let shown = draft
        return frame("Review", tenant, item, shown) { main in
            main.hiddenFields(of: shown)
            guard changed.json != item.json else {
                main.element(.p, text: "No changes.")
                main.element(.p) { p in
                    p.element(
                        .a, .href(HTMLLink(item: item.key, Item.self, of: tenant)),
                        text: "Back to the \(Item.noun)")
                }
                return
            }
            main.differences(shown)
            meaning(&main)
            if self.hasMap { item.map(for: .review, changed: changed, &main) }
            main.element(.div, .class("actions")) { actions in
                Self.send(shown, item, tenant, .save, "Save", &actions)
                Self.send(shown, item, tenant, .form, "Back to the form", &actions)
            }
        }
    }

    /// A form with the draft's values, and a button that sends it.
    private static func send(
        _ draft: ItemDraft<Item>, _ item: Item, _ tenant: Tenant, _ step: Step, _ text: String,
        _ html: inout HTMLWriter
    ) {
        html.element(.form, .post, .action(HTMLLink(item: item.key, Item.self, of: tenant, "edit"))) { form in
            for (name, value) in draft.values { form.hiddenField(name, value) }
            form.seen(draft)
            form.hiddenField("version", item.version)
            form.hiddenField("step", step.rawValue)
            form.element(.button, step == .save ? .class("main") : nil, text: text)
        }
    }

    private func conflict(_ tenant: Tenant, _ now: Item, _ draft: ItemDraft<Item>) -> Page {
        var page = frame("Edit conflict:", tenant, now, draft) { main in
            main.element(
                .p, .class("error"), .role("alert"),
                text: "This \(Item.noun) has changed since you opened it. Your changes were not saved.")
            main.differences(draft)
            main.hiddenFields(of: draft)
            main.element(.div, .class("actions")) { actions in
                Self.send(
                    draft, now, tenant, .review, "Review your changes against the current values", &actions)
                actions.element(
                    .a, .href(HTMLLink(item: now.key, Item.self, of: tenant)), text: "Discard your changes")
            }
        }
        page.status = .conflict
        return page
    }
}

extension EditableItem {
    /// Differs for each state of an item.
    var version: String {
        Base16.text(SHA256.hash(data: JSONValue.object(json).serialized()).prefix(16))
    }
}

extension HTMLWriter {
    fileprivate mutating func errors<Item>(of draft: ItemDraft<Item>) {
        let named = draft.inputs.map { ($0.label, draft.errors[$0.name]) }
        errors(named + [(Item.noun.capitalizedSentence, draft.errors[""])])
    }

    fileprivate mutating func inputs<Item>(
        of draft: ItemDraft<Item>, _ choices: [String: [FormInput.Choice]]
    ) {
        for var input in draft.inputs {
            let value = draft[input.name]
            if var values = choices[input.name] {
                if !values.contains(where: { $0.value == value }), !value.isEmpty {
                    values.append(FormInput.Choice(value: value, title: value))
                }
                input.kind = .choice(values)
            }
            self.input(input, value: value, error: draft.errors[input.name])
        }
        hiddenFields(of: draft)
    }

    fileprivate mutating func hiddenFields<Item>(of draft: ItemDraft<Item>) {
        for field in draft.hiddenFields {
            element(
                .p, .class("hint"),
                text: "\(field): this form cannot show the value. Change it with the command.")
        }
    }

    /// The texts that the person has seen, by which the console knows what the person changed.
    fileprivate mutating func seen<Item>(_ draft: ItemDraft<Item>) {
        for (name, text) in draft.seen {
            hiddenField(FormInput.seenPrefix + name, text)
        }
    }

    /// The old and the new text of each changed input.
    fileprivate mutating func differences<Item>(_ draft: ItemDraft<Item>) {
        table("Changes", columns: ["Field", "Current", "New"]) { rows in
            for (input, old, new) in draft.changes {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row"), text: input.label)
                    row.element(.td, .class("lines")) { $0.name(input.title(of: old)) }
                    row.element(.td, .class("lines")) { $0.name(input.title(of: new)) }
                }
            }
        }
    }
}

extension ConsoleRequest {
    /// - Throws: ``ConsoleRefusal/notFound`` if the console does not have the kind.
    func store<Item: EditableItem>(_: Item.Type) throws -> any CatalogueStore<Item> {
        guard let store = Item.store(in: stores.administration.items) else { throw ConsoleRefusal.notFound }
        return store
    }

    /// The item in the path.
    func itemInPath<Item: EditableItem>(_: Item.Type, of tenant: Tenant) async throws -> Item? {
        guard let key = path["id"].flatMap({ Item.key(named: String(pathComponent: $0)) }) else { return nil }
        return try await store(Item.self).item(key, of: tenant.id)
    }

    /// The item before the change in the audit log with an ID; nil without an ID.
    /// - Throws: ``ConsoleRefusal`` if there is no such change of an item of this kind, or of the item in the path.
    func earlierState<Item: EditableItem>(
        _: Item.Type, of tenant: Tenant, _ entry: String?
    ) async throws -> Item? {
        guard let text = entry else { return nil }
        guard let id = Int(text), id < .max,
            let entry = try await stores.administration.auditLog.page(
                of: tenant.id, before: id + 1, limit: 1, where: [:]
            ).entries.first, entry.id == id, let item = entry.itemBefore(Item.self),
            path["id"].map({ Item.name(of: item.key).pathComponent == $0 }) != false
        else {
            throw ConsoleRefusal.malformed("The audit log has no earlier state of this \(Item.noun) there.")
        }
        return item
    }
}
