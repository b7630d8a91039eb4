import Administration
import ArgumentParser
import Formats
import Invocation
import Notifications
import Persistence
import ServerClient
import Tenancy

struct TenantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tenant",
        abstract: "Manage tenants.",
        discussion: "Example: doorstep tenant list",
        subcommands: [
            Create.self, List.self, Show.self, Update.self, Delete.self, Import.self, Export.self, Limit.self,
            Collapse.self, Suspend.self, Resume.self,
        ])

    fileprivate static let columns = [
        "slug", "name", "test", "createdAt", "suspendedAt", "keyLimit", "clientLimit", "id",
    ]

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create a tenant.",
            discussion: """
                A test tenant notifies only in the environment sandbox. Its keys begin with dpk_test_ and dsk_test_. \
                Whether a tenant is a test tenant cannot change.

                Example: doorstep tenant create donut-shop --name 'Donut Shop'
                Example: doorstep tenant create donut-trial --name 'Donut Trial' --test
                """)

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Argument(help: "Slug of the tenant, such as donut-shop.") var slug: TenantSlug
        @Option(help: "Name for people.") var name: String
        @Flag(name: .customLong("test"), help: "Create a test tenant.") var isTest = false

        func run() async throws {
            let tenant = try await database.withStore { store in
                try await store.createTenant(slug: slug, name: DisplayName(name), isTest: isTest)
            }
            output.print(tenant.json, line: "Created tenant \(tenant.slug) (\(tenant.id))")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List all tenants.",
            discussion: "Example: doorstep tenant list")

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let tenants = try await database.withStore { try await $0.tenants() }
            output.print(tenants.map(\.json), columns: columns)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a tenant.",
            discussion: "Example: doorstep tenant show donut-shop")

        @OptionGroup var tenant: TenantArgument
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let tenant = try await tenant.withAPI { try await $0.tenant() }
            output.print(tenant.json, columns: columns)
            if output.format == .table {
                output.print(tenant.quotaRows, columns: ["quota", "rows", "bytes"])
            }
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "update",
            abstract: "Change a tenant's name or web origins.",
            discussion:
                """
                Pages of the origins may use the tenant's publishable keys in browsers (CORS). --cors-origin replaces all origins.

                Use 'tenant limit', 'collapse', 'suspend' and 'resume' to change the rest. A slug cannot change.

                Example: doorstep tenant update donut-shop --cors-origin https://order.example.com
                """
        )

        @OptionGroup var tenant: TenantArgument
        @OptionGroup var output: OutputOptions
        @Option(help: "Name for people.") var name: String?
        @Option(
            name: .customLong("cors-origin"),
            help: ArgumentHelp(
                "Origin of a web page, such as https://order.example.com. Can be repeated.",
                valueName: "origin"))
        var corsOrigins: [WebOrigin] = []
        @Flag(name: .customLong("no-cors-origins"), help: "Remove all web origins.")
        var removesOrigins = false

        func validate() throws {
            guard name != nil || !corsOrigins.isEmpty || removesOrigins else {
                throw ValidationError("name a change: --name, --cors-origin or --no-cors-origins")
            }
            guard corsOrigins.isEmpty || !removesOrigins else {
                throw ValidationError("--cors-origin and --no-cors-origins exclude each other")
            }
        }

        func run() async throws {
            var patch: JSONObject = [:]
            if let name { patch["name"] = .string(try DisplayName(name).text) }
            if !corsOrigins.isEmpty || removesOrigins {
                patch["corsOrigins"] = .array(corsOrigins.map { .string($0.text) })
            }
            let tenant = try await tenant.withAPI { [patch] in try await $0.changeTenant(patch) }
            output.print(tenant.json, line: "Updated tenant \(tenant.slug)")
        }
    }

    struct Limit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "limit",
            abstract: "Change a tenant's limits.",
            discussion: """
                Limits that you do not name stay as they are. A limit is requests per second and a burst, such as 50:200 \
                (without a burst: four times the rate), or 'off' for no limit. --reset returns all limits to the servers' \
                defaults ('doorstep settings'), and all quotas to the default quotas; limits that you name as well are then set.

                --quota limits the rows and bytes that a tenant may store of a kind: \
                \(QuotaKind.allCases.map(\.rawValue).joined(separator: ", ")) (all kinds of the \
                catalogue together). Instances and deliveries count as rows only. Name rows, rows:bytes or :bytes, \
                such as locations=5000, images=20000:20GiB or total=:50GiB; 'off' removes a limit, and 'default' returns the kind to \
                the default. A tenant above its quota keeps its rows, and can delete and shorten them. --defaults changes the \
                quotas of all tenants that have none of their own, or lists them.

                Each server counts by itself: behind a balancer that spreads requests evenly over N servers, a tenant gets \
                about N times the limit.

                Example: doorstep tenant limit donut-shop --key 100:400 --quota locations=5000
                """)

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Argument(help: "Slug of the tenant.") var slug: TenantSlug?
        @Option(
            name: .customLong("quota"),
            help: ArgumentHelp(
                "A quota, such as locations=5000:64MiB. Can be repeated.",
                valueName: "kind=rows[:bytes]|off|default"))
        var quotas: [QuotaSetting] = []
        @Flag(
            name: .customLong("defaults"), help: "Change or list the default quotas, not those of a tenant.")
        var changesDefaults = false
        @Option(help: ArgumentHelp("Requests per second with one key.", valueName: Self.value))
        var key: RateLimit?
        @Option(
            help: ArgumentHelp(
                "Requests per second from one client address with publishable keys.", valueName: Self.value))
        var client: RateLimit?
        @Option(
            name: .customLong("new-instances"),
            help: ArgumentHelp("New instances per second.", valueName: Self.value))
        var newInstances: RateLimit?
        @Option(
            name: .customLong("client-new-instances"),
            help: ArgumentHelp(
                "New instances per second from one client address with publishable keys.",
                valueName: Self.value))
        var clientNewInstances: RateLimit?
        @Flag(help: "Return all limits to the servers' defaults first.") var reset = false

        private static let value = "rate[:burst]|off"

        private var named: RequestLimits {
            RequestLimits(
                key: key, client: client, newInstances: newInstances, clientNewInstances: clientNewInstances)
        }

        func validate() throws {
            guard !changesDefaults else {
                guard slug == nil, !reset, named == RequestLimits(), quotas.allSatisfy({ $0.quota != nil })
                else {
                    throw ValidationError("--defaults takes --quota with rows or bytes, and nothing else")
                }
                return
            }
            guard slug != nil else { throw ValidationError("name a tenant, or --defaults") }
            guard reset || named != RequestLimits() || !quotas.isEmpty else {
                throw ValidationError("name a limit or a quota to change, or --reset")
            }
        }

        func run() async throws {
            guard let slug else { return try await runOnDefaults() }
            let (named, reset, settings) = (named, reset, quotas)
            let tenant = try await database.withStore { store in
                if reset || !settings.isEmpty {
                    let tenant = try await store.changeQuotas(of: slug) { quotas in
                        if reset { quotas = [:] }
                        for setting in settings {
                            quotas[setting.kind] = setting.quota.map {
                                $0.merging(quotas[setting.kind] ?? Quota())
                            }
                        }
                    }
                    guard reset || named != RequestLimits() else { return tenant }
                }
                return try await store.changeLimits(of: slug) { limits in
                    if reset { limits = RequestLimits() }
                    limits.key = named.key ?? limits.key
                    limits.client = named.client ?? limits.client
                    limits.newInstances = named.newInstances ?? limits.newInstances
                    limits.clientNewInstances = named.clientNewInstances ?? limits.clientNewInstances
                }
            }
            let limits = tenant.limits
            let texts =
                [
                    ("key", limits.key), ("client", limits.client), ("new instances", limits.newInstances),
                    ("new instances of a client", limits.clientNewInstances),
                ].map { name, limit in "\(name) \(limit?.description ?? "default")" }
                + tenant.ownQuotas.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                    "quota of \($0.key.rawValue) \($0.value)"
                }
            output.print(tenant.json, line: "Limits of \(slug): \(texts.joined(separator: ", "))")
        }
    }

    fileprivate static func quotaRow(_ kind: QuotaKind, _ quota: Quota) -> JSONObject {
        [
            "quota": .string(kind.rawValue), "rows": quota.rows.map { JSONValue($0) } ?? "off",
            "bytes": quota.bytes.map { JSONValue($0) } ?? "off",
        ]
    }

    struct Collapse: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "collapse",
            abstract:
                "Set the default collapse ID of notifications.",
            discussion: """
                Applies to notifications without a collapse ID of their own that are sent from now on.

                Example: doorstep tenant collapse donut-shop --by business
                """)

        @OptionGroup var tenant: TenantArgument
        @OptionGroup var output: OutputOptions
        @Option(help: "none; business: one for each location; url: one for each URL.")
        var by: CollapsePolicy

        func run() async throws {
            let slug = try await tenant.withAPI {
                try await $0.changeTenant(["collapsePolicy": .string(by.rawValue)]).slug
            }
            output.print(
                ["slug": .string(slug.text), "collapse": .string(by.rawValue)],
                line: "Notifications of \(slug) collapse by: \(by.rawValue)")
        }
    }

    struct Suspend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "suspend",
            abstract: "Suspend a tenant: refuse its keys, delete nothing.",
            discussion: "Example: doorstep tenant suspend donut-shop")

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Argument(help: "Slug of the tenant.") var slug: TenantSlug

        func run() async throws {
            let tenant = try await database.setSuspended(true, slug)
            output.print(tenant.json, line: "Suspended tenant \(slug)")
        }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume",
            abstract: "Resume a suspended tenant.",
            discussion: "Example: doorstep tenant resume donut-shop")

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var databaseOnly: DatabaseOnly
        @OptionGroup var output: OutputOptions
        @Argument(help: "Slug of the tenant.") var slug: TenantSlug

        func run() async throws {
            let tenant = try await database.setSuspended(false, slug)
            output.print(tenant.json, line: "Resumed tenant \(slug)")
        }
    }
}

extension TenantCommand.Limit {
    fileprivate func runOnDefaults() async throws {
        let settings = quotas
        let defaults = try await database.withStore { store in
            guard !settings.isEmpty else { return try await store.defaultQuotas() }
            return try await store.changeDefaultQuotas(
                settings.reduce(into: [:]) { quotas, setting in
                    quotas[setting.kind] = setting.quota?.merging(quotas[setting.kind] ?? Quota())
                })
        }
        output.print(
            defaults.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                TenantCommand.quotaRow($0.key, $0.value)
            },
            columns: ["quota", "rows", "bytes"])
    }
}

extension Tenant {
    /// The tenant's usage of each quota.
    fileprivate var quotaRows: [JSONObject] {
        func text(_ used: Int, _ limit: Int?) -> JSONValue {
            .string("\(used) of \(limit.flatMap { $0 < Quota.off ? "\($0)" : nil } ?? "any number")")
        }
        return usage.sorted { $0.key.rawValue < $1.key.rawValue }.map { kind, usage in
            [
                "quota": .string(kind.rawValue), "rows": text(usage.rows, usage.limit.rows),
                "bytes": text(usage.bytes, usage.limit.bytes),
            ]
        }
    }
}

extension DatabaseOptions {
    /// Runs the closure with the store, for commands that concern no existing tenant, or a whole tenant.
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
