import APNsPayload
import Administration
import ArgumentParser
import Foundation
import Invocation
import JSON
import Notifications
import Persistence
import ServerClient
import Tenancy

struct InstanceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "instance",
        abstract: "List and delete the instances of clips that have told of their launches.",
        discussion: """
            An instance is an installation of a clip, or of the full app in its place. It goes when it has not been \
            launched for the days that 'doorstep serve --instance-retention' says. No command shows push tokens.
            """,
        subcommands: [List.self, Delete.self, Reseal.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List instances, the latest launched first.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "Those of the clip with this bundle ID.") var clip: BundleID?
        @Option(help: "Those launched at the location with this identifier.") var location:
            LocationIdentifier?
        @Option(help: "Those launched by this URL, or by one that goes on after it.") var url: String?
        @Option(help: "How many, at most.") var limit = 1_000

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit is 1 or more") }
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

        /// The query that selects them.
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
            abstract: "Forget instances: their launches and their tokens.")

        @OptionGroup var tenant: TenantOptions
        @Argument(help: "The instances' IDs.") var ids: [InstanceID]

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
        /// - Returns: Those that the tenant does not have.
        private func delete(_ delete: (InstanceID) async throws -> Bool) async throws -> [InstanceID] {
            var unknown: [InstanceID] = []
            for id in ids where try await !delete(id) { unknown.append(id) }
            return unknown
        }
    }

    struct Reseal: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Seal push tokens, secrets of webhooks and keys of App Store Connect again by the newest secret.",
            discussion: """
                To replace a secret: put the new one behind it in DOORSTEP_TOKEN_SECRET, separated by a comma, and \
                restart the servers; put it before the old one, and restart them again; run this command with the \
                same value, and take the old one away. Works beside servers, and may be run again. DATABASE_URL's \
                login needs to be a member of doorstep_admin and doorstep_app.
                """)

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Option(help: "One tenant's slug; all tenants without it.") var tenant: TenantSlug?

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
