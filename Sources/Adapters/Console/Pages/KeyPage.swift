import Administration
import Formats
import Foundation
import HTTPTypes
import Invocation
import Persistence
import Tenancy

/// One key: its data, rotation and revocation.
struct KeyPage: Sendable {
    private let list: KeysPage
    private let forms: SubmittedForms

    init(_ list: KeysPage, _ forms: SubmittedForms) {
        self.list = list
        self.forms = forms
    }

    @Sendable func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        return .page(page(request, tenant, try await key(request, tenant)))
    }

    @Sendable func rotate(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let key = try await key(request, tenant)
        let text = request.form["overlap"] ?? ""
        guard let hours = Double(decimal: text), APIKey.overlaps.contains(hours) else {
            return .page(
                page(request, tenant, key, overlap: text, overlapError: "Enter hours from 0 to 8760."))
        }
        let (successor, record) = try await forms.once(request) {
            try await request.stores.administration.keys.rotate(
                key.id, by: APIKey.generate,
                oldExpiresAt: request.now.addingTimeInterval(hours * 3_600), by: request.actor,
                of: tenant.id)
        }
        return .page(list.shown(successor, record, request, tenant, "Key rotated"))
    }

    @Sendable func rename(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let key = try await key(request, tenant)
        _ = try await request.stores.administration.keys.update(
            key.id, KeyChange(name: .some(try request.form.displayName())), by: request.actor, of: tenant.id)
        return .seeOther(HTMLLink(.keys, of: tenant, key.id.description, query: [("renamed", "1")]))
    }

    /// The user types the beginning of the key, to prevent that a slip revokes another key of the list.
    @Sendable func revoke(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let key = try await key(request, tenant)
        guard request.form["hint"] == key.hint else {
            return .page(
                page(
                    request, tenant, key,
                    hintError: "The key does not begin with this. It was not revoked. Type \(key.hint)."))
        }
        _ = try await request.stores.administration.keys.revoke(
            key.id, by: request.actor, of: tenant.id)
        return .seeOther(HTMLLink(.keys, of: tenant, query: [("revoked", "1")]))
    }

    private func key(_ request: ConsoleRequest, _ tenant: Tenant) async throws -> KeyRecord {
        guard let uuid = request.path["id"].flatMap({ UUID(uuidString: $0) }),
            let key = try await request.stores.administration.keys.key(KeyID(uuid), of: tenant.id)
        else { throw ConsoleRefusal.notFound }
        return key
    }

    private func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ key: KeyRecord, overlap: String? = nil,
        overlapError: String? = nil, hintError: String? = nil
    ) -> Page {
        let isActive = key.status(at: request.now) == .active
        let commands = [
            "doorstep key show --tenant \(tenant.slug) \(key.id)",
            "doorstep key update --tenant \(tenant.slug) \(key.id) --name \((key.name?.text ?? "").shellQuoted)",
            "doorstep key rotate --tenant \(tenant.slug) \(key.id) --overlap \((overlap ?? Self.usualOverlap).shellQuoted)",
            "doorstep key delete --tenant \(tenant.slug) \(key.id)",
        ]
        var page = Page(
            title: key.name?.text ?? "Key \(key.hint)…", tenant: tenant, section: .keys,
            commands: isActive ? commands : [commands[0]],
            notice: request.query["renamed"] == nil ? nil : "Saved."
        ) { main in
            main.errors([("Overlap", overlapError), ("Beginning of the key", hintError)])
            main.keyFacts(key, at: request.now)
            guard isActive else { return }
            guard request.mayChange else { return main.readOnlyHint() }
            main.nameForm(key, tenant)
            main.rotationForm(key, tenant, overlap: overlap ?? Self.usualOverlap, error: overlapError)
            main.revocationForm(key, tenant, error: hintError)
        }
        if overlapError != nil || hintError != nil { page.status = .unprocessableContent }
        return page
    }

    private static let usualOverlap = "\(Int(APIKey.usualOverlap))"
}

extension HTMLWriter {
    fileprivate mutating func nameForm(_ key: KeyRecord, _ tenant: Tenant) {
        element(.h2, text: "Name this key")
        element(
            .form, .class("stack"), .post, .action(HTMLLink(.keys, of: tenant, key.id.description, "name"))
        ) { form in
            form.field(
                "Name", name: "name", value: key.name?.text ?? "",
                hint: "Purpose of the key. Empty = no name", isRequired: false)
            form.element(.p) { $0.element(.button, text: "Save the name") }
        }
    }

    fileprivate mutating func rotationForm(
        _ key: KeyRecord, _ tenant: Tenant, overlap: String, error: String?
    ) {
        element(.h2, text: "Rotate this key")
        element(
            .p,
            text:
                "Doorstep creates a new key with the same name and permissions, and shows it once. Both keys work during the overlap."
        )
        element(
            .form, .class("stack"), .post, .action(HTMLLink(.keys, of: tenant, key.id.description, "rotate"))
        ) { form in
            form.formNumber()
            form.field(
                "Overlap in hours", name: "overlap", value: overlap, error: error, inputmode: "decimal")
            form.element(.p) { $0.element(.button, text: "Rotate and show the new key once") }
        }
    }

    fileprivate mutating func revocationForm(_ key: KeyRecord, _ tenant: Tenant, error: String?) {
        element(.h2, text: "Revoke this key")
        element(
            .p,
            text:
                "Servers refuse a revoked key within a second. Clients that use it stop working. You cannot undo this."
        )
        element(
            .form, .class("stack"), .post, .action(HTMLLink(.keys, of: tenant, key.id.description, "revoke"))
        ) { form in
            form.field(
                "Type the beginning of the key to confirm", name: "hint", value: "", hint: key.hint,
                error: error)
            form.element(.p) { $0.element(.button, .class("danger"), text: "Revoke") }
        }
    }
}
