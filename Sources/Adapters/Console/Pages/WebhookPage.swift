import Administration
import Formats
import Foundation
import Invocation
import Notifications
import Tenancy

/// One webhook: events, messages, tests, replays and settings.
struct WebhookPage: Sendable {
    private let list: WebhooksPage
    private let forms: SubmittedForms
    private let servers: ConsoleServer.Servers

    /// Messages per page. [ours]
    private static let pageLength = 50

    init(_ list: WebhooksPage, _ forms: SubmittedForms, servers: @escaping ConsoleServer.Servers) {
        self.list = list
        self.forms = forms
        self.servers = servers
    }

    /// The webhook in the request's path.
    private struct Subject {
        let tenant: Tenant
        let registry: any WebhookRegistry
        let webhook: RegisteredWebhook

        var reference: WebhookReference { WebhookReference(webhook.id, of: tenant.id) }
    }

    private func subject(_ request: ConsoleRequest) async throws -> Subject {
        let tenant = try await request.tenant()
        guard let registry = request.stores.webhooks,
            let id = request.path["id"].flatMap({ WebhookID($0) }),
            let webhook = try await registry.webhook(WebhookReference(id, of: tenant.id))
        else { throw ConsoleRefusal.notFound }
        return Subject(tenant: tenant, registry: registry, webhook: webhook)
    }

    @Sendable func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let subject = try await subject(request)
        let before = request.query["before"].flatMap { UUID(text: $0) }
        let messages = try await subject.registry.messages(
            of: subject.reference, before: before, limit: Self.pageLength + 1)
        // After a test or a replay, a person waits for a server.
        let servers = request.query["done"] == nil ? nil : try await servers()
        return .page(page(request, subject, messages, isFirst: before == nil, servers))
    }

    @Sendable func change(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let subject = try await subject(request)
        var change = WebhookChange()
        switch request.form["state"] {
        case "on": change.isEnabled = true
        case "off": change.isEnabled = false
        default:
            change.name = .some(try request.form.displayName())
            change.events = Set(ticked: request.form)
            guard change.events?.isEmpty == false else {
                throw ConsoleRefusal.malformed(
                    "Select at least one event. Nothing was changed.")
            }
        }
        let seen = request.form["seen"]
        let isOfEvents = change.events != nil
        _ = try await subject.registry.change(
            subject.reference, change, by: request.session.access.actor
        ) { webhook in
            guard !isOfEvents || Self.text(webhook) == seen else {
                throw ConsoleRefusal.conflict(
                    "The webhook was changed since you opened the page. Nothing was saved. Open the page again."
                )
            }
        }
        return seeOther(subject, "changed")
    }

    @Sendable func rotate(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let subject = try await subject(request)
        let secret = WebhookSecret.generate()
        guard let hours = Double(decimal: request.form["overlap"] ?? "0"),
            RegisteredWebhook.overlaps.contains(hours)
        else { throw ConsoleRefusal.malformed("Enter hours from 0 to 8760. The secret was not replaced.") }
        let webhook = try await forms.once(request) {
            try await subject.registry.replaceSecret(
                of: subject.reference, by: secret, overlap: .seconds(hours * 3_600),
                actor: request.session.access.actor)
        }
        return .page(list.shown(secret, webhook, subject.tenant, "Secret replaced"))
    }

    /// A server sends the test like any other message. Its response appears in the list soon after.
    @Sendable func test(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let subject = try await subject(request)
        let message = WebhookMessage(WebhookEvent.test, [:], at: request.now)
        try await subject.registry.add(
            message, to: subject.reference, by: request.session.access.actor)
        return seeOther(subject, "tested")
    }

    @Sendable func replay(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let subject = try await subject(request)
        var since: Date?
        let selection: ReplaySelection
        if let id = request.form["message"].flatMap({ UUID(text: $0) }) {
            selection = .message(id)
        } else if let hours = request.form["hours"].flatMap({ Double(decimal: $0) }),
            Self.replayed.contains(hours)
        {
            // A continued replay keeps its start.
            let start =
                request.form["since"].flatMap { Date(rfc3339: $0) }
                ?? request.now.addingTimeInterval(-hours * 3_600)
            since = start
            selection = .since(
                start, state: request.form["givenup"] == "1" ? .givenUp : nil,
                after: request.form["after"].flatMap { UUID(text: $0) })
        } else {
            throw ConsoleRefusal.malformed(
                "Choose a message, or enter hours from 0 to 168. Nothing was sent.")
        }
        let (count, last) = try await subject.registry.replay(
            selection, of: subject.reference, by: request.session.access.actor)
        return .seeOther(
            HTMLLink(
                .webhooks, of: subject.tenant, subject.webhook.id.description,
                query: [
                    ("done", "replayed"), ("count", "\(count)"),
                ]
                    + (last.map { last in
                        [
                            ("hours", request.form["hours"]), ("since", since?.rfc3339),
                            ("givenup", request.form["givenup"]), ("after", last.uuidString.lowercased()),
                        ]
                    } ?? [])))
    }

    /// Hours for which messages are kept for a replay.
    private static let replayed = 0.0...168

    private func seeOther(_ subject: Subject, _ done: String) -> ConsoleResponse {
        .seeOther(
            HTMLLink(
                .webhooks, of: subject.tenant, subject.webhook.id.description, query: [("done", done)]))
    }

    private static func notice(_ request: ConsoleRequest) -> String? {
        switch request.query["done"] {
        case "changed": return "Saved."
        case "tested": return "The message is queued. When a server has sent it, its response appears below."
        case "replayed":
            let count = request.query["count"].flatMap { Int($0) } ?? 0
            let more = request.query["after"] == nil ? "" : " There may be more messages. Continue below."
            return "\(count.grouped) \(count == 1 ? "message is" : "messages are") queued.\(more)"
        default: return nil
        }
    }

    // MARK: The page

    private func page(
        _ request: ConsoleRequest, _ subject: Subject, _ messages: [RecordedMessage], isFirst: Bool,
        _ servers: [InstallationStatus.Server]?
    ) -> Page {
        let (tenant, webhook) = (subject.tenant, subject.webhook)
        let (slug, id) = (tenant.slug, webhook.id.description)
        return Page(
            title: webhook.name?.text ?? webhook.url.text, tenant: tenant, section: .webhooks,
            commands: [
                "doorstep webhook show --tenant \(slug) \(id)",
                "doorstep webhook update --tenant \(slug) \(id) --\(webhook.switchOff == nil ? "disable" : "enable")",
                "doorstep webhook test --tenant \(slug) \(id)",
                "doorstep webhook messages --tenant \(slug) \(id)",
                "doorstep webhook replay --tenant \(slug) \(id) --since \(request.now.addingTimeInterval(-86_400).rfc3339)",
                "doorstep webhook rotate --tenant \(slug) \(id)",
            ], notice: Self.notice(request)
        ) { main in
            if let servers { main.warningWithoutServer(servers) }
            main.facts([
                (
                    "Name",
                    { dd in if let name = webhook.name { dd.name(name.text) } else { dd.text("none") } }
                ),
                ("URL", { $0.name(webhook.url.text) }), ("ID", { $0.element(.code, text: id) }),
                ("Status", { $0.status(of: webhook) }),
                ("Events", { $0.text(webhook.events.names.joined(separator: ", ")) }),
                ("Created", { $0.time(webhook.createdAt) }),
                ("Waiting", { $0.text(webhook.waitingCount.grouped) }),
            ])
            main.element(.h2, text: "Messages of the last seven days")
            Self.log(messages, request, subject, isFirst: isFirst, &main)
            guard request.mayChange else { return main.readOnlyHint() }
            Self.forms(request, subject, &main)
        }
    }

    private static func log(
        _ messages: [RecordedMessage], _ request: ConsoleRequest, _ subject: Subject, isFirst: Bool,
        _ html: inout HTMLWriter
    ) {
        guard !messages.isEmpty else { return html.element(.p, text: "No messages.") }
        let shown = messages.prefix(pageLength)
        html.table(
            "Messages, newest first", columns: ["Created", "Type", "State", "Attempts", "Send again"]
        ) { rows in
            for message in shown {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { $0.time(message.createdAt) }
                    row.element(.td, text: message.type)
                    row.element(.td) { $0.state(of: message) }
                    row.element(.td) { $0.attempts(of: message) }
                    row.element(.td) { td in
                        guard request.mayChange, subject.webhook.switchOff == nil
                        else { return }
                        let id = message.id.uuidString.lowercased()
                        td.element(.form, .post, .action(action(subject, "replay"))) { form in
                            form.hiddenField("message", id)
                            form.element(
                                .button, .class("plain"), .ariaLabel("Send message \(id) now"),
                                text: "Send")
                        }
                    }
                }
            }
        }
        html.element(.p, .class("paging")) { p in
            let id = subject.webhook.id.description
            if !isFirst {
                p.element(.a, .href(HTMLLink(.webhooks, of: subject.tenant, id)), text: "Newest")
            }
            if messages.count > pageLength, let last = shown.last {
                p.element(
                    .a,
                    .href(
                        HTMLLink(
                            .webhooks, of: subject.tenant, id,
                            query: [("before", last.id.uuidString.lowercased())])), text: "Older")
            }
        }
    }

    private static func forms(_ request: ConsoleRequest, _ subject: Subject, _ html: inout HTMLWriter) {
        let isOn = subject.webhook.switchOff == nil
        if isOn {
            html.element(.h2, text: "Test")
            html.element(.form, .post, .action(action(subject, "test"))) { form in
                form.element(.p) { $0.element(.button, text: "Send a test message (doorstep.test)") }
            }
            html.element(.h2, text: "Send messages again")
            if let after = request.query["after"], let hours = request.query["hours"] {
                html.element(.form, .post, .action(action(subject, "replay"))) { form in
                    for (name, value) in [
                        ("hours", hours), ("since", request.query["since"]),
                        ("givenup", request.query["givenup"]),
                        ("after", after),
                    ] {
                        if let value { form.hiddenField(name, value) }
                    }
                    form.element(.p) { $0.element(.button, .class("main"), text: "Send the next messages") }
                }
            }
            html.element(.form, .class("stack"), .post, .action(action(subject, "replay"))) { form in
                form.field(
                    "Messages of the last hours", name: "hours", value: "24",
                    hint:
                        "Up to 168 hours, at most \(ReplaySelection.limit.grouped) messages at a time. Message IDs stay the same.",
                    inputmode: "decimal")
                form.tick("Only messages that were given up", name: "givenup")
                form.element(.p) { $0.element(.button, text: "Send now") }
            }
        }
        html.element(.h2, text: "Settings")
        html.element(.form, .class("stack"), .post, .action(action(subject, "change"))) { form in
            form.hiddenField("seen", text(subject.webhook))
            form.field(
                "Name", name: "name", value: subject.webhook.name?.text ?? "",
                hint: "Purpose of the webhook. Empty = no name", isRequired: false)
            form.events(subject.webhook.events)
            form.element(.p) { $0.element(.button, text: "Save") }
        }
        html.element(.form, .post, .action(action(subject, "change"))) { form in
            form.hiddenField("state", isOn ? "off" : "on")
            form.element(.p) { p in
                p.element(
                    .button, isOn ? .class("danger") : nil,
                    text: isOn ? "Disable" : "Enable")
                if isOn { p.text(" Doorstep gives up all waiting messages.") }
            }
        }
        html.element(.form, .class("stack"), .post, .action(action(subject, "rotate"))) { form in
            form.formNumber()
            form.field(
                "Overlap in hours", name: "overlap", value: "0",
                hint: "During the overlap, Doorstep signs messages with both secrets.", inputmode: "decimal")
            form.element(.p) { p in
                p.element(.button, .class("danger"), text: "Replace the secret and show it once")
                p.text(" Doorstep signs all later messages with the new secret.")
            }
        }
    }

    /// Differs for each name and set of events.
    private static func text(_ webhook: RegisteredWebhook) -> String {
        webhook.events.map(\.rawValue).sorted().joined(separator: " ")
            + (webhook.name.map { ", \($0)" } ?? "")
    }

    private static func action(_ subject: Subject, _ name: String) -> HTMLLink {
        HTMLLink(.webhooks, of: subject.tenant, subject.webhook.id.description, name)
    }
}

extension HTMLWriter {
    fileprivate mutating func state(of message: RecordedMessage) {
        let (kind, symbol) =
            switch message.state {
            case .taken: ("ok", "✓ ")
            case .waiting: ("unknown", "… ")
            case .givenUp: ("failed", "✕ ")
            }
        element(.span, .class("status \(kind)")) { span in
            span.element(.span, .ariaHidden, text: symbol)
            span.text(message.state.rawValue.replacing("_", with: " "))
        }
        if let due = message.dueAt {
            text(", due ")
            time(due)
        }
    }

    fileprivate mutating func attempts(of message: RecordedMessage) {
        guard !message.attempts.isEmpty else { return text("none") }
        element(.ul) { list in
            for attempt in message.attempts {
                list.element(.li) { item in
                    item.time(attempt.at)
                    item.text(": ")
                    item.name("\(attempt.reply)")
                }
            }
        }
    }
}
