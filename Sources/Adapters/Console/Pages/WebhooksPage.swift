import Administration
import Formats
import Foundation
import HTTPTypes
import Invocation
import Notifications
import Tenancy

/// A tenant's webhooks, and the form that registers one.
struct WebhooksPage: Sendable {
    private let forms: SubmittedForms

    init(_ forms: SubmittedForms) {
        self.forms = forms
    }

    @Sendable func index(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        guard let registry = request.stores.webhooks else { return .page(Self.unconfigured(tenant)) }
        return .page(try await page(request, tenant, registry, Draft()))
    }

    @Sendable func create(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        guard let registry = request.stores.webhooks else { return .page(Self.unconfigured(tenant)) }
        var draft = Draft(request.form)
        guard let url = draft.checked() else {
            return .page(try await page(request, tenant, registry, draft))
        }
        let secret = WebhookSecret.generate()
        let (name, events) = (draft.displayName, draft.events)
        let webhook = try await forms.once(request) {
            try await registry.create(
                Webhook(url: url, secret: secret), named: name, events: events, of: tenant.id,
                by: request.session.access.actor)
        }
        return .page(shown(secret, webhook, tenant, "Webhook created"))
    }

    /// The direct response to the form. The secret is in no URL, and a reload is refused.
    func shown(
        _ secret: WebhookSecret, _ webhook: RegisteredWebhook, _ tenant: Tenant, _ title: String
    ) -> Page {
        let id = webhook.id.description
        return Page(
            title: title, tenant: tenant, section: .webhooks,
            commands: ["doorstep webhook show --tenant \(tenant.slug) \(id)"]
        ) { main in
            main.secret(
                secret.text,
                "Doorstep signs messages with this secret by Standard Webhooks. It is stored encrypted and shown once. Save it now."
            )
            main.element(.p) { p in
                p.element(
                    .a, .href(HTMLLink(.webhooks, of: tenant, id)), text: "I have saved the secret – done")
            }
        }
    }

    static func unconfigured(_ tenant: Tenant) -> Page {
        Page(
            title: "Webhooks", tenant: tenant, section: .webhooks,
            commands: ["doorstep webhook list --tenant \(tenant.slug)"]
        ) { main in
            main.element(
                .p,
                text: """
                    Webhook secrets are stored encrypted. Start the console with the server's DOORSTEP_TOKEN_SECRET.
                    """)
        }
    }

    private func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ registry: any WebhookRegistry, _ draft: Draft
    ) async throws -> Page {
        let webhooks = try await registry.webhooks(
            of: tenant.id, after: nil, limit: RegisteredWebhook.limit)
        var page = Page(
            title: "Webhooks", tenant: tenant, section: .webhooks,
            commands: [
                "doorstep webhook list --tenant \(tenant.slug)",
                "doorstep webhook create --tenant \(tenant.slug) \(draft.arguments)",
            ]
        ) { main in
            main.errors([("Name", draft.nameError), ("URL", draft.urlError), ("Events", draft.eventsError)])
            Self.list(webhooks, tenant, &main)
            main.element(.h2, text: "Register a webhook")
            guard request.mayChange else { return main.readOnlyHint() }
            guard webhooks.count < RegisteredWebhook.limit else {
                return main.element(.p, text: "\(WebhookRefusal.tooManyWebhooks)".capitalizedSentence + ".")
            }
            main.element(.form, .class("stack"), .post, .action(HTMLLink(.webhooks, of: tenant))) { form in
                form.formNumber()
                form.field(
                    "Name", name: "name", value: draft.name, hint: "Purpose of the webhook.",
                    error: draft.nameError,
                    isRequired: false)
                form.field(
                    "URL", name: "url", value: draft.url,
                    hint: "https URL; http only for the server's own machine.", error: draft.urlError,
                    inputmode: "url")
                form.events(draft.events, error: draft.eventsError)
                form.element(.p) {
                    $0.element(.button, .class("main"), text: "Register and show the secret once")
                }
            }
        }
        if draft.isInvalid { page.status = .unprocessableContent }
        return page
    }

    private static func list(
        _ webhooks: [RegisteredWebhook], _ tenant: Tenant, _ html: inout HTMLWriter
    ) {
        guard !webhooks.isEmpty else {
            return html.element(.p, text: "No webhooks yet.")
        }
        html.table("Webhooks", columns: ["URL", "Name", "Events", "Status", "Waiting"]) { rows in
            for webhook in webhooks {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { th in
                        th.element(
                            .a, .class("row"), .href(HTMLLink(.webhooks, of: tenant, webhook.id.description))
                        ) { $0.name(webhook.url.text) }
                    }
                    row.element(.td) { td in
                        if let name = webhook.name { td.name(name.text) }
                    }
                    row.element(.td, text: webhook.events.names.joined(separator: ", "))
                    row.element(.td) { $0.status(of: webhook) }
                    row.element(.td, .class("number"), text: webhook.waitingCount.grouped)
                }
            }
        }
    }

    /// The form fields of a new webhook.
    private struct Draft {
        var name = ""
        var url = ""
        var events = WebhookEvent.usual
        var nameError: String?
        var urlError: String?
        var eventsError: String?

        /// Nil for a webhook without a name.
        var displayName: DisplayName? { try? DisplayName(name) }
        var isInvalid: Bool { nameError != nil || urlError != nil || eventsError != nil }

        init() {}

        init(_ fields: FormFields) {
            name = fields["name"] ?? ""
            url = fields["url"] ?? ""
            events = Set(ticked: fields)
        }

        /// The URL. If a field is invalid, sets its error and returns nil.
        mutating func checked() -> WebhookURL? {
            if !name.isEmpty, displayName == nil { nameError = DisplayName.hint }
            if events.isEmpty { eventsError = "Select at least one event." }
            do throws(WebhookURL.Refusal) {
                let url = try WebhookURL(url)
                return isInvalid ? nil : url
            } catch {
                urlError = "It \(error)."
                return nil
            }
        }

        var arguments: String {
            ((name.isEmpty ? [] : ["--name \(name.shellQuoted)"])
                + [(url.isEmpty ? "https://example.com/hooks" : url).shellQuoted]
                + events.names.map { "--event \($0)" }).joined(separator: " ")
        }
    }
}

extension Set<WebhookEvent> {
    /// The selected events of a form.
    init(ticked fields: FormFields) {
        self = Set(WebhookEvent.allCases.filter { fields.has("event.\($0.rawValue)") })
    }
}

extension HTMLWriter {
    /// Check boxes for a webhook's events.
    mutating func events(_ events: Set<WebhookEvent>, error: String? = nil) {
        element(
            .div, .class("field"), .role("group"), .ariaLabelledby("events"),
            error.map { _ in .ariaDescribedby("events-error") }
        ) { div in
            div.element(.p, .id("events"), text: "Events")
            for event in WebhookEvent.allCases {
                div.tick(event.rawValue, name: "event.\(event.rawValue)", isOn: events.contains(event))
            }
            if let error { div.element(.p, .id("events-error"), .class("error"), text: error) }
        }
    }

    mutating func status(of webhook: RegisteredWebhook) {
        let (kind, symbol, text) =
            switch (webhook.switchOff, webhook.failingSince) {
            case (_?, _): ("unknown", "– ", "off")
            case (nil, _?): ("failed", "✕ ", "failing")
            case (nil, nil): ("ok", "✓ ", "on")
            }
        element(.span, .class("status \(kind)")) { span in
            span.element(.span, .ariaHidden, text: symbol)
            span.text(text)
        }
        if let switchOff = webhook.switchOff {
            self.text(" since ")
            time(switchOff.at)
            self.text(": ")
            name(switchOff.reason)
        } else if let since = webhook.failingSince {
            self.text(" since ")
            time(since)
        }
    }
}
