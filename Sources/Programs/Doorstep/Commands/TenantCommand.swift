import Administration
import ArgumentParser
import JSON
import Notifications
import Persistence
import RateLimiting
import ServerClient
import Tenancy

struct TenantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tenant",
        abstract: "Tenants, each apart from every other.",
        subcommands: [
            Create.self, List.self, Show.self, Update.self, Delete.self, Import.self, Export.self, Limit.self,
            Collapse.self, Suspend.self, Resume.self,
        ])

    fileprivate static let columns = [
        "slug", "name", "createdAt", "suspendedAt", "keyLimit", "clientLimit", "id",
    ]

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create a tenant.")

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Argument(help: "A short name, such as donut-shop.") var slug: TenantSlug
        @Option(help: "The name for people.") var name: String

        func run() async throws {
            let tenant = try await database.withStore { store in
                try await store.createTenant(slug: slug, name: DisplayName(name))
            }
            output.print(tenant.json, line: "Created tenant \(tenant.slug) (\(tenant.id))")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all tenants.")

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let tenants = try await database.withStore { try await $0.tenants() }
            output.print(tenants.map(\.json), columns: columns)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a tenant.")

        @OptionGroup var installation: InstallationOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The tenant's slug.") var slug: TenantSlug

        func run() async throws {
            let tenant = try await installation.withTenant(slug) {
                try await $0.tenant(slug)
            } atServer: {
                $1
            }
            output.print(tenant.json, columns: columns)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a tenant another name.",
            discussion:
                "'tenant limit', 'collapse', 'suspend' and 'resume' change the rest; a slug stays what it is."
        )

        @OptionGroup var installation: InstallationOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The tenant's slug.") var slug: TenantSlug
        @Option(help: "The name for people.") var name: String

        func run() async throws {
            let name = try DisplayName(name)
            let tenant = try await installation.withTenant(slug) {
                try await $0.rename(slug, to: name)
            } atServer: { server, _ in
                try await server.changeTenant(["name": .string(name.text)])
            }
            output.print(tenant.json, line: "Updated tenant \(slug)")
        }
    }

    struct Limit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set how often a tenant's keys may be used, and how many instances they may add.",
            discussion: """
                Each server counts for itself: behind a balancer that spreads requests evenly over N servers, about N \
                times as many come through. What is not given is left to the servers' settings.
                """)

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Argument(help: "The tenant's slug.") var slug: TenantSlug
        @Option(
            help: ArgumentHelp(
                "Of each key: requests a second, and at once (default: four times as many).",
                valueName: "rate[:burst]"))
        var key: RateLimit?
        @Option(
            help: ArgumentHelp(
                "Of each client address that uses a publishable key: requests a second, and at once.",
                valueName: "rate[:burst]"))
        var client: RateLimit?
        @Option(
            name: .customLong("new-instances"),
            help: ArgumentHelp(
                "Of instances that were not known: how many a second, and at once.",
                valueName: "rate[:burst]"))
        var newInstances: RateLimit?
        @Option(
            name: .customLong("client-new-instances"),
            help: ArgumentHelp(
                "Of these from each client address that uses a publishable key: how many a second, and at once.",
                valueName: "rate[:burst]"))
        var clientNewInstances: RateLimit?

        func run() async throws {
            let limits = RequestLimits(
                key: key, client: client, newInstances: newInstances, clientNewInstances: clientNewInstances)
            let tenant = try await database.withStore { try await $0.setLimits(limits, slug) { _ in } }
            let texts = [
                ("key", key), ("client", client), ("new instances", newInstances),
                ("new instances of a client", clientNewInstances),
            ].map { name, limit in
                "\(name) \(limit.map { "\($0.perSecond)/s, \($0.burst) at once" } ?? "as the servers say")"
            }
            output.print(
                tenant.json, line: "Limited tenant \(slug): \(texts.joined(separator: "; "))")
        }
    }

    struct Collapse: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Say which notifications take each other's place when they have no collapse ID of their own.",
            discussion: "Holds for what is sent from now on.")

        @OptionGroup var installation: InstallationOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The tenant's slug.") var slug: TenantSlug
        @Option(help: "none, business for all of one business, or url for all of one URL.")
        var by: CollapsePolicy

        func run() async throws {
            let atServer: Tenant? = try await installation.withServer(of: slug) { server, _ in
                try await server.changeTenant(["collapsePolicy": .string(by.rawValue)])
            }
            if atServer == nil { try await setInDatabase() }
            output.print(
                ["slug": .string(slug.text), "collapse": .string(by.rawValue)],
                line: "Notifications of \(slug) collapse by: \(by.rawValue)")
        }

        private func setInDatabase() async throws {
            let actor = TenantOptions.actor
            try await installation.database.withPool { pool in
                let tenant = try await PostgresAdministrationStore(pool, actor: actor).tenant(slug)
                try await PostgresCollapsePolicies(pool, actor: actor).set(by, of: tenant.id)
            }
        }
    }

    struct Suspend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Refuse a tenant's keys until it is resumed; nothing is deleted.")

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Argument(help: "The tenant's slug.") var slug: TenantSlug

        func run() async throws {
            let tenant = try await database.setSuspended(true, slug)
            output.print(tenant.json, line: "Suspended tenant \(slug)")
        }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Take a suspended tenant's keys again.")

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Argument(help: "The tenant's slug.") var slug: TenantSlug

        func run() async throws {
            let tenant = try await database.setSuspended(false, slug)
            output.print(tenant.json, line: "Resumed tenant \(slug)")
        }
    }
}

extension DatabaseOptions {
    /// Lends the store of a command that is about no tenant there is, or about one as a whole.
    func withStore<Result: Sendable>(
        _ body: (PostgresAdministrationStore) async throws -> Result
    ) async throws -> Result {
        try await withPool { pool in
            try await body(PostgresAdministrationStore(pool, actor: TenantOptions.actor))
        }
    }

    fileprivate func setSuspended(_ isSuspended: Bool, _ slug: TenantSlug) async throws -> Tenant {
        try await withStore { try await $0.setSuspended(isSuspended, slug) }
    }
}
