import APNsPayload
import Administration
import ArgumentParser
import Formats
import Foundation
import Invocation
import Notifications
import Persistence
import ServerClient
import Tenancy

struct InstanceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "instance",
        abstract: "List and delete registered instances of clips.",
        discussion: """
            An instance is one installation of a clip, or of the full app that replaced it. Doorstep deletes it \
            after 'doorstep serve --instance-retention' days without a launch. No command shows push tokens.

            Example: doorstep instance list
            """,
        subcommands: [List.self, Delete.self, Reseal.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List instances, the latest launched first.",
            discussion: "Example: doorstep instance list --limit 20")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Only instances of the clip with this bundle ID.") var clip: BundleID?
        @Option(help: "Only instances launched at the location with this identifier.") var location:
            LocationIdentifier?
        @Option(help: "Only instances launched by this URL, or by a URL that begins with it.") var url:
            String?
        @Option(help: "Maximum number of instances.") var limit = 1_000

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
        }

        func run() async throws {
            try url.map(Self.check)
            let instances = try await tenant.withAPI {
                try await $0.list("/v1/instances", limit: limit, where: filter)
            }
            output.print(
                instances,
                columns: [
                    "id", "clip", "app", "environment", "permission", "launchedAt", "launchCount",
                    "hasToken", "activityCount",
                ])
        }

        /// The query that selects the instances.
        private var filter: [(String, String)] {
            [("clip", clip?.text), ("location", location?.text), ("url", url)].reduce(
                into: [("order", "latest_launch")]
            ) { query, parameter in
                if let value = parameter.1 { query.append((parameter.0, value)) }
            }
        }

        private static func check(_ url: String) throws(CommandError) {
            do {
                _ = try InvocationURL(url)
            } catch {
                throw .invalidOption("--url", "\(error)")
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete instances with their launches and tokens.",
            discussion: "Example: doorstep instance delete INSTANCE-ID")

        @OptionGroup var tenant: TenantOptions
        @Argument(help: "IDs of instances.") var ids: [InstanceID]

        func run() async throws {
            let atServer = try await tenant.withServer { server in
                try await delete { try await server.deleteInstance($0) }
            }
            let unknown: [InstanceID]
            if let atServer {
                unknown = atServer
            } else {
                unknown = try await tenant.withPool { pool, _, tenant in
                    let catalogue = PostgresInstanceCatalogue(pool)
                    return try await delete { try await catalogue.delete($0, of: tenant.id) }
                }
            }
            guard unknown.isEmpty else { throw CommandError.unknownInstances(unknown) }
        }

        /// Deletes the instances.
        /// - Returns: The IDs that the tenant does not have.
        private func delete(_ delete: (InstanceID) async throws -> Bool) async throws -> [InstanceID] {
            var unknown: [InstanceID] = []
            for id in ids where try await !delete(id) { unknown.append(id) }
            return unknown
        }
    }

    struct Reseal: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reseal",
            abstract:
                """
                Encrypt push tokens, webhook secrets and App Store Connect keys again with the newest secret.
                """,
            discussion: """
                To replace a secret:
                1. Append the new one to DOORSTEP_TOKEN_SECRET, after a comma, and restart the servers.
                2. Put the new one first, and restart the servers again.
                3. Run this command with the same value, then remove the old one.
                The command can run beside servers, and more than once. DATABASE_URL's login must be a member of \
                doorstep_admin and doorstep_app.

                Example: doorstep instance reseal
                """)

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Option(help: "Slug of one tenant. (default: all tenants)") var tenant: TenantSlug?

        func run() async throws {
            guard let keys = try TokenSecrets.sealingKeys() else { throw CommandError.noTokenSecret }
            let results = try await database.withPool { pool in
                let store = PostgresAdministrationStore(pool, actor: TenantOptions.actor)
                let tenants =
                    if let tenant { [try await store.tenant(tenant)] } else { try await store.tenants() }
                let resealing = TokenResealing(pool, keys: keys)
                let webhooks = PostgresWebhookRegistry(pool, keys: keys)
                let connections = PostgresStoreConnections(pool, keys: keys)
                var results: [(tenant: Tenant, result: TokenResealing.Result)] = []
                for tenant in tenants {
                    let tokens = try await resealing.reseal(tenant.id)
                    let secrets = try await webhooks.resealSecrets(of: tenant.id)
                    results.append((tenant, tokens + secrets + (try await connections.reseal(of: tenant.id))))
                }
                if tenant == nil, results.allSatisfy({ $0.result.unreadable == 0 }) {
                    try await PostgresTokenSecrets(pool).forgetAll(but: keys)
                }
                return results
            }
            output.print(
                results.map { tenant, result in
                    [
                        "tenant": .string(tenant.slug.text), "resealed": JSONValue(result.resealed),
                        "unreadable": JSONValue(result.unreadable),
                    ]
                }, columns: ["tenant", "resealed", "unreadable"])
            let unreadable = results.reduce(0) { $0 + $1.result.unreadable }
            guard unreadable == 0 else { throw CommandError.unreadableTokens(unreadable) }
        }
    }
}
