import Administration
import ArgumentParser
import Encodings
import Foundation
import JSON
import Notifications
import OutboundHTTP
import Persistence
import Tenancy
import WebhookClient

struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "Where a tenant is told of outcomes.",
        discussion: """
            Messages are signed as Standard Webhooks has it (webhook-id, webhook-timestamp, webhook-signature), and tried \
            again for about three days until they are taken with a status from 200 to 299. The signing secret is stored \
            sealed: DOORSTEP_TOKEN_SECRET must be set as it is for the server.
            """,
        subcommands: [
            Create.self, List.self, Show.self, Update.self, Delete.self, Rotate.self, Test.self,
        ])

    fileprivate static let columns = ["url", "createdAt", "waiting"]

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Register the tenant's webhook and show its secret, once.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "An https URL; http for this machine itself.") var url: WebhookURL

        func run() async throws {
            var generator = SystemRandomNumberGenerator()
            let secret = WebhookSecret(using: &generator)
            try await tenant.withWebhooks { registry, tenant in
                if let known = try await registry.webhook(of: tenant) {
                    throw CommandError.webhookExists(known.webhook.url)
                }
                _ = try await registry.setWebhook(url, secret: secret, of: tenant)
            }
            output.print(
                ["url": .string(url.text), "secret": .string(secret.text)],
                line: "Created webhook \(url) with the secret \(secret.text)")
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give the webhook another URL; its secret stays.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "An https URL; http for this machine itself.") var url: WebhookURL

        func run() async throws {
            let registered = try await tenant.withWebhooks { registry, tenant in
                guard try await registry.setWebhook(url, secret: nil, of: tenant) else {
                    throw CommandError.noWebhook
                }
                return try await registry.registered(of: tenant)
            }
            output.print(registered.json, line: "Updated webhook \(url); its secret stays")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the tenant's webhook, if there is one, and how many messages wait for it.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let registered = try await tenant.withWebhooks { try await $0.webhook(of: $1) }
            output.print(registered.map { [$0.json] } ?? [], columns: columns)
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the secret, and show the new one, once.",
            discussion: """
                What is sent from now on is signed with the new one. It works although no secret in \
                DOORSTEP_TOKEN_SECRET opens the old one any more.
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            var generator = SystemRandomNumberGenerator()
            let secret = WebhookSecret(using: &generator)
            let url = try await tenant.withWebhooks { registry, tenant in
                guard let url = try await registry.replaceSecret(by: secret, of: tenant) else {
                    throw CommandError.noWebhook
                }
                return url
            }
            output.print(
                ["url": .string(url.text), "secret": .string(secret.text)],
                line: "The secret is now \(secret.text)")
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the webhook, and how many messages wait for it.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let registered = try await tenant.withWebhooks { try await $0.registered(of: $1) }
            output.print(registered.json, columns: columns)
        }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a message of the type doorstep.test now, once, and tell how it was answered.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var outbound: OutboundOptions

        func run() async throws {
            let webhook = try await tenant.withWebhooks { try await $0.registered(of: $1).webhook }
            let now = Date()
            let body = JSONValue.object([
                "type": "doorstep.test", "timestamp": .string(now.rfc3339), "data": [:],
            ])
            let reply = try await OutboundClient.withClient(outbound.settings()) { client in
                await StandardWebhookSender(client).send(
                    WebhookMessage(id: UUID(), body: body.serialized(), attempt: 1), to: webhook, at: now)
            }
            guard reply.isTaken else { throw CommandError.webhookNotTaken(reply) }
            output.print(["url": .string(webhook.url.text), "taken": true], line: "\(webhook.url) took it")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove the webhook, and the messages that wait for it.", aliases: ["remove"])

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let count = try await tenant.withWebhooks { registry, tenant in
                guard let count = try await registry.removeWebhook(of: tenant) else {
                    throw CommandError.noWebhook
                }
                return count
            }
            output.print(
                ["messages": JSONValue(count)],
                line: "Removed the webhook and \(count) \(count == 1 ? "message" : "messages")")
        }
    }
}

extension TenantOptions {
    fileprivate func withWebhooks<Result: Sendable>(
        _ body: (PostgresWebhookRegistry, TenantID) async throws -> Result
    ) async throws -> Result {
        guard let keys = try TokenSecrets.sealingKeys() else { throw CommandError.noTokenSecret }
        return try await withPool { pool, _, tenant in
            try await body(PostgresWebhookRegistry(pool, keys: keys, actor: Self.actor), tenant.id)
        }
    }
}

extension PostgresWebhookRegistry {
    fileprivate func registered(of tenant: TenantID) async throws -> RegisteredWebhook {
        guard let registered = try await webhook(of: tenant) else { throw CommandError.noWebhook }
        return registered
    }
}
