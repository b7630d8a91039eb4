import Administration
import ArgumentParser
import Formats
import Foundation
import Invocation
import Notifications
import OutboundHTTP
import Persistence
import PostgreSQL
import ServerClient
import Tenancy
import TenantSites

struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "Manage a tenant's webhooks.",
        discussion: """
            A tenant has up to \(RegisteredWebhook.limit) webhooks, each with its own events. Messages are signed by \
            Standard Webhooks (webhook-id, webhook-timestamp, webhook-signature), and retried for days until the \
            response has a status from 200 to 299. A webhook that accepts nothing for \
            \(WebhookSchedule.patienceDays) days, or responds 410, is switched off. The signing secret is stored \
            encrypted: DOORSTEP_TOKEN_SECRET must be set as for the server.

            Example: doorstep webhook create https://example.com/hook --event delivery.finished
            """,
        subcommands: [
            Create.self, List.self, Show.self, Update.self, Delete.self, Rotate.self, Test.self, Trigger.self,
            Listen.self, Messages.self, Replay.self,
        ])

    fileprivate static let columns = [
        "id", "name", "url", "events", "enabled", "createdAt", "failingSince", "disabledAt", "disabledReason",
        "waiting",
    ]

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Register a webhook, and show its secret once.",
            discussion: "Example: doorstep webhook create https://example.com/hook --event delivery.finished")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "https URL; http only for this machine.") var url: WebhookURL
        @Option(help: "Purpose of the webhook. (default: no name)") var name: DisplayName?
        @Option(
            name: .customLong("event"),
            help: "Event to send; can be repeated. (default: delivery.finished)")
        var events: [WebhookEvent] = []
        @Option(Settings.outboundAllow) var allowed: [[AddressRange]] = []

        func run() async throws {
            let events = events.isEmpty ? WebhookEvent.usual : Set(events)
            var asked: JSONObject = ["url": .string(url.text), "events": events.json]
            asked["name"] = name.map { .string($0.text) }
            let webhook = asked
            let created = try await tenant.withWebhookAPI(allowing: allowed) {
                try await $0.post("/v1/webhooks", webhook)
            }
            output.print(
                created,
                line:
                    "Created webhook \(created.text("id")) at \(url) with the secret \(created.text("secret"))"
            )
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the tenant's webhooks with their numbers of waiting messages.",
            discussion: "Example: doorstep webhook list")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let registered = try await tenant.withWebhookAPI { try await $0.list("/v1/webhooks") }
            output.print(registered, columns: columns)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a webhook with its number of waiting messages.",
            discussion: "Example: doorstep webhook show WEBHOOK-ID")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var webhook: WebhookArgument

        func run() async throws {
            let registered = try await tenant.withWebhookAPI { try await $0.read(webhook.path) }
            output.print(registered, columns: columns)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "update",
            abstract: "Change a webhook; omitted options keep their values, and the secret stays.",
            discussion: """
                No messages are stored for a webhook that is switched off. After you switch it on, 'webhook replay \
                --since TIME --state given_up' sends the messages that were given up.

                Example: doorstep webhook update WEBHOOK-ID --enable
                """)

        enum Switch: String, EnumerableFlag {
            case enable
            case disable
        }

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var webhook: WebhookArgument
        @Option(help: "Purpose of the webhook. An empty text removes the name.") var name: NewName?
        @Option(help: "https URL; http only for this machine.") var url: WebhookURL?
        @Option(
            name: .customLong("event"),
            help: "Event to send, instead of the present ones; can be repeated.")
        var events: [WebhookEvent] = []
        @Flag(help: "Switch the webhook on or off.") var state: Switch?
        @Option(Settings.outboundAllow) var allowed: [[AddressRange]] = []

        func validate() throws { try requireChange(name != nil, url != nil, !events.isEmpty, state != nil) }

        func run() async throws {
            var patch: JSONObject = [:]
            patch["name"] = name?.json
            patch["url"] = url.map { .string($0.text) }
            if !events.isEmpty { patch["events"] = Set(events).json }
            patch["enabled"] = state.map { .bool($0 == .enable) }
            let change = patch
            let registered = try await tenant.withWebhookAPI(allowing: allowed) {
                try await $0.patch(webhook.path, change)
            }
            output.print(registered, line: "Updated webhook \(webhook.id)")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a webhook and its messages.",
            discussion: "Example: doorstep webhook delete WEBHOOK-ID", aliases: ["remove"])

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var webhook: WebhookArgument

        func run() async throws {
            let count = try await tenant.withWebhookAPI { api in
                let waiting = try await api.read(webhook.path)["waiting"]?.numberValue?.int ?? 0
                try await api.delete(webhook.path)
                return waiting
            }
            output.print(
                ["deleted": .string(webhook.id.description), "messages": JSONValue(count)],
                line:
                    "Deleted webhook \(webhook.id), and \(count) waiting \(count == 1 ? "message" : "messages")"
            )
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Replace the secret, and show the new one once.",
            discussion: """
                Messages are signed with the new secret from now on. With --overlap, they are also signed with the \
                old secret, which ends by itself. A rotation ends the overlap of an earlier one. This works even if no \
                secret in DOORSTEP_TOKEN_SECRET decrypts the old one.

                Example: doorstep webhook rotate WEBHOOK-ID --overlap 24
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var webhook: WebhookArgument
        @Option(help: "Hours in which messages are signed with both secrets.") var overlap = 0.0

        func validate() throws {
            guard RegisteredWebhook.overlaps.contains(overlap) else {
                throw ValidationError("--overlap must be from 0 to 8760 hours")
            }
        }

        func run() async throws {
            let changed = try await tenant.withWebhookAPI {
                try await $0.post(
                    "\(webhook.path)/rotate",
                    overlap > 0 ? ["overlapHours": JSONValue(finite: overlap)] : [:])
            }
            let end = changed["previousSecretEndsAt"]?.stringValue
            output.print(
                changed,
                line: "The secret is now \(changed.text("secret"))"
                    + (end.map { "; the previous one signs messages too until \($0)" } ?? ""))
        }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test",
            abstract: "Send a test message (doorstep.test) once, and show the response.",
            discussion:
                """
                At a server the message is queued as any other; 'webhook messages' shows its result.

                Example: doorstep webhook test WEBHOOK-ID
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var outbound: OutboundOptions
        @OptionGroup var webhook: WebhookArgument

        func run() async throws {
            // A server sends it like any other message.
            if let queued = try await tenant.withServer({ try await $0.post("\(webhook.path)/test", [:]) }) {
                output.print(
                    queued,
                    line: "The server sends the message \(queued.text("message")): see 'webhook messages'")
                return
            }
            let receiver = try await tenant.withPool { pool, _, tenant in
                let registry = try PostgresWebhookRegistry(administering: pool)
                guard let receiver = try await registry.receiver(webhook.of(tenant.id)) else {
                    throw WebhookRefusal.unknownWebhook
                }
                return receiver
            }
            let now = Date()
            let reply = try await OutboundClient.withClient(outbound.settings()) { client in
                await StandardWebhookSender(client).send(
                    WebhookMessage(WebhookEvent.test, [:], at: now), to: receiver, at: now
                ).reply
            }
            guard reply.isTaken else { throw CommandError.webhookNotTaken(reply) }
            output.print(
                ["url": .string(receiver.url.text), "taken": true], line: "\(receiver.url) took it")
        }
    }

    struct Trigger: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trigger",
            abstract: "Send a sample of an event to a webhook, or to the listeners.",
            discussion: """
                The message has invented data and the member "sample": true. A server sends it to the webhook like \
                any other, whether or not the webhook receives such events; 'webhook messages' shows its result. \
                Without a webhook, 'webhook listen' receives the sample.

                Example: doorstep webhook trigger location.changed WEBHOOK-ID
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "Event.") var event: WebhookEvent
        @Argument(help: "Webhook ID. (default: the listeners)") var id: WebhookID?

        func run() async throws {
            let path = id.map { "/v1/webhooks/\($0)/test" } ?? "/v1/events"
            let queued = try await tenant.withWebhookAPI {
                try await $0.post(path, ["event": .string(event.rawValue)])
            }
            guard queued["listening"] != false else { throw CommandError.noListener }
            let message = queued.text("message")
            output.print(
                queued,
                line: id == nil
                    ? "The listeners receive the message \(message)"
                    : "The server sends the message \(message): see 'webhook messages'")
        }
    }

    struct Messages: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "messages",
            abstract:
                "List a webhook's messages of the last seven days and their attempts, the newest first.",
            discussion: """
                With --message, show one message as JSON: its body, and of each response the first 4 KiB. The log \
                keeps the last 1,000 responses of a webhook.

                Example: doorstep webhook messages WEBHOOK-ID --message MESSAGE-ID
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var webhook: WebhookArgument
        @Option(help: "Maximum number of messages.") var limit = 1_000
        @Option(help: "ID of one message, to show it with its body and the responses.") var message: String?

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
            guard message.map({ UUID(text: $0) != nil }) ?? true else {
                throw ValidationError("--message must be a message's ID, a UUID")
            }
        }

        func run() async throws {
            if let message {
                let shown = try await tenant.withWebhookAPI {
                    try await $0.read("\(webhook.path)/messages/\(message)")
                }
                return JSONValue.object(shown).printPretty()
            }
            let messages = try await tenant.withWebhookAPI {
                try await $0.list("\(webhook.path)/messages", limit: limit)
            }
            let rows = messages.map { message in
                var row = message
                let attempts = message["attempts"]?.arrayValue ?? []
                row["attempts"] = JSONValue(attempts.count)
                row["last"] = .null
                if let last = attempts.last, let attempt = try? WebhookAttempt(last) {
                    row["last"] = .string("\(attempt.reply)")
                }
                return row
            }
            output.print(
                messages, tableRows: rows,
                columns: ["id", "type", "state", "createdAt", "dueAt", "attempts", "last"])
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replay",
            abstract: "Replay messages with the same IDs: one, or all since a time.",
            discussion: """
                A message that waits for its next attempt is sent now; one that was accepted or given up is sent \
                again. The oldest come first, \(ReplaySelection.limit) at a time.

                Example: doorstep webhook replay WEBHOOK-ID --since 2026-03-01T12:30:00Z --state given_up
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var webhook: WebhookArgument
        @Option(help: "ID of one message.") var message: String?
        @Option(help: "All messages created since this time, such as 2026-03-01T12:30:00Z.") var since:
            Moment?
        @Option(help: "Only messages in this state; requires --since.") var state: RecordedMessage.State?

        func validate() throws { _ = try selection() }

        private func selection() throws -> ReplaySelection {
            switch (message, since) {
            case (let text?, nil):
                guard let id = UUID(text: text), state == nil else {
                    throw ValidationError("--message takes one message's ID, a UUID, alone")
                }
                return .message(id)
            case (nil, let since?): return .since(since.date, state: state)
            default: throw ValidationError("name a message: --message ID, or several: --since TIME")
            }
        }

        func run() async throws {
            let selection = try self.selection()
            let count = try await tenant.withWebhookAPI { api in
                var body = selection.json
                var count = 0
                repeat {
                    let replay = try await api.post("\(webhook.path)/replay", body)
                    count += replay["queued"]?.numberValue?.int ?? 0
                    body["after"] = replay["next"]?.stringValue.map(JSONValue.string)
                } while body["after"] != nil
                return count
            }
            output.print(
                ["queued": JSONValue(count)],
                line: "\(count) \(count == 1 ? "message is" : "messages are") sent now")
        }
    }
}

/// The webhook that a command works on.
struct WebhookArgument: ParsableArguments {
    @Argument(help: "Webhook ID.") var id: WebhookID

    func of(_ tenant: TenantID) -> WebhookReference { WebhookReference(id, of: tenant) }

    var path: String { "/v1/webhooks/\(id)" }
}

extension TenantOptions {
    /// Runs the closure with the tenant's API, including webhooks.
    /// - Parameter allowed: The addresses of `--outbound-allow`. A server uses its own setting.
    func withWebhookAPI<Result: Sendable>(
        allowing allowed: [[AddressRange]] = [], _ body: (APIConnection) async throws -> Result
    ) async throws -> Result {
        try await withAPI(
            webhooks: { try PostgresWebhookRegistry(administering: $0, allowing: allowed) }, body)
    }
}

extension PostgresWebhookRegistry {
    /// The webhooks in a database. The secret in the environment seals their secrets.
    fileprivate init(administering pool: ConnectionPool, allowing allowed: [[AddressRange]] = []) throws {
        guard let keys = try TokenSecrets.sealingKeys() else { throw CommandError.noTokenSecret }
        let allowed = try Settings.outboundAllow.value(allowed.isEmpty ? nil : allowed.flatMap(\.self))
        self.init(pool, keys: keys, allowing: allowed)
    }
}

// MARK: - Requests

extension Set<WebhookEvent> {
    fileprivate var json: JSONValue { .array(names.map(JSONValue.string)) }
}

extension JSONObject {
    fileprivate func text(_ name: String) -> String { self[name]?.stringValue ?? "" }
}
